#include "engine/answers/what_if.h"

#include <fmt/core.h>

#include <cstdlib>

#include "engine/base/units.h"

namespace memstrata::answers {

using analysis::Rehearsal;
using analysis::RunNumbers;
using analysis::WhatIfAnswer;
using simulate::Guess;

namespace {

constexpr size_t kColumns = 80;

[[nodiscard]] std::string plural(int64_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count_text(count), count == 1 ? one : more);
}

void run_to_json(JsonWriter& json, const RunNumbers& run) {
  json.member("peak_reserved_bytes", run.peak_reserved);
  json.member("peak_allocated_bytes", run.peak_allocated);
  json.member("peak_active_bytes", run.peak_active);
  json.member("end_reserved_bytes", run.end_reserved);
  json.member("device_allocs", run.device_allocs);
  json.member("device_frees", run.device_frees);
  json.member("alloc_retries", run.alloc_retries);
  json.member("ooms", run.ooms);
  json.key("first_oom");
  if (run.ooms == 0) return json.null();
  json.begin_object();
  json.member("event", run.first_oom_event);
  json.member("requested_bytes", run.first_oom_bytes);
  json.end_object();
}

template <typename Visit>
void for_each_guess(const Rehearsal& rehearsal, Visit&& visit) {
  for (size_t i = 0; i < rehearsal.requests.guesses.size(); ++i) {
    if (const int64_t count = rehearsal.requests.guesses[i]; count > 0) visit(static_cast<Guess>(i), count);
  }
}

// Words of `text` in lines of at most kColumns, indented.
[[nodiscard]] std::string wrapped(std::string_view text, size_t indent) {
  std::string lines, line(indent, ' ');
  bool is_empty = true;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (!is_empty && line.size() + 1 + word.size() > kColumns) {
      lines += line + "\n";
      line.assign(indent, ' ');
      is_empty = true;
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
    text = space == std::string_view::npos ? "" : text.substr(space + 1);
  }
  return lines + line + "\n";
}

[[nodiscard]] std::string conf_name(std::string_view conf) {
  return conf.empty() ? "no settings" : std::string(conf);
}

// Settings at the end of a line that has `column` characters: further lines after commas, where there are too many.
[[nodiscard]] std::string conf_column(std::string_view conf, size_t column) {
  std::string text, line;
  for (std::string_view rest = conf.empty() ? "no settings" : conf; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string_view key = rest.substr(0, comma == std::string_view::npos ? rest.size() : comma + 1);
    if (!line.empty() && column + line.size() + key.size() > kColumns) {
      text += line + "\n" + std::string(column, ' ');
      line.clear();
    }
    line += key;
    rest.remove_prefix(key.size());
  }
  return text + line;
}

[[nodiscard]] std::string share_text(int64_t part, int64_t whole) {
  if (whole <= 0) return {};
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return percent < 10 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

// "12 % less", "as much".
[[nodiscard]] std::string change_text(int64_t now, int64_t before) {
  if (now == before) return "the same";
  const int64_t by = now > before ? now - before : before - now;
  return fmt::format("{}{}", now > before ? "+" : "-",
                     share_text(by, before).empty() ? size_text(by) : share_text(by, before));
}

void add_row(std::string& text, std::string_view name, const std::string& recorded,
             const std::string& simulated, const std::string& change) {
  text += fmt::format("    {:<22}{:>14}{:>14}{}\n", name, recorded, simulated,
                      change.empty() ? "" : "   " + change);
}

[[nodiscard]] std::string table(const Rehearsal& rehearsal, const WhatIfAnswer& answer) {
  const RunNumbers &was = rehearsal.recorded, &is = answer.simulated;
  std::string text = fmt::format("    {:<22}{:>14}{:>14}\n", "", "recorded", "simulated");
  const auto bytes = [&](std::string_view name, int64_t before, int64_t now) {
    add_row(text, name, size_text(before), size_text(now), change_text(now, before));
  };
  const auto count = [&](std::string_view name, int64_t before, int64_t now) {
    add_row(text, name, count_text(before), count_text(now), "");
  };
  bytes("peak reserved", was.peak_reserved, is.peak_reserved);
  bytes("peak allocated", was.peak_allocated, is.peak_allocated);
  bytes("reserved at the end", was.end_reserved, is.end_reserved);
  count("device allocations", was.device_allocs, is.device_allocs);
  count("device frees", was.device_frees, is.device_frees);
  count("out of memory", was.ooms, is.ooms);
  if (is.ooms > 0)
    text += fmt::format("    first out of memory at event {}: {}\n", count_text(is.first_oom_event),
                        exact_size_text(is.first_oom_bytes));
  return text;
}

// What follows for who asked, and how far it can be believed.
[[nodiscard]] std::string recommendation(const Rehearsal& rehearsal, const WhatIfAnswer& answer) {
  const RunNumbers* best = &answer.simulated;
  std::string_view conf = answer.conf;
  if (!answer.search.empty()) {
    const auto key = [](const RunNumbers& of) { return std::pair(of.ooms, of.peak_reserved); };
    const WhatIfAnswer::Tried& first = answer.search.front();
    if (key(first.numbers) < key(*best)) {
      best = &first.numbers;
      conf = first.conf;
    }
  }
  const RunNumbers& was = rehearsal.recorded;
  const bool is_other = answer.is_other || best != &answer.simulated;
  std::string text;
  if (!is_other) {
    text = answer.search.empty() ? "Nothing was changed: this is the recorded run again."
                                 : "None of the settings tried needs less memory than the recorded run.";
  } else {
    const std::string with = best == &answer.simulated && answer.changed_blocks > 0
                                 ? fmt::format("With {} and {} changed", conf_name(conf),
                                               plural(answer.changed_blocks, "block", "blocks"))
                                 : fmt::format("With {}", conf_name(conf));
    if (was.ooms > 0 && best->ooms == 0) {
      text = fmt::format("{} the run would not have been out of memory; at most {} would have been reserved.",
                         with, size_text(best->peak_reserved));
    } else if (best->ooms > 0) {
      text =
          fmt::format("{} the run {}: event {} asks for {} that it cannot have.", with,
                      was.ooms > 0 ? "would still have been out of memory" : "would have been out of memory",
                      count_text(best->first_oom_event), size_text(best->first_oom_bytes));
    } else if (best->peak_reserved < was.peak_reserved) {
      text = fmt::format("{} at most {} would have been reserved, {} less than recorded.", with,
                         size_text(best->peak_reserved), size_text(was.peak_reserved - best->peak_reserved));
    } else {
      text = fmt::format("{} nothing is gained: at most {} would have been reserved, recorded are {}.", with,
                         size_text(best->peak_reserved), size_text(was.peak_reserved));
    }
  }
  if (answer.smallest_capacity)
    text += fmt::format(" It fits into {} for this allocator.", size_text(*answer.smallest_capacity));
  const int64_t error = rehearsal.fidelity.reserved_error_bytes;
  if (rehearsal.fidelity.is_exact()) {
    text +=
        " The model repeats the recording exactly; other settings can change what the program itself does.";
  } else {
    text += fmt::format(" Take it with an error of about {}: that far the model is from the recording.",
                        size_text(error));
  }
  return text;
}

}  // namespace

std::string guess_text(Guess guess, int64_t count) {
  const auto blocks = [&] { return plural(count, "block", "blocks"); };
  switch (guess) {
    case Guess::placed_blocks:
      return fmt::format("{} from before the recording, placed where the trace and the final state show them",
                         blocks());
    case Guess::unplaced_blocks:
      return fmt::format("{} from before the recording in no known segment: asked for at the start",
                         blocks());
    case Guess::other_streams:
      return fmt::format("{} that another stream still used when freed: which one is not recorded", blocks());
    case Guess::pools_by_address:
      return fmt::format("{} without a pool: that of the final segment at the address",
                         plural(count, "event", "events"));
    case Guess::pool_releases:
      return fmt::format("{} released where the last of its segments goes",
                         plural(count, "private pool", "private pools"));
    case Guess::emptied_caches:
      return fmt::format("{} of segments given back, taken for empty_cache()", plural(count, "run", "runs"));
    case Guess::device_limits:
      return fmt::format("{} of segments given back, taken for a full device", plural(count, "run", "runs"));
    case Guess::failed_sizes:
      return fmt::format("{} out of memory, known only rounded up", plural(count, "request", "requests"));
    case Guess::unknown_frees:
      return fmt::format("{} of a block that is not known to live: left out", plural(count, "free", "frees"));
    case Guess::reused_addresses:
      return fmt::format("{} handed out where one lived: that one is freed before", blocks());
    case Guess::kCount:
      break;
  }
  return {};
}

std::string fidelity_text(const Rehearsal& rehearsal) {
  const simulate::Fidelity& fidelity = rehearsal.fidelity;
  if (fidelity.is_exact())
    return fmt::format("repeats the recording exactly: {} at the same place",
                       plural(fidelity.requests, "allocation", "allocations"));
  std::string text = fmt::format("{} of {} at the same place", count_text(fidelity.same_place),
                                 plural(fidelity.requests, "allocation", "allocations"));
  if (fidelity.first_deviation >= 0)
    text += fmt::format(", differs from event {} on", count_text(fidelity.first_deviation));
  return text + fmt::format("; reserved memory by at most {}", size_text(fidelity.reserved_error_bytes));
}

void to_json(JsonWriter& json, const Rehearsal& rehearsal, const WhatIfAnswer& answer) {
  json.member("device", rehearsal.device.ordinal());
  json.member("conf", answer.conf);
  json.member("capacity", answer.capacity > 0 ? std::optional(answer.capacity) : std::nullopt);
  json.member("requests", rehearsal.request_count());
  json.key("guesses");
  json.begin_array();
  for_each_guess(rehearsal, [&](Guess guess, int64_t count) {
    json.begin_object();
    json.member("name", simulate::name_of(guess));
    json.member("count", count);
    json.member("text", guess_text(guess, count));
    json.end_object();
  });
  json.end_array();
  const simulate::Fidelity& fidelity = rehearsal.fidelity;
  json.key("fidelity");
  json.begin_object();
  json.member("requests", fidelity.requests);
  json.member("same_place", fidelity.same_place);
  json.member("reserved_error_bytes", fidelity.reserved_error_bytes);
  json.member("first_deviation",
              fidelity.first_deviation >= 0 ? std::optional(fidelity.first_deviation) : std::nullopt);
  json.end_object();
  const RunNumbers& was = rehearsal.recorded;
  json.key("recorded");
  json.begin_object();
  json.member("peak_reserved_bytes", was.peak_reserved);
  json.member("peak_allocated_bytes", was.peak_allocated);
  json.member("device_allocs", was.device_allocs);
  json.member("device_frees", was.device_frees);
  json.member("ooms", was.ooms);
  json.end_object();
  json.key("simulated");
  json.begin_object();
  run_to_json(json, answer.simulated);
  json.end_object();
  if (answer.changed_blocks > 0) json.member("changed_blocks", answer.changed_blocks);
  if (answer.smallest_capacity) json.member("smallest_capacity_bytes", *answer.smallest_capacity);
  if (answer.search.empty()) return;
  json.key("search");
  json.begin_array();
  for (const WhatIfAnswer::Tried& tried : answer.search) {
    json.begin_object();
    json.member("conf", tried.conf);
    run_to_json(json, tried.numbers);
    json.end_object();
  }
  json.end_array();
}

std::string what_if_json(std::string_view file, const Rehearsal& rehearsal, const WhatIfAnswer& answer) {
  JsonWriter json;
  json.begin_object();
  json.member("file", file);
  const std::string& snapshot = rehearsal.device.part.name;
  if (!snapshot.empty()) json.member("snapshot", snapshot);
  to_json(json, rehearsal, answer);
  json.end_object();
  return std::move(json).text() + "\n";
}

std::string to_text(const Rehearsal& rehearsal, const WhatIfAnswer& answer) {
  std::string text = wrapped(fmt::format("Device {}, {} run again", rehearsal.device.ordinal(),
                                         plural(rehearsal.request_count(), "request", "requests")),
                             2);
  text += wrapped(fmt::format("settings: {}; device: {}", conf_name(answer.conf),
                              answer.capacity > 0 ? exact_size_text(answer.capacity) : "with room for all"),
                  4);
  text += wrapped("as recorded: " + fidelity_text(rehearsal), 4);
  if (answer.changed_blocks > 0)
    text += wrapped(
        fmt::format("changed: {}{}{}", plural(answer.changed_blocks, "block", "blocks"),
                    answer.unscaled_blocks > 0 ? fmt::format("; {} from before the recording keep their size",
                                                             count_text(answer.unscaled_blocks))
                                               : "",
                    rehearsal.requests.start.reserved > 0
                        ? "; what was reserved before the recording stays so until it is given back"
                        : ""),
        4);
  text += "\n" + table(rehearsal, answer);
  if (answer.smallest_capacity)
    text += fmt::format("    {:<22}{:>28}\n", "smallest device", size_text(*answer.smallest_capacity));
  if (!answer.search.empty()) {
    text += fmt::format("\n  Tried, the best first\n    {:>14}{:>10}{:>10}{:>6}  settings\n", "peak reserved",
                        "allocs", "frees", "ooms");
    for (const WhatIfAnswer::Tried& tried : answer.search) {
      const RunNumbers& of = tried.numbers;
      text += fmt::format("    {:>14}{:>10}{:>10}{:>6}  {}\n", size_text(of.peak_reserved),
                          count_text(of.device_allocs), count_text(of.device_frees), count_text(of.ooms),
                          conf_column(tried.conf, 46));
    }
  }
  bool is_first = true;
  for_each_guess(rehearsal, [&](Guess guess, int64_t count) {
    if (is_first) text += "\n  Guessed\n";
    is_first = false;
    text += wrapped(guess_text(guess, count), 4);
  });
  return text + "\n" + wrapped(recommendation(rehearsal, answer), 2);
}

}  // namespace memstrata::answers
