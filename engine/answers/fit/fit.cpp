#include "engine/answers/fit/fit.h"

#include <fmt/core.h>

#include "engine/answers/stacks/who.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::Fit;
using analysis::FitQuestion;
using analysis::FitRepeat;
using analysis::FitTerm;
using analysis::Foretold;
using analysis::ForetoldFailure;
using analysis::Guessed;
using analysis::LargestThatFits;
using analysis::SizeFunction;

namespace {

constexpr size_t kMostUnexplained = 100;

[[nodiscard]] std::string monomial_text(const FitQuestion& question, const analysis::Monomial& monomial) {
  std::string text;
  for (size_t i = 0; i < question.parameters.size(); ++i) {
    if (monomial[i] == 0) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "*", question.parameters[i]);
    if (monomial[i] > 1) text += fmt::format("^{}", monomial[i]);
  }
  return text.empty() ? "1" : text;
}

void describe_values(Members& m, const FitQuestion& question, const analysis::Point& at) {
  struct Named {
    std::string_view name;
    int64_t value;
  };
  m.by_name(
      As::count, "values",
      [&] {
        std::vector<Named> all;
        for (size_t i = 0; i < question.parameters.size(); ++i)
          all.push_back({question.parameters[i], at[i]});
        return all;
      },
      [](const Named& one) { return one.name; }, [](const Named& one) { return one.value; });
}

void describe_failure(Members& m, const FitQuestion& question, const Fit& fit,
                      const std::optional<ForetoldFailure>& failure, Name name) {
  m.object(name, failure && failure->request >= 0 ? &*failure : nullptr, [&](const ForetoldFailure& of) {
    m.bytes("requested_bytes", of.bytes);
    m.text({"who", "The line of code that asks for it; null without a stack."},
           [&] { return who_of_request(question, fit, of.request); });
  });
}

void describe_largest(Members& m, const FitQuestion& question, const Fit& fit, const LargestThatFits& of) {
  m.text("conf", of.conf);
  m.count({"value", "Null: not even 1 fits, or there is no end to it."},
          [&] { return of.unbounded ? std::nullopt : of.value; });
  m.flag({"unbounded", "Nothing that grows with the parameter fills the device."}, of.unbounded);
  m.flag({"at_least", "`value` fits; larger ones make too many requests to be run, and may fit, too."},
         of.at_least);
  m.count(
      {"step", "Only each so-manieth value gives whole numbers of repeats: of the others nothing is told."},
      of.step);
  m.count({"at_most", "If what is not explained is as small as it may be. Null: the same, or no end."},
          [&] { return of.at_most == INT64_MAX ? std::nullopt : of.at_most; });
  describe_failure(m, question, fit, of.next_failure,
                   {"next_failure", "What does not fit of the next value."});
}

void describe_peaks(Members& m, Name name, const analysis::ForetoldPeaks& peaks) {
  m.object(name, [&] {
    m.is("ForetoldPeaks");
    m.bytes("requested_peak_bytes", peaks.requested);
    m.bytes("reserved_peak_bytes", peaks.reserved);
    m.bytes("allocated_peak_bytes", peaks.allocated);
  });
}

[[nodiscard]] std::vector<FitTerm> unexplained_of(const Fit& fit) {
  std::vector<FitTerm> found;
  std::vector<uint8_t> is_seen(fit.functions.size());
  for (int32_t request = 0; request < fit.matched.count() && found.size() < kMostUnexplained; ++request) {
    const auto function = static_cast<size_t>(fit.function_of[request]);
    if (fit.functions[function].kind != SizeFunction::Kind::unexplained || is_seen[function] != 0) continue;
    is_seen[function] = 1;
    FitTerm term;
    term.request = request;
    found.push_back(term);
  }
  return found;
}

}  // namespace

std::optional<std::string> who_of_request(const FitQuestion& question, const Fit& fit, int32_t request) {
  const StackId stack = fit.matched.stack[request];
  if (stack.is_none()) return std::nullopt;
  const model::Recording& recording =
      question.recordings[fit.matched.source[request]].rehearsal->device.recording;
  return who_or_none(recording, analysis::who_of(recording, stack));
}

