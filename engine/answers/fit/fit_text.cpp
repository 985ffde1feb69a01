// What fits, in sentences and tables.
#include <fmt/core.h>

#include <algorithm>

#include "engine/answers/fit/fit.h"
#include "engine/answers/text/percent.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::Fit;
using analysis::FitQuestion;
using analysis::FitRepeat;
using analysis::FitTerm;
using analysis::Foretold;
using analysis::LargestThatFits;

namespace {

constexpr size_t kFitColumns = 80;
constexpr size_t kMostTermLines = 12;

// Words in lines of at most kFitColumns.
[[nodiscard]] std::string in_lines(std::string_view text, size_t indent) {
  std::string lines;
  size_t column = 0;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    if (column > 0 && column + 1 + space > kFitColumns) {
      lines += '\n';
      column = 0;
    }
    if (column == 0) {
      lines.append(indent, ' ');
      column = indent;
    } else {
      lines += ' ';
      ++column;
    }
    lines += text.substr(0, space);
    column += space;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return lines + "\n";
}

[[nodiscard]] std::string others_text(const FitQuestion& question, const analysis::Point& at) {
  std::string text;
  for (size_t i = 1; i < question.parameters.size(); ++i)
    text += fmt::format("{}{}={}", i == 1 ? "" : ", ", question.parameters[i], at[i]);
  return text;
}
[[nodiscard]] std::string point_text(const FitQuestion& question, const analysis::Point& at) {
  const std::string others = others_text(question, at);
  return fmt::format("{}={}{}{}", question.parameters[0], at[0], others.empty() ? "" : ", ", others);
}

[[nodiscard]] std::string largest_text(const LargestThatFits& of) {
  if (of.unbounded) return "any";
  return of.value ? (of.at_least ? "at least " : "") + count_text(*of.value) : "none";
}

[[nodiscard]] std::string fits_text(const Fit& fit, const Foretold& one) {
  if (fit.capacity <= 0) return "";
  return !one.fits ? "not known" : *one.fits ? "yes" : "no";
}

[[nodiscard]] std::string curve_text(const FitQuestion& question, const Fit& fit) {
  size_t width = 8;
  for (const Foretold& one : fit.at) width = std::max(width, point_text(question, one.at).size());
  for (const auto& one : question.recordings) width = std::max(width, point_text(question, one.at).size());
  width = std::min<size_t>(width, 30);
  std::string text = fmt::format("  {:<{}}{:>16}{:>16}   {}\n", "", width,
                                 fit.complete ? "peak requested" : "requested from",
                                 fit.complete ? "peak reserved" : "reserved from",
                                 fit.capacity > 0 ? "fits " + size_text(fit.capacity) : "");
  for (size_t r = 0; r < question.recordings.size(); ++r) {
    const auto& one = question.recordings[r];
    text += fmt::format("  {:<{}}{:>16}{:>16}   recorded\n", point_text(question, one.at), width,
                        size_text(fit.recorded_peaks[r]), size_text(one.rehearsal->recorded.peak_reserved));
  }
  for (const Foretold& one : fit.at) {
    text += fmt::format("  {:<{}}{:>16}{:>16}   {}\n", point_text(question, one.at), width,
                        size_text(one.peaks.requested), size_text(one.peaks.reserved), fits_text(fit, one));
    const auto [least, most] = std::minmax(one.low.reserved, one.high.reserved);
    if (one.low.requested != one.high.requested || least != most)
      text +=
          in_lines(fmt::format("requested {} to {}, reserved {} to {}: some sizes {}",
                               size_text(one.low.requested), size_text(one.high.requested), size_text(least),
                               size_text(most), fit.guessed ? "may grow or not" : "are not explained"),
                   4);
    if (one.failure && one.failure->request >= 0) {
      const auto who = who_of_request(question, fit, one.failure->request);
      text += in_lines(fmt::format("{} requested by {} cannot be allocated", size_text(one.failure->bytes),
                                   who.value_or("code without a stack")),
                       4);
    }
  }
  return text;
}

[[nodiscard]] std::string terms_text(const FitQuestion& question, const Fit& fit) {
  std::string text =
      fmt::format("What the peak at {} is made of, and how it grows\n", point_text(question, fit.terms_at));
  int64_t rest = 0, rest_terms = 0;
  for (size_t i = 0; i < fit.terms.size(); ++i) {
    const FitTerm& term = fit.terms[i];
    if (i >= kMostTermLines) {
      rest += term.bytes;
      ++rest_terms;
      continue;
    }
    text += fmt::format("  {:>10} {:>6}  {:<18} {}\n", size_text(term.bytes),
                        percent_text(term.bytes, fit.terms_bytes), growth_text(question, fit, term),
                        who_of_request(question, fit, term.request).value_or("code without a stack"));
  }
  if (rest_terms > 0)
    text += fmt::format("  {:>10} {:>6}  {} more\n", size_text(rest), percent_text(rest, fit.terms_bytes),
                        count_text(rest_terms));
  return text;
}

// Repeats that are alike, as those of each step are, are one line.
[[nodiscard]] std::string repeats_text(const FitQuestion& question, const Fit& fit) {
  struct Line {
    std::string text;
    int64_t repeats = 0;
  };
  std::vector<Line> lines;
  for (const FitRepeat& one : fit.repeats) {
    std::string recorded;
    for (const int64_t times : one.times)
      recorded += fmt::format("{}{}", recorded.empty() ? "" : ", ", count_text(times));
    std::string text =
        fmt::format("{}, from {} on: {} times ({} in the recordings)", counted(one.requests, "request"),
                    who_of_request(question, fit, one.request).value_or("code without a stack"),
                    times_text(question, fit, one), recorded);
    const auto known =
        std::find_if(lines.begin(), lines.end(), [&](const Line& line) { return line.text == text; });
    if (known == lines.end()) {
      lines.push_back({std::move(text), 1});
    } else {
      ++known->repeats;
    }
  }
  std::string text = "What is repeated, and how often\n";
  for (size_t i = 0; i < lines.size() && i < kMostTermLines; ++i)
    text += in_lines(lines[i].repeats > 1 ? fmt::format("{}, in {} places of the run", lines[i].text,
                                                        count_text(lines[i].repeats))
                                          : lines[i].text,
                     2);
  if (lines.size() > kMostTermLines)
    text += fmt::format("  {} more\n", count_text(static_cast<int64_t>(lines.size() - kMostTermLines)));
  return text + "\n";
}

[[nodiscard]] std::string guess_text(const FitQuestion& question, const Fit& fit,
                                     const analysis::Guessed& guessed) {
  const std::string& parameter = question.parameters[0];
  std::string text = fmt::format(
      "This is a guess from one recording. {} for activations, inputs and temporary memory with sizes that divide by {} {} "
      "assumed to grow with {}; {} for parameters, gradients, the optimizer's state and whatever does not divide {} assumed "
      "to stay.",
      counted(guessed.grow, "request"), count_text(guessed.recorded), guessed.grow == 1 ? "is" : "are",
      parameter, counted(guessed.stay, "request"), guessed.stay == 1 ? "is" : "are");
  if (guessed.unknown > 0)
    text += fmt::format(" Of {} it is unknown: they may grow or not, and both are foretold.",
                        counted(guessed.unknown, "request"));
  if (!fit.complete) {
    const analysis::Ending& ending = question.recordings.front().rehearsal->ending;
    text += fmt::format(
        " {}. What came after may not be in it: every peak is a lower bound, and what is not said to fail may fail.",
        ending.at_failure() ? "The recording has no allocation after a request that failed"
                            : "The recording ends where the program was killed, or still ran");
  }
  return text + fmt::format(" A second recording with another {} takes the place of the guess.", parameter);
}

[[nodiscard]] std::string how_sure(const FitQuestion& question, const Fit& fit) {
  std::string lines = "How sure\n" + in_lines(fit_sureness(question, fit), 2);
  if (fit.guessed) return lines;
  if (fit.left_out.empty()) {
    lines += in_lines("No recording is left to check this with; one more would do.", 2);
    return lines;
  }
  lines += "  Each recording foretold from the others, peak requested:\n";
  const auto add = [&](const analysis::LeftOut& one, std::string_view how) {
    lines += fmt::format("    {}: {}\n", question.recordings[one.recording].name, how);
  };
  for (const analysis::LeftOut& one : fit.left_out) {
    if (one.foretold < 0) {
      add(one, "cannot be told");
      continue;
    }
    const int64_t by =
        one.foretold > one.recorded ? one.foretold - one.recorded : one.recorded - one.foretold;
    add(one, by == 0 ? "to the byte"
                     : fmt::format("{} {} ({})", size_text(by),
                                   one.foretold > one.recorded ? "too much" : "too little",
                                   percent_text(by, one.recorded)));
  }
  return lines;
}

}  // namespace

