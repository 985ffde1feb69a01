#include "engine/answers/details/timeline_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

#include "engine/analysis/device/stream_numbers.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/details/block_details.h"
#include "engine/answers/details/memory_after.h"
#include "engine/answers/stacks/who.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::BandDetails;
using analysis::BandKind;
using analysis::BandLabel;
using analysis::EnvelopeDetails;
using analysis::SegmentBand;
using analysis::Share;
using analysis::ViewInfo;

namespace {

constexpr size_t kLongestName = 400;  // bytes, in a label

void info_to_json(JsonWriter& json, const ViewInfo& info) {
  constexpr std::array<std::string_view, 3> kBands = {"blocks", "pools", "segments"};
  json.begin_object();
  json.member("bands", kBands[static_cast<size_t>(info.bands)]);
  json.member("device", info.device);
  json.member("events", info.events);
  json.member("blocks", info.blocks);
  json.member("from_start", info.from_start);
  if (info.bands == BandKind::pools) json.member("pools", info.pools);
  json.key("peak");
  json.begin_object();
  json.member("bytes", info.peak_bytes);
  json.member("event", info.peak_event);
  json.end_object();
  json.member("initial_bytes", info.initial_bytes);
  json.member("final_bytes", info.final_bytes);
  json.member("reserved_peak", info.reserved_peak);
  json.member("reserved_final", info.reserved_final);
  json.key("extent");
  json.begin_object();
  json.member("event", info.extent_events);
  json.member("time_us", info.extent_us);
  json.end_object();
  json.member("first_time_us", info.first_time_us);
  json.member("last_time_us", info.last_time_us);
  json.key("oom_events");
  json.begin_array();
  for (const int32_t event : info.oom_events) json.value(event);
  json.end_array();
  json.member("has_stacks", info.has_stacks);
  json.member("segments", info.segments);
  json.member("has_ops", info.has_ops);
  json.member("has_series", info.has_series);
  json.key("settings");
  json.raw(info.settings_json.empty() ? "null" : info.settings_json);
  json.end_object();
}

void pick_to_json(JsonWriter& json, const analysis::BandPick& pick) {
  json.begin_object();
  json.member("event", pick.event);
  json.member("time_us", pick.time_us);
  json.member("level", pick.level);
  json.member("allocated", pick.allocated);
  json.member("reserved", pick.reserved);
  json.member("rank", pick.rank);
  if (pick.rank >= 0) {
    json.member("name", pick.name);
    json.member("size", pick.size);
    if (pick.active) json.member("active", *pick.active);
  }
  json.end_object();
}

void share_to_json(JsonWriter& json, const Share& share) {
  json.begin_object();
  json.member("bytes", share.bytes);
  json.member("blocks", share.blocks);
  json.end_object();
}

template <typename Place>
void rectangle_to_json(JsonWriter& json, const Place& place) {
  json.member("x0", place.x0);
  json.member("x1", place.x1);
  json.member("y0", place.y0);
  json.member("y1", place.y1);
}

// "train.py:96"
[[nodiscard]] std::string place_text(const model::Recording& recording, const analysis::Who& who) {
  std::string_view file = recorded_file(recording, who);
  file.remove_prefix(std::min(file.find_last_of("/\\") + 1, file.size()));
  if (file.empty()) return {};
  return fmt::format("{}:{}", utf8::cut(file, kLongestName), line_of(recording, who));
}

// Each kind of band.
struct DetailsToJson {
  JsonWriter& json;
  const model::Recording& recording;

  void operator()(std::monostate) const { json.null(); }
  void operator()(const analysis::BlockDetails& block) const { to_json(json, recording, block); }
  void operator()(const SegmentBand& band) const {
    json.begin_object();
    json.member("kind", "segment");
    json.member("rank", band.rank);
    json.member("piece", band.piece);
    members_to_json(json, band.context, band.segment);
    json.end_object();
  }
  void operator()(const EnvelopeDetails& envelope) const {
    json.begin_object();
    json.member("kind", "envelope");
    json.member("rank", envelope.rank);
    json.member("name", envelope.name);
    json.key("pool");
    pool_to_json(json, recording, envelope.pool);
    json.member("stream", envelope.stream_number);
    json.member("stream_handle", analysis::handle_text(recording, envelope.stream));
    json.member("capacity", envelope.capacity);
    json.member("reserved_final", envelope.reserved_final);
    json.member("active_final", envelope.active_final);
    json.member("peak_active", envelope.peak_active);
    json.member("blocks", envelope.blocks);
    json.member("born_event", envelope.born_event);
    json.member("text", fmt::format("{}: capacity {}", envelope.name, size_text(envelope.capacity)));
    json.end_object();
  }
};

}  // namespace

