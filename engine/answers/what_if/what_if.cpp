#include "engine/answers/what_if/what_if.h"

#include <fmt/core.h>

#include "engine/analysis/device/pool_id.h"

namespace gpustrata::answers {

using analysis::Rehearsal;
using analysis::RunNumbers;
using analysis::WhatIfAnswer;
using simulate::Guess;

namespace {

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

void side_to_json(JsonWriter& json, std::string_view key, const simulate::Deviation::Side& side) {
  json.key(key);
  if (!side.is_there) return json.null();
  json.begin_object();
  json.member("action", trace::name_of(side.action));
  json.member("bytes", side.bytes);
  if (side.action != trace::Action::oom) json.member("address", fmt::format("{:#x}", side.address));
  json.end_object();
}

void deviation_to_json(JsonWriter& json, const Rehearsal& rehearsal) {
  json.key("deviation");
  json.begin_object();
  side_to_json(json, "recorded", rehearsal.fidelity.deviation.recorded);
  side_to_json(json, "simulated", rehearsal.fidelity.deviation.simulated);
  json.member("text", deviation_text(rehearsal));
  json.end_object();
}

}  // namespace

void to_json(JsonWriter& json, const Rehearsal& rehearsal, const WhatIfAnswer& answer) {
  json.member("device", rehearsal.device.ordinal());
  json.member("complete", !rehearsal.ending.at_failure());
  json.member("conf", answer.conf);
  json.member("capacity", answer.capacity > 0 ? std::optional(answer.capacity) : std::nullopt);
  json.member("requests", rehearsal.request_count());
  json.key("guesses");
  json.begin_array();
  rehearsal.requests.for_each_guess([&](Guess guess, int64_t count) {
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
  if (!fidelity.is_exact()) deviation_to_json(json, rehearsal);
  if (!answer.caches) json.member("caching", false);
  if (!answer.extra.empty()) {
    json.key("extra");
    json.begin_array();
    for (size_t i = 0; i < answer.extra.size(); ++i) {
      const analysis::ExtraRequest& extra = answer.extra[i];
      json.begin_object();
      json.member("event", extra.after);
      json.member("until", extra.until >= 0 ? std::optional(extra.until) : std::nullopt);
      json.member("requested_bytes", extra.bytes);
      json.member("refused", i < answer.simulated.refused.size() && answer.simulated.refused[i] != 0);
      json.end_object();
    }
    json.end_array();
  }
  if (!answer.empty_cache_after.empty()) {
    json.key("empty_cache_after");
    json.begin_array();
    for (const int32_t event : answer.empty_cache_after) json.value(event);
    json.end_array();
  }
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

void what_if_to_json(JsonWriter& json, const Rehearsal& rehearsal, const WhatIfAnswer& answer) {
  json.begin_object();
  to_json(json, rehearsal, answer);
  json.member("fidelity_text", fidelity_text(rehearsal));
  json.member("recommendation", recommendation(rehearsal, answer));
  json.key("curves");
  json.begin_object();
  json.end_object();
  json.end_object();
}

void rehearsal_to_json(JsonWriter& json, const Rehearsal& rehearsal) {
  json.begin_object();
  json.member("device", rehearsal.device.ordinal());
  json.member("conf", analysis::settings_text(rehearsal));
  json.member("settings_are_known", rehearsal.settings_are_known);
  json.member("capacity", rehearsal.capacity > 0 ? std::optional(rehearsal.capacity) : std::nullopt);
  json.member("requests", rehearsal.request_count());
  const simulate::Fidelity& fidelity = rehearsal.fidelity;
  json.member("exact", fidelity.is_exact());
  json.member("fidelity_text", fidelity_text(rehearsal));
  json.member("first_deviation",
              fidelity.first_deviation >= 0 ? std::optional(fidelity.first_deviation) : std::nullopt);
  json.key("guesses");
  json.begin_array();
  rehearsal.requests.for_each_guess(
      [&](Guess guess, int64_t count) { json.value(guess_text(guess, count)); });
  json.end_array();
  json.key("tries");
  json.begin_array();
  for (const std::string& conf : analysis::settings_to_try(rehearsal)) json.value(conf);
  json.end_array();
  json.end_object();
}

void to_json(JsonWriter& json, const analysis::StateDifferences& differences) {
  const auto pool_to_json = [&](const auto& row) {
    json.member("pool",
                row.pool == model::Pool{} ? std::nullopt : std::optional(analysis::pool_text(row.pool)));
    json.member("small", row.small);
  };
  const auto bytes_to_json = [&](const analysis::PoolUse& use) {
    json.member("reserved", use.reserved);
    json.member("used", use.used);
    json.member("largest_free", use.largest_free);
    json.end_object();
  };
  const auto pool_side = [&](std::string_view name, const analysis::PoolUse& use) {
    json.key(name);
    json.begin_object();
    json.member("segments", use.segments);
    bytes_to_json(use);
  };
  const auto segment_side = [&](std::string_view name, const analysis::PoolUse& use) {
    json.key(name);
    if (use.segments == 0) return json.null();
    json.begin_object();
    bytes_to_json(use);
  };
  json.begin_object();
  json.key("pools");
  json.begin_array();
  for (const analysis::PoolDifference& row : differences.pools) {
    json.begin_object();
    pool_to_json(row);
    pool_side("recorded", row.recorded);
    pool_side("simulated", row.simulated);
    json.end_object();
  }
  json.end_array();
  json.key("segments");
  json.begin_array();
  for (const analysis::SegmentDifference& row : differences.segments) {
    json.begin_object();
    json.member("address", fmt::format("{:#x}", row.address));
    pool_to_json(row);
    segment_side("recorded", row.recorded);
    segment_side("simulated", row.simulated);
    json.end_object();
  }
  json.end_array();
  json.member("segments_left_out", differences.left_out);
  json.member("same_segments", differences.same);
  json.end_object();
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

}  // namespace gpustrata::answers