std::string growth_text(const FitQuestion& question, const Fit& fit, const FitTerm& term) {
  if (term.kind == SizeFunction::Kind::unexplained) return "not explained";
  std::string text;
  for (uint8_t i = 0; i < term.monomials; ++i)
    text +=
        fmt::format("{}{}", i == 0 ? "" : " + ", monomial_text(question, fit.monomials[term.monomial[i]]));
  if (term.by_turn) return text == "1" ? "with each turn" : text + ", with each turn";
  if (text == "1") return "constant";
  if (term.may_stay) return text + " or constant";
  return term.kind == SizeFunction::Kind::rounded ? text + ", rounded" : text;
}

std::string times_text(const FitQuestion& question, const Fit& fit, const FitRepeat& repeat) {
  std::string text;
  const SizeFunction& function = repeat.function;
  for (uint8_t i = 0; i < function.terms; ++i) {
    const int64_t factor = function.numerator[i];
    const std::string monomial = monomial_text(question, fit.monomials[function.monomial[i]]);
    const std::string number = count_text(factor < 0 ? -factor : factor);
    text += i == 0 ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ";
    if (monomial == "1" || number != "1") text += number;
    if (monomial != "1" && number != "1") text += '*';
    if (monomial != "1") text += monomial;
  }
  if (function.denominator == 1) return text;
  return fmt::format("{}/{}", function.terms > 1 ? "(" + text + ")" : text, count_text(function.denominator));
}

