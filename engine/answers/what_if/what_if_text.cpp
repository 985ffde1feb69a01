// What if, in sentences and as a table.
#include <fmt/core.h>

#include <cstdlib>
#include <tuple>

#include "engine/answers/text/percent.h"
#include "engine/answers/what_if/what_if.h"
#include "engine/base/units.h"
#include "engine/simulate/segment_actions.h"

namespace gpustrata::answers {

using analysis::Rehearsal;
using analysis::RunNumbers;
using analysis::WhatIfAnswer;
using simulate::Guess;

namespace {

constexpr size_t kColumns = 80;

[[nodiscard]] std::string plural(int64_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count_text(count), count == 1 ? one : more);
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

// "-12 %", "the same"; in bytes where it is next to nothing of what it was.
[[nodiscard]] std::string change_text(int64_t now, int64_t before) {
  if (now == before) return "the same";
  const int64_t by = now > before ? now - before : before - now;
  return fmt::format("{}{}", now > before ? "+" : "-",
                     by > before / 2000 && before > 0 ? percent_text(by, before) : size_text(by));
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

// What a run of the recorded requests cannot say.
[[nodiscard]] std::string ending_text(const Rehearsal& rehearsal) {
  if (rehearsal.ending.is_complete()) return {};
  if (rehearsal.ending.is_cut)
    return " The file is damaged or ends too early: only what was read of it is run again, and the whole run may need "
           "more.";
  if (!rehearsal.ending.at_failure())
    return " The program did not end this journal: it was killed, or it still ran. What came after is not in it, and may need "
           "more.";
  const std::string where = rehearsal.ending.device == rehearsal.device.ordinal()
                                ? std::string()
                                : fmt::format(" on device {}", rehearsal.ending.device);
  return fmt::format(
      " The recording has no allocation after the request that failed{}; what came after may not be in it, and may "
      "need more.",
      where);
}

[[nodiscard]] std::string places_text(const Rehearsal& rehearsal, const WhatIfAnswer& answer) {
  if (!rehearsal.addresses_decide() || !answer.caches) return {};
  return " Of equal free blocks this version of PyTorch takes the one at the lowest address, and another run gets other "
         "addresses from the device: it may need a little more or less.";
}

// The run begins with what there was, wherever other settings or another device would have put it.
[[nodiscard]] std::string start_text(const Rehearsal& rehearsal) {
  const int64_t reserved = rehearsal.requests.start.reserved;
  if (reserved <= 0) return {};
  return fmt::format(
      " {} was reserved before the first event and is left as it was: a run that differs from its start may "
      "place that differently.",
      size_text(reserved));
}

// Of what was asked for in addition.
[[nodiscard]] std::string extra_text(const WhatIfAnswer& answer) {
  const RunNumbers& run = answer.simulated;
  std::string text;
  for (size_t i = 0; i < answer.extra.size() && i < run.refused.size(); ++i) {
    const analysis::ExtraRequest& extra = answer.extra[i];
    text += fmt::format(" {} more after event {} {}.", size_text(extra.bytes), count_text(extra.after),
                        run.refused[i] != 0   ? "would not fit"
                        : answer.capacity > 0 ? "would fit"
                                              : "would fit if the device has room for everything");
  }
  return text;
}

}  // namespace

std::string recommendation(const Rehearsal& rehearsal, const WhatIfAnswer& answer) {
  const RunNumbers* best = &answer.simulated;
  std::string_view conf = answer.conf;
  if (!answer.search.empty()) {
    const auto key = [](const RunNumbers& of) { return std::tuple(of.ooms, of.is_unsure, of.peak_reserved); };
    const WhatIfAnswer::Tried& first = answer.search.front();
    if (key(first.numbers) < key(*best)) {
      best = &first.numbers;
      conf = first.conf;
    }
  }
  const RunNumbers& was = rehearsal.recorded;
  const bool is_other = answer.is_other || best != &answer.simulated;
  const int64_t before = rehearsal.requests.start.reserved;
  // Nothing was asked of the device that another setting could have asked for in another way.
  const bool all_before = before > 0 && before >= was.peak_reserved;
  std::string text;
  if (!is_other) {
    if (answer.search.empty())
      text = "Nothing was changed: this is the recorded run again.";
    else if (all_before)
      text = fmt::format("What a setting would gain is unknown: all {} was reserved before the first event.",
                         size_text(before));
    else
      text = "None of the settings tried needs less memory than the recorded run.";
  } else {
    const bool is_asked = best == &answer.simulated;
    const bool asks_for_device = answer.capacity > 0 && answer.capacity != rehearsal.capacity;
    std::string with = "With " + conf_name(conf);
    if (is_asked && !answer.caches) {
      with = "Without a cache";
    } else if (is_asked && conf == analysis::settings_text(rehearsal)) {
      with = asks_for_device
                 ? fmt::format("On a device with {} for this allocator", size_text(answer.capacity))
                 : "With the recorded settings";
    }
    if (is_asked && answer.changed_blocks > 0)
      with += fmt::format(" and {} changed", plural(answer.changed_blocks, "block", "blocks"));
    if (is_asked && !answer.extra.empty())
      with += fmt::format(" and {} more",
                          plural(static_cast<int64_t>(answer.extra.size()), "request", "requests"));
    if (is_asked && !answer.empty_cache_after.empty())
      with += fmt::format(" and the cache emptied {}",
                          plural(static_cast<int64_t>(answer.empty_cache_after.size()), "time", "times"));
    const std::optional<bool> fits = analysis::fits(rehearsal, *best, answer.capacity);
    if (best->is_unsure) {
      text = fmt::format(
          "{} it is unknown whether the recorded requests fit: the one that failed is known only as the recorded settings round "
          "it up, to {}, and it depends on how much it asked for.",
          with, size_text(was.first_oom_bytes));
    } else if (analysis::is_limit_unknown(rehearsal, *best, answer.capacity)) {
      text = fmt::format(
          "{} it is unknown whether the recorded requests fit: at most {} would have been reserved, and a limit was reached of "
          "which it is only known that it allowed {}, and less than {}.",
          with, needed_text(best->peak_reserved), size_text(rehearsal.requests.least_capacity),
          size_text(rehearsal.requests.most_capacity + 1));
    } else if (!fits) {
      text = fmt::format(
          "{} it is unknown whether the recorded requests fit: {} was reserved before the first "
          "event, and how much of that was needed is not recorded.",
          with, size_text(before));
    } else if (!*fits && before > answer.capacity) {
      text =
          fmt::format("{} the run does not fit: {} is in use at once.", with, needed_text(best->peak_active));
    } else if (best->ooms == 0 && (was.ooms > 0 || asks_for_device)) {
      text = fmt::format("{} the recorded requests fit; at most {} would have been reserved.", with,
                         needed_text(best->peak_reserved));
    } else if (best->ooms > 0) {
      text = fmt::format("{} the run {}: event {} requests {}, which it cannot get.", with,
                         was.ooms > 0 ? "would still have run out of memory" : "would have run out of memory",
                         count_text(best->first_oom_event), size_text(best->first_oom_bytes));
    } else if (best->peak_reserved < was.peak_reserved) {
      text = fmt::format("{} at most {} would have been reserved, {} less than recorded.", with,
                         size_text(best->peak_reserved), size_text(was.peak_reserved - best->peak_reserved));
    } else if (all_before && best->peak_reserved == was.peak_reserved) {
      text = fmt::format("{} it is unknown what is gained: all {} was reserved before the first event.", with,
                         size_text(before));
    } else if (!answer.extra.empty() && best->peak_reserved > was.peak_reserved) {
      text = fmt::format("{} at most {} would have been reserved, {} more than recorded.", with,
                         size_text(best->peak_reserved), size_text(best->peak_reserved - was.peak_reserved));
    } else {
      text = fmt::format("{} nothing is gained: at most {} would have been reserved; the recording shows {}.",
                         with, size_text(best->peak_reserved), size_text(was.peak_reserved));
    }
  }
  text += extra_text(answer);
  if (answer.asks_for_changes && answer.changed_blocks == 0)
    text += " The filter means no block that was asked for, so no size is changed.";
  if (!answer.caches)
    text += fmt::format(" Every allocation then goes to the device: {} calls, each of which waits for it.",
                        count_text(answer.simulated.device_allocs + answer.simulated.device_frees));
  if (answer.smallest_capacity)
    text += fmt::format(" The recorded requests fit into {} for this allocator.",
                        needed_text(*answer.smallest_capacity));
  text += ending_text(rehearsal);
  if (is_other || answer.smallest_capacity || !answer.search.empty())
    text += start_text(rehearsal) + places_text(rehearsal, answer);
  const int64_t error = rehearsal.fidelity.reserved_error_bytes;
  if (rehearsal.fidelity.is_exact()) {
    text +=
        " The model repeats the recording exactly; other settings can change what the program itself does.";
  } else if (error == 0) {
    text +=
        " The model reserves what the recording did after every allocation, without repeating it exactly; other settings "
        "can change what the program itself does.";
  } else {
    text += fmt::format(" Expect an error of about {}: that is how far the model is from the recording.",
                        size_text(error));
  }
  return text;
}

std::string guess_text(Guess guess, int64_t count) {
  const auto blocks = [&] { return plural(count, "block", "blocks"); };
  switch (guess) {
    case Guess::placed_blocks:
      return fmt::format(
          "{} from before the first event, placed where the trace and the final state show them", blocks());
    case Guess::unplaced_blocks:
      return fmt::format("{} from before the first event in no known segment: asked for at the start",
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

std::string order_text(const Rehearsal& rehearsal) {
  using alloc::FreeOrder;
  using OrderFrom = Rehearsal::OrderFrom;
  const FreeOrder order = rehearsal.config.free_order;
  const bool of_blocks = order == FreeOrder::block_number;
  std::string text = fmt::format("free blocks of one size are taken {}",
                                 order == FreeOrder::address ? "by address, as in PyTorch up to 2.11"
                                 : of_blocks ? "in the order they were made, as in PyTorch 2.12"
                                             : "from the oldest segment, as in PyTorch 2.13 and newer");
  switch (rehearsal.order_from) {
    case OrderFrom::file:
      text += ": the file is of such a version";
      break;
    case OrderFrom::repetition:
      text += "; the file does not tell its version, but repeats exactly so";
      break;
    case OrderFrom::assumption:
      text += "; the file does not tell its version, that is assumed";
      break;
  }
  if (rehearsal.unknown_numbers < 2) return text;
  return text + fmt::format(". Which of {} from before the first event are older is not in it: {}",
                            of_blocks ? fmt::format("{} blocks", count_text(rehearsal.unknown_numbers))
                                      : fmt::format("{} segments", count_text(rehearsal.unknown_numbers)),
                            rehearsal.start_numbers.empty()
                                ? "those at lower addresses are taken for older"
                                : "guessed from what was taken or given back first");
}

std::string fidelity_text(const Rehearsal& rehearsal) {
  const simulate::Fidelity& fidelity = rehearsal.fidelity;
  if (fidelity.is_exact() && fidelity.requests == 0)
    return "repeats the recording exactly: it has no allocation that could differ";
  if (fidelity.is_exact())
    return fmt::format("repeats the recording exactly: {} as recorded",
                       plural(fidelity.requests, "request", "requests"));
  const std::string same = fmt::format("{} of {} as recorded", count_text(fidelity.same_place),
                                       plural(fidelity.requests, "request", "requests"));
  if (fidelity.first_deviation < 0)
    return fmt::format("differs in places by at most {} of reserved memory, {}",
                       size_text(fidelity.reserved_error_bytes), same);
  return fmt::format("differs from event {} on by at most {} of reserved memory, {}: {}",
                     count_text(fidelity.first_deviation), size_text(fidelity.reserved_error_bytes), same,
                     deviation_text(rehearsal));
}

std::string deviation_text(const Rehearsal& rehearsal) {
  using trace::Action;
  const simulate::Deviation& deviation = rehearsal.fidelity.deviation;
  const auto& was = deviation.recorded;
  const auto& is = deviation.simulated;
  const auto said = [](const simulate::Deviation::Side& side) {
    return fmt::format("{} of {}", trace::name_of(side.action), exact_size_text(side.bytes));
  };
  if (rehearsal.fidelity.first_deviation < 0) return {};
  if (!was.is_there) return fmt::format("the recording ends there, the run goes on with {}", said(is));
  if (!is.is_there)
    return fmt::format("the recording goes on with {}, which nothing in the run leads to", said(was));
  if ((was.action == Action::oom) != (is.action == Action::oom))
    return fmt::format("the recording has {}, the run {}: how large the device was is not in the file",
                       said(was), said(is));
  const bool was_taken = simulate::takes_memory(was.action), is_taken = simulate::takes_memory(is.action);
  if (was_taken && is_taken && was.action != is.action)
    return "the recording makes expandable segments where the run does not, or the other way round: the settings "
           "changed on the way, or are not in the file";
  if (was_taken && is_taken && was.bytes == is.bytes)
    return fmt::format("both have {} there, but {}", said(was),
                       was.stream == is.stream ? "at another address" : "for another stream");
  if (was_taken && is_taken)
    return fmt::format("the recording has {}, the run {}: its allocator sizes segments in another way",
                       said(was), said(is));
  if (was_taken)
    return fmt::format(
        "the recording asks the device ({}), the run finds cached memory: some of it had been "
        "given back, or cut, in a way that the file does not show",
        said(was));
  if (is_taken)
    return fmt::format(
        "the run asks the device ({}), the recording finds cached memory there: what was cached "
        "before the first event is not in the file",
        said(is));
  if (simulate::gives_memory_back(was.action) != simulate::gives_memory_back(is.action))
    return fmt::format("the recording has {}, the run {}: why memory was given back is not in the file",
                       said(was), said(is));
  if (was.action == is.action && was.bytes == is.bytes && was.stream == is.stream)
    return fmt::format(
        "{} lies at {:#x} in the recording, at {:#x} in the run: another cached block is taken", said(was),
        was.address, is.address);
  return fmt::format("the recording has {}, the run {}", said(was), said(is));
}

bool order_matters(const Rehearsal& rehearsal) {
  return rehearsal.config.free_order != alloc::FreeOrder::address ||
         rehearsal.order_from != Rehearsal::OrderFrom::file;
}

std::string to_text(const Rehearsal& rehearsal, const WhatIfAnswer& answer) {
  std::string text = wrapped(fmt::format("Device {}, {} run again", rehearsal.device.ordinal(),
                                         plural(rehearsal.request_count(), "request", "requests")),
                             2);
  text += wrapped(fmt::format("settings: {}; device: {}", conf_name(answer.conf),
                              answer.capacity > 0 ? exact_size_text(answer.capacity) : "with room for all"),
                  4);
  text += wrapped("as recorded: " + fidelity_text(rehearsal), 4);
  if (order_matters(rehearsal)) text += wrapped(order_text(rehearsal), 4);
  if (!answer.caches)
    text += wrapped("without a cache: every request goes to the device, every free gives its memory back", 4);
  for (const int32_t event : answer.empty_cache_after)
    text += wrapped(fmt::format("the cache is emptied after event {}", count_text(event)), 4);
  if (answer.changed_blocks > 0)
    text +=
        wrapped(fmt::format("changed: {}{}{}", plural(answer.changed_blocks, "block", "blocks"),
                            answer.unscaled_blocks > 0
                                ? fmt::format("; {} from before the first event keep their size",
                                              count_text(answer.unscaled_blocks))
                                : "",
                            rehearsal.requests.start.reserved > 0
                                ? "; what was reserved before the first event stays so until it is given back"
                                : ""),
                4);
  text += "\n" + table(rehearsal, answer);
  if (answer.smallest_capacity)
    text += fmt::format("    {:<22}{:>28}\n", "smallest device", needed_text(*answer.smallest_capacity));
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
  rehearsal.requests.for_each_guess([&](Guess guess, int64_t count) {
    if (is_first) text += "\n  Guessed\n";
    is_first = false;
    text += wrapped(guess_text(guess, count), 4);
  });
  return text + "\n" + wrapped(recommendation(rehearsal, answer), 2);
}

}  // namespace gpustrata::answers