void columns_to_json(JsonWriter& json, std::initializer_list<std::string_view> objects) {
  json.begin_object();
  for (const std::string_view name : objects) {
    json.key(name);
    json.begin_object();
    json.end_object();
  }
  json.end_object();
}

void to_json(JsonWriter& json, std::span<const int64_t> numbers) {
  json.begin_array();
  for (const int64_t number : numbers) json.value(number);
  json.end_array();
}

void opened_to_json(JsonWriter& json, int32_t id, const ViewInfo& info,
                    std::span<const analysis::Finding> findings) {
  json.begin_object();
  json.member("id", id);
  json.key("info");
  info_to_json(json, info);
  json.key("diagnostics");
  to_json(json, findings);
  json.end_object();
}

void to_json(JsonWriter& json, const model::Recording& recording, std::span<const BandLabel> labels) {
  json.begin_array();
  for (const BandLabel& label : labels) {
    json.begin_object();
    json.member("rank", label.rank);
    json.member("size", label.size);
    if (!label.name.empty()) json.member("name", label.name);
    json.member("function", utf8::cut(function_text(label.who), kLongestName));
    json.member("place", place_text(recording, label.who));
    rectangle_to_json(json, label);
    json.end_object();
  }
  json.end_array();
}

void to_json(JsonWriter& json, std::span<const analysis::KindPlace> places) {
  json.begin_array();
  for (const analysis::KindPlace& place : places) {
    json.begin_object();
    json.member("kind", place.kind);
    rectangle_to_json(json, place);
    json.end_object();
  }
  json.end_array();
}

void probe_to_json(JsonWriter& json, const model::Recording& recording, const analysis::BandPick* pick,
                   const BandDetails* details) {
  json.begin_object();
  json.key("pick");
  if (pick == nullptr) {
    json.null();
  } else {
    pick_to_json(json, *pick);
  }
  if (details != nullptr) {
    json.key("details");
    to_json(json, recording, *details);
  }
  json.end_object();
}

void to_json(JsonWriter& json, const std::optional<analysis::GroupPick>& pick) {
  json.begin_object();
  json.key("pick");
  if (pick) {
    pick_to_json(json, pick->state);
  } else {
    json.null();
  }
  json.key("group");
  if (pick && pick->kind >= 0) {
    json.begin_object();
    json.member("kind", pick->kind);
    json.member("bytes", pick->share.bytes);
    json.member("blocks", pick->share.blocks);
    if (pick->matched) {
      json.key("matched");
      share_to_json(json, *pick->matched);
    }
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
}

void band_to_json(JsonWriter& json, const model::Recording& recording, const BandDetails& details,
                  const analysis::PlaceOfBand& place) {
  json.begin_object();
  json.key("details");
  to_json(json, recording, details);
  json.key("place");
  json.begin_object();
  json.member("from", place.from);
  json.member("to", place.to);
  json.member("offset", place.offset);
  json.member("size", place.size);
  json.end_object();
  json.end_object();
}

void to_json(JsonWriter& json, const model::Recording& recording, const BandDetails& details) {
  std::visit(DetailsToJson{json, recording}, details);
}

void matches_to_json(JsonWriter& json, const analysis::Matches* matches, int64_t at_peak) {
  json.begin_object();
  json.member("count", matches == nullptr ? size_t{0} : matches->ranks.size());
  json.member("bytes", matches == nullptr ? 0 : matches->bytes);
  json.member("at_peak", at_peak);
  json.member("first", matches == nullptr || matches->ranks.empty() ? -1 : matches->ranks[0]);
  json.end_object();
}

void to_json(JsonWriter& json, const analysis::Shares& shares) {
  json.begin_object();
  json.member("event", shares.event);
  json.member("level", shares.level);
  json.key("kinds");
  json.begin_array();
  for (const Share& share : shares.kinds) share_to_json(json, share);
  json.end_array();
  if (shares.unused) json.member("unused", *shares.unused);
  json.key("matched");
  if (shares.matched) {
    share_to_json(json, *shares.matched);
  } else {
    json.null();
  }
  json.end_object();
}

}  // namespace gpustrata::answers