std::string fit_answer(const FitQuestion& question, const Fit& fit) {
  if (!fit.largest) return "";
  const LargestThatFits& of = *fit.largest;
  const std::string& parameter = question.parameters[0];
  const std::string device = size_text(fit.capacity);
  const std::string others = others_text(question, fit.fixed);
  std::string expandable;
  if (fit.largest_expandable)
    expandable = fmt::format(" ({} with expandable_segments:True)", largest_text(*fit.largest_expandable));
  std::string text;
  if (of.unbounded) {
    text = fmt::format("No {} is too large for {}: the peak does not grow with it", parameter, device);
  } else if (of.value && !fit.complete) {
    text = fmt::format(
        "No {} above {} fits {}{}, and what {} needs in the whole run is unknown: the recording ends before the run did",
        parameter, count_text(*of.value), device, expandable, count_text(*of.value));
  } else if (of.value && of.at_least) {
    text = fmt::format("{} {} fits {}{}; larger ones make too many requests to be tried", parameter,
                       count_text(*of.value), device, expandable);
  } else if (of.value) {
    // Not the largest for sure: how memory is cut up differs from one value to the next.
    text = fmt::format("{} {} fits {}{}, and {} does not", parameter, count_text(*of.value), device,
                       expandable, count_text(of.smallest_too_large));
  } else {
    text = fmt::format("Not even {} {} fits {}{}{}", parameter, count_text(of.smallest_too_large), device,
                       expandable,
                       of.smallest_too_large > of.step ? ", and what smaller ones need cannot be told" : "");
  }
  if (!others.empty()) text += fmt::format(", at {}", others);
  text += '.';
  const bool guesses_repeats = std::any_of(fit.repeats.begin(), fit.repeats.end(),
                                           [](const FitRepeat& one) { return !one.confirmed; });
  if (fit.guessed) text += " This is a guess from one recording.";
  if (guesses_repeats) text += " How often parts of the run are repeated is a guess.";
  if (of.step > 1)
    text +=
        fmt::format(" Only values {} apart were tried: those between do not give whole numbers of repeats.",
                    count_text(of.step));
  const std::string_view unknown = fit.guessed ? "sizes that may grow or not" : "unexplained sizes";
  if (of.at_most == INT64_MAX)
    text += fmt::format(
        " That assumes {} to be as large as possible; if they are as small as possible, no end was found.",
        unknown);
  else if (of.at_most && *of.at_most > 0)
    text +=
        fmt::format(" That assumes {} to be as large as possible; if they are as small as possible, {} {}.",
                    unknown, count_text(*of.at_most), fit.complete ? "fits" : "may fit");
  if (!of.unbounded && question.recordings.back().rehearsal->addresses_decide())
    text += " The addresses that the device gives may change that.";
  if (of.next_failure && of.next_failure->request >= 0) {
    const auto who = who_of_request(question, fit, of.next_failure->request);
    text += fmt::format(" At {}, {} requested by {} cannot be allocated.", count_text(of.smallest_too_large),
                        size_text(of.next_failure->bytes), who.value_or("code without a stack"));
  }
  return text;
}