void describe(Members& m, const FitLine& line) {
  const FitQuestion& question = m.of(line.question);
  const Fit& fit = m.of(line.fit);
  m.is({"Fit", "What fits: memory foretold from recordings with other parameters."});
  m.line("fit --json");
  m.text({"answer", "What fits, in sentences; empty without a capacity."},
         [&] { return fit_answer(question, fit); });
  m.text({"sure", "What the answer rests on, in sentences."}, [&] { return fit_sureness(question, fit); });
  m.text({"parameter", "The one of which the largest value is looked for."},
         [&] { return std::string_view(question.parameters.front()); });
  m.texts("parameters", [&] { return question.parameters; });
  m.text("conf", fit.conf);
  m.bytes({"capacity", "Null: none was given."},
          [&] { return fit.capacity > 0 ? std::optional(fit.capacity) : std::nullopt; });
  m.count(
      {"largest",
       "The largest value of the parameter that fits the capacity. Null: none does, none is too large, or no "
       "capacity was given; `largest_that_fits` says which."},
      [&] { return fit.largest && !fit.largest->unbounded ? fit.largest->value : std::nullopt; });
  const auto largest = [&](Name name, const std::optional<LargestThatFits>& one) {
    m.object(name, one, [&](const LargestThatFits& of) {
      m.is("LargestThatFits");
      describe_largest(m, question, fit, of);
    });
  };
  largest({"largest_that_fits", "Null without a capacity."}, fit.largest);
  largest({"largest_expandable",
           "The same with expandable segments. Null: they are in the settings, or nothing is looked for."},
          fit.largest_expandable);
  m.object({"largest_values", "Of which all but the first are those of the largest one."},
           [&] { describe_values(m, question, fit.fixed); });
  m.list({"at", "Foretold, in the order they were asked for."}, fit.at, [&](const Foretold& one) {
    m.is("Foretold");
    m.count({"value", "Of the parameter."}, one.at[0]);
    describe_values(m, question, one.at);
    m.values(
        As::count, {"times", "How often each of `repeats` is done."}, [&] { return one.times; },
        [](int64_t times) { return times; });
    m.bytes("requested_peak_bytes", one.peaks.requested);
    m.bytes("reserved_peak_bytes", one.peaks.reserved);
    m.bytes("allocated_peak_bytes", one.peaks.allocated);
    describe_peaks(m, {"low", "With sizes that are not explained as small as they may be."}, one.low);
    describe_peaks(m, {"high", "The same, as large."}, one.high);
    m.flag({"fits", "Null: no capacity was given, or it depends on sizes that are not explained."}, one.fits);
    describe_failure(m, question, fit, one.failure,
                     {"first_failure", "The first request that does not fit."});
  });
  m.object({"terms_at", "Where the terms are told."}, [&] { describe_values(m, question, fit.terms_at); });
  m.bytes({"terms_bytes", "The peak requested there."}, fit.terms_bytes);
  m.list({"terms", "What that peak is made of, by line of code and growth: most bytes first."}, fit.terms,
         [&](const FitTerm& term) {
           m.is("FitTerm");
           m.text({"grows",
                   "\"batch*seq^2\", \"constant\", \"1 + batch\", \"batch, rounded\", \"not explained\"."},
                  [&] { return growth_text(question, fit, term); });
           m.text("who", [&] { return who_of_request(question, fit, term.request); });
           m.bytes("bytes", term.bytes);
           m.count("blocks", term.blocks);
           m.share("share", [&] {
             return fit.terms_bytes > 0
                        ? static_cast<double>(term.bytes) / static_cast<double>(fit.terms_bytes)
                        : 0.0;
           });
         });
  m.list({"repeats", "What the program does as often as the parameters say, in its order."}, fit.repeats,
         [&](const FitRepeat& one) {
           m.is("FitRepeat");
           m.text({"who", "The line of code that asks for the first block of a turn; null without a stack."},
                  [&] { return who_of_request(question, fit, one.request); });
           m.count({"requests", "In a turn."}, one.requests);
           m.values(
               As::count, {"times", "By recording: turns that are alike."}, [&] { return one.times; },
               [](int64_t times) { return times; });
           m.text({"grows", "How the number of turns does, as in `terms`."},
                  [&] { return times_text(question, fit, one); });
           m.flag({"confirmed", "By a recording more than it takes, three at least."}, one.confirmed);
         });
  m.object(
      {"guessed", "What is told from one recording, by what blocks are for; null: it is told from several."},
      fit.guessed, [&](const Guessed& guessed) {
        m.is("Guessed");
        m.count({"recorded", "The parameter in it."}, guessed.recorded);
        m.count({"grow", "Requests that are assumed to grow with it."}, guessed.grow);
        m.count({"stay", "That are assumed not to."}, guessed.stay);
        m.count({"unknown", "Of which it is not known."}, guessed.unknown);
      });
  m.flag({"complete",
          "False: the recording has no allocation after a request that failed, or ends in a journal that its "
          "program did not end, and peaks are lower bounds."},
         fit.complete);
  m.flag({"exact", "Every size has fewer terms than there are recordings, and nothing else was assumed."},
         fit.exact);
  m.object({"requests", "By how their sizes are known."}, [&] {
    m.count({"confirmed", "A function with fewer terms than there are recordings gives all of them."},
            fit.confirmed);
    m.count({"assumed", "The simplest function through the recordings: others would go through them, too."},
            fit.assumed);
    m.count("unexplained", fit.unexplained);
    m.count({"unmatched", "That some recordings do not have."}, [&] { return fit.matched.unmatched; });
    m.count(
        {"freed_differently", "Whose blocks are not freed between the same requests; counted to the latest."},
        [&] { return fit.matched.freed_differently; });
    m.count({"without_stack", "Matched by their order alone, as those of autograd\'s threads are."},
            [&] { return fit.matched.without_stack; });
    m.count(
        {"before",
         "For what was there before the first event of a recording: asked for first, in an order that is not known."},
        [&] { return fit.matched.before; });
    m.count({"left_out", "Of longer recordings, after the last request of the shortest."},
            [&] { return fit.matched.left_out; });
  });
  m.list(
      {"unexplained", "Sizes that no function gives, at most 100."}, [&] { return unexplained_of(fit); },
      [&](const FitTerm& term) {
        m.text("who", [&] { return who_of_request(question, fit, term.request); });
        m.values(
            As::bytes, {"recorded_bytes", "By recording; 0 = it does not ask for it."},
            [&] {
              const auto sizes = fit.matched.sizes_of(term.request);
              return std::vector<int64_t>(sizes.begin(), sizes.end());
            },
            [](int64_t bytes) { return bytes; });
      });
  m.list({"recordings", "What was fitted."}, question.recordings, [&](const analysis::FittedRecording& one) {
    const auto r = m.is_schema() ? 0 : static_cast<size_t>(&one - question.recordings.data());
    m.text("file", [&] { return std::string_view(line.files[r]); });
    describe_values(m, question, one.at);
    m.bytes({"requested_peak_bytes", "Of the requests that are matched."},
            [&] { return fit.recorded_peaks[r]; });
    m.bytes("reserved_peak_bytes", [&] { return one.rehearsal->recorded.peak_reserved; });
    m.flag({"exact", "Its requests, run again, repeat it in every event."},
           [&] { return one.rehearsal->fidelity.is_exact(); });
    m.bytes({"foretold_peak_bytes", "Peak requested, foretold from the other recordings; null of too few."},
            [&] {
              return r < fit.left_out.size() && fit.left_out[r].foretold >= 0
                         ? std::optional(fit.left_out[r].foretold)
                         : std::nullopt;
            });
  });
}

}  // namespace gpustrata::answers
