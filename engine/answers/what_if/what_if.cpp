#include "engine/answers/what_if/what_if.h"

#include "engine/analysis/device/pool_id.h"

namespace gpustrata::answers {

using analysis::Rehearsal;
using analysis::RunNumbers;
using analysis::WhatIfAnswer;
using simulate::Guess;

namespace {

constexpr auto kOrderFrom = words_up_to<Rehearsal::OrderFrom::assumption>("file", "repetition", "assumption");

void describe_use(Members& m, const RunNumbers& run) {
  m.bytes("peak_reserved_bytes", run.peak_reserved);
  m.bytes("peak_allocated_bytes", run.peak_allocated);
}

void describe_run(Members& m, const RunNumbers& run) {
  describe_use(m, run);
  m.bytes("peak_active_bytes", run.peak_active);
  m.bytes("end_reserved_bytes", run.end_reserved);
  m.count("device_allocs", run.device_allocs);
  m.count("device_frees", run.device_frees);
  m.count("alloc_retries", run.alloc_retries);
  m.count("ooms", run.ooms);
  m.object("first_oom", run.ooms == 0 ? nullptr : &run, [&](const RunNumbers& of) {
    m.count("event", of.first_oom_event);
    m.bytes("requested_bytes", of.first_oom_bytes);
  });
}

void describe_side(Members& m, Name name, const simulate::Deviation::Side& side) {
  m.object(name, side.is_there ? &side : nullptr, [&](const simulate::Deviation::Side& of) {
    m.text("action", [&] { return trace::name_of(of.action); });
    m.bytes("bytes", of.bytes);
    if (const auto there = m.when(of.action != trace::Action::oom)) m.address("address", of.address);
  });
}

[[nodiscard]] std::optional<int64_t> above_zero(int64_t bytes) {
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}
[[nodiscard]] std::optional<int32_t> known_event(int32_t event) {
  return event >= 0 ? std::optional(event) : std::nullopt;
}

struct Guessed {
  Guess guess;
  int64_t count;
};
[[nodiscard]] std::vector<Guessed> guesses_of(const Rehearsal& rehearsal) {
  std::vector<Guessed> all;
  rehearsal.requests.for_each_guess([&](Guess guess, int64_t count) { all.push_back({guess, count}); });
  return all;
}

void describe_answer(Members& m, const Rehearsal& rehearsal, const WhatIfAnswer& answer) {
  const simulate::Fidelity& fidelity = rehearsal.fidelity;
  const RunNumbers& was = rehearsal.recorded;
  m.count("device", [&] { return rehearsal.device.ordinal(); });
  m.flag(
      {"complete",
       "False: the recording has no allocation after a request that failed, ends in a journal that its program "
       "did not end, or where its file is damaged or cut off, and what fits may not be enough for the whole run."},
      [&] { return rehearsal.ending.is_complete(); });
  m.text("conf", answer.conf);
  m.bytes({"capacity", "Null: the device has room for all."}, above_zero(answer.capacity));
  m.flag(
      {"fits",
       "The simulated requests, on a device of that capacity. Null: not known, because more than that was reserved before "
       "the first event, because the request that failed is known only rounded up, or because there was a limit of which only a "
       "range is known."},
      [&] { return analysis::fits(rehearsal, answer.simulated, answer.capacity); });
  m.flag(
      {"addresses_decide",
       "Equal free blocks are taken by address, as up to PyTorch 2.11: another run may place blocks in another way."},
      [&] { return rehearsal.addresses_decide(); });
  m.bytes({"reserved_before_bytes", "Before the first event: left as it was, whatever the settings."},
          [&] { return rehearsal.requests.start.reserved; });
  m.count({"requests", "Rows that were run."}, [&] { return rehearsal.request_count(); });
  m.list(
      {"guesses", "What the file does not say."}, [&] { return guesses_of(rehearsal); },
      [&](const Guessed& one) {
        m.text("name", [&] { return simulate::name_of(one.guess); });
        m.count("count", one.count);
        m.text("text", [&] { return guess_text(one.guess, one.count); });
      });
  m.object({"free_order", "In which order free blocks of one size are taken."}, [&] {
    m.text("name", [&] { return alloc::name_of(rehearsal.config.free_order); });
    m.word("from", kOrderFrom, rehearsal.order_from);
    m.count({"unknown", "What was made before the first event, so that its age is not in it."},
            rehearsal.unknown_numbers);
    m.text("text", [&] { return order_text(rehearsal); });
  });
  m.object({"fidelity", "How well the recorded run is repeated without changes."}, [&] {
    m.count({"requests", "Allocations."}, fidelity.requests);
    m.count("same_place", fidelity.same_place);
    m.bytes("reserved_error_bytes", fidelity.reserved_error_bytes);
    m.count("first_deviation", known_event(fidelity.first_deviation));
  });
  m.object("recorded", [&] {
    m.is("RunNumbers");
    describe_use(m, was);
    m.count("device_allocs", was.device_allocs);
    m.count("device_frees", was.device_frees);
    m.count("ooms", was.ooms);
  });
  m.object("simulated", [&] { describe_run(m, answer.simulated); });
  if (const auto there = m.when([&] { return !fidelity.is_exact(); })) {
    m.object({"deviation", "The first event that is not repeated."}, [&] {
      describe_side(m, "recorded", fidelity.deviation.recorded);
      describe_side(m, "simulated", fidelity.deviation.simulated);
      m.text("text", [&] { return deviation_text(rehearsal); });
    });
  }
  if (const auto there = m.when(!answer.caches)) m.flag("caching", false);
  if (const auto there = m.when(!answer.extra.empty())) {
    m.list("extra", answer.extra, [&](const analysis::ExtraRequest& extra) {
      m.count("event", extra.after);
      m.count("until", known_event(extra.until));
      m.bytes("requested_bytes", extra.bytes);
      m.flag("refused", [&] {
        const auto i = static_cast<size_t>(&extra - answer.extra.data());
        return i < answer.simulated.refused.size() && answer.simulated.refused[i] != 0;
      });
    });
  }
  if (const auto there = m.when(!answer.empty_cache_after.empty()))
    m.values(As::count, "empty_cache_after", answer.empty_cache_after, [](int32_t event) { return event; });
  if (const auto there = m.when(answer.changed_blocks > 0)) m.count("changed_blocks", answer.changed_blocks);
  if (const auto there = m.when(answer.smallest_capacity.has_value()))
    m.bytes("smallest_capacity_bytes", answer.smallest_capacity.value_or(0));
  if (const auto there = m.when(!answer.search.empty())) {
    m.list("search", answer.search, [&](const WhatIfAnswer::Tried& tried) {
      m.text("conf", tried.conf);
      describe_run(m, tried.numbers);
    });
  }
}

}  // namespace

void describe(Members& m, const Rehearsal& rehearsal, const WhatIfAnswer& answer,
              const WhatIfCurves& curves) {
  const simulate::Levels &recorded = m.of(curves.recorded), &simulated = m.of(curves.simulated);
  const auto column = [&](Name name, const std::vector<int64_t>& bytes) {
    m.column(As::bytes, name, bytes, [](int64_t one) { return static_cast<double>(one); });
  };
  m.is("WhatIf");
  describe_answer(m, rehearsal, answer);
  m.text("fidelity_text", [&] { return fidelity_text(rehearsal); });
  m.text("recommendation", [&] { return recommendation(rehearsal, answer); });
  m.of_columns({"curves", "The highest in each column of the recorded events."}, [&] {
    column("recordedReserved", recorded.reserved);
    column("recordedAllocated", recorded.allocated);
    column("simulatedReserved", simulated.reserved);
    column("simulatedAllocated", simulated.allocated);
  });
}

void describe(Members& m, const WhatIfLine& line) {
  m.line({"whatif --json", "What would have been."});
  m.text("file", line.file);
  const std::string_view snapshot =
      m.is_schema() ? std::string_view() : std::string_view(line.rehearsal.device.part.name);
  if (const auto there = m.when(!snapshot.empty())) m.text("snapshot", snapshot);
  describe_answer(m, m.of(line.rehearsal), m.of(line.answer));
}

void describe(Members& m, const Rehearsal& rehearsal) {
  const simulate::Fidelity& fidelity = rehearsal.fidelity;
  m.is({"Rehearsal", "What running the recorded requests again comes to before anything is changed."});
  m.count("device", [&] { return rehearsal.device.ordinal(); });
  m.text({"conf", "The recorded settings' text."}, [&] { return analysis::settings_text(rehearsal); });
  m.flag({"settings_are_known", "The file has them."}, rehearsal.settings_are_known);
  m.bytes({"capacity", "That the device must have had; null = nothing says."},
          above_zero(rehearsal.capacity));
  m.count("requests", [&] { return rehearsal.request_count(); });
  m.flag({"exact", "The run repeats the recording in every event."}, [&] { return fidelity.is_exact(); });
  m.text("fidelity_text", [&] { return fidelity_text(rehearsal); });
  m.count("first_deviation", known_event(fidelity.first_deviation));
  m.texts({"guesses", "What the file does not say, in words."}, [&] {
    std::vector<std::string> texts;
    for (const Guessed& one : guesses_of(rehearsal)) texts.push_back(guess_text(one.guess, one.count));
    if (order_matters(rehearsal)) texts.push_back(order_text(rehearsal));
    return texts;
  });
  m.texts({"tries", "Settings' texts that are worth a try."},
          [&] { return analysis::settings_to_try(rehearsal); });
}

void describe(Members& m, const analysis::StateDifferences& differences) {
  const auto pool = [&](const auto& row) {
    const bool is_default = row.pool == model::Pool{};
    m.text({"pool", "Null = the default one."},
           [&] { return is_default ? std::nullopt : std::optional(analysis::pool_text(row.pool)); });
    m.flag("small", row.small);
  };
  const auto use = [&](const analysis::PoolUse& of) {
    m.bytes("reserved", of.reserved);
    m.bytes("used", of.used);
    m.bytes("largest_free", of.largest_free);
  };
  const auto pool_side = [&](Name name, const analysis::PoolUse& of) {
    m.object(name, [&] {
      m.is("PoolUse");
      m.count("segments", of.segments);
      use(of);
    });
  };
  const auto segment_side = [&](Name name, const analysis::PoolUse& of) {
    m.object(name, of.segments == 0 ? nullptr : &of, [&](const analysis::PoolUse& there) {
      m.is("SegmentUse");
      use(there);
    });
  };
  m.is("StateDifferences");
  m.list("pools", differences.pools, [&](const analysis::PoolDifference& row) {
    m.is("PoolDifference");
    pool(row);
    pool_side("recorded", row.recorded);
    pool_side("simulated", row.simulated);
  });
  m.list(
      {"segments", "Those that differ most, at most 200."}, differences.segments,
      [&](const analysis::SegmentDifference& row) {
        m.is({"SegmentDifference", "A segment that is not the same in both states; null = it is not there."});
        m.address("address", row.address);
        pool(row);
        segment_side("recorded", row.recorded);
        segment_side("simulated", row.simulated);
      });
  m.count("segments_left_out", differences.left_out);
  m.count("same_segments", differences.same);
}

}  // namespace gpustrata::answers