std::string fit_sureness(const FitQuestion& question, const Fit& fit) {
  if (fit.guessed) return guess_text(question, fit, *fit.guessed);
  const int64_t all = fit.matched.count();
  std::string text;
  if (fit.exact)
    text = fmt::format(
        "All {} requests are matched, and every size is a function with fewer terms than there are recordings.",
        count_text(all));
  else
    text = fmt::format(
        "Of {} requests, {} have a size that is a function with fewer terms than there are recordings.",
        count_text(all), count_text(fit.confirmed));
  if (fit.assumed > 0)
    text += fmt::format(
        " The sizes of {} are assumed: the simplest function through the recordings, which one more recording would "
        "check.",
        counted(fit.assumed, "request"));
  if (fit.unexplained > 0)
    text += fmt::format(
        " The sizes of {} are not explained: at best they do not grow, at worst they grow with the highest power.",
        counted(fit.unexplained, "request"));
  const auto assumed_repeats = std::count_if(fit.repeats.begin(), fit.repeats.end(),
                                             [](const FitRepeat& one) { return !one.confirmed; });
  if (assumed_repeats > 0)
    text += fmt::format(
        " How often {} repeated is a guess: the simplest function through the recordings, which one more recording would "
        "check.",
        assumed_repeats == 1 ? "a part of the run is"
                             : fmt::format("{} parts of the run are", count_text(assumed_repeats)));
  if (fit.matched.unmatched > 0)
    text += fmt::format(" {} in some recordings only.",
                        fit.matched.unmatched == 1
                            ? "One of them is"
                            : fmt::format("{} of them are", count_text(fit.matched.unmatched)));
  if (fit.matched.without_stack == all)
    text += " There are no stacks: requests are matched by their order alone.";
  if (fit.matched.freed_differently > 0)
    text += fmt::format(" {} not freed between the same requests in all recordings; the latest is assumed.",
                        fit.matched.freed_differently == 1
                            ? "One block is"
                            : fmt::format("{} blocks are", count_text(fit.matched.freed_differently)));
  for (size_t r = 0; r < fit.repeated_peaks.size(); ++r) {
    if (fit.repeated_peaks[r] == fit.recorded_peaks[r]) continue;
    text += fmt::format(" {} itself would be foretold as {}, and it needed {}.", question.recordings[r].name,
                        size_text(fit.repeated_peaks[r]), size_text(fit.recorded_peaks[r]));
  }
  if (fit.matched.left_out > 0)
    text += fmt::format(" {} of the longer recordings came after the shortest one ends, and are left out.",
                        counted(fit.matched.left_out, "request"));
  if (fit.matched.waits_in_turns)
    text +=
        " Some blocks of what is repeated wait for another stream before they are free. When that is depends on the run, "
        "so both peaks may differ.";
  if (fit.matched.flushed_at_times > 0)
    text +=
        " The cache is flushed in some turns of what is repeated; all turns are assumed to flush it, so peak reserved "
        "may differ.";
  if (fit.matched.before > 0)
    text += fmt::format(
        " {} before the first event of a recording: in which order is not in it, so peak reserved may differ.",
        fit.matched.before == 1 ? "One block was there"
                                : fmt::format("{} blocks were there", count_text(fit.matched.before)));
  const bool all_repeat = std::all_of(question.recordings.begin(), question.recordings.end(),
                                      [](const auto& one) { return one.rehearsal->fidelity.is_exact(); });
  if (!all_repeat)
    text +=
        " Not every recording repeats exactly when its own requests are run again: peak reserved may differ.";
  if (question.recordings.back().rehearsal->addresses_decide())
    text +=
        " This version of PyTorch takes the free block at the lowest address where several are equal, and another run "
        "gets other addresses from the device: peak reserved may differ, and with it what fits. Peak requested does "
        "not depend on addresses.";
  return text;
}

std::string to_text(const FitQuestion& question, const Fit& fit) {
  const std::string answer = fit_answer(question, fit);
  std::string text = answer.empty() ? "" : in_lines(answer, 0) + "\n";
  text += curve_text(question, fit) + "\n" + terms_text(question, fit) + "\n";
  if (!fit.repeats.empty()) text += repeats_text(question, fit);
  return text + how_sure(question, fit);
}

}  // namespace gpustrata::answers
