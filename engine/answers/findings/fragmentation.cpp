#include "engine/answers/findings/fragmentation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/analysis/details/memory_after.h"
#include "engine/answers/findings/never_full.h"
#include "engine/answers/findings/out_of_memory.h"
#include "engine/answers/live/top.h"
#include "engine/answers/report/report_findings.h"
#include "engine/answers/stacks/who.h"
#include "engine/base/units.h"
#include "engine/replay/links.h"

namespace gpustrata::answers {

namespace {

[[nodiscard]] double rounded(double share) { return std::round(share * 10'000) / 10'000; }

void members_to_json(JsonWriter& json, const analysis::EventContext& context,
                     const analysis::Fragmentation& found) {
  const model::Recording& recording = context.recording;
  json.member("event", found.event);
  json.member("reserved_bytes", found.reserved);
  json.member("allocated_bytes", found.allocated);
  json.member("pending_bytes", found.pending);
  json.member("cached_bytes", found.cached);
  json.member("largest_free_bytes", found.largest_free);
  json.member("held_back_bytes", found.held_back);
  json.member("share", rounded(found.share()));
  json.member("pinned_segments", found.pinned_segments);
  json.key("pins");
  json.begin_array();
  for (const analysis::Pin& pin : found.pins) {
    json.begin_object();
    json.member("segment", fmt::format("{:#x}", pin.segment));
    json.member("segment_bytes", pin.segment_bytes);
    json.member("free_bytes", pin.free_bytes);
    json.member("held_back_bytes", pin.held_back_bytes);
    json.member("blocks", pin.blocks);
    json.member("pinned_bytes", pin.pinned_bytes);
    json.member("expandable", pin.expandable);
    const StackId stack = analysis::stack_of_block(context, pin.largest_block).stack;
    who_to_json(json, recording, analysis::who_of(recording, stack));
    stack_to_json(json, recording, stack);
    json.member("since_event", context.history.born_of(pin.oldest_block));
    json.member("row", pin.range);
    json.member("rank",
                replay::rank_of_block(recording, context.history, context.lifetimes, pin.largest_block));
    json.end_object();
  }
  json.end_array();
}

[[nodiscard]] std::string fragmentation_text(const analysis::Fragmentation& found) {
  if (found.reserved == 0) return "Nothing is reserved then.";
  if (found.cached == 0) return fmt::format("All of the {} reserved are in use.", size_text(found.reserved));
  const std::string all =
      fmt::format("{} of {} reserved are cached, the largest free piece is {}. ", size_text(found.cached),
                  size_text(found.reserved), size_text(found.largest_free));
  if (found.held_back == 0) return all + "All of it could go back to the device.";
  return all + fmt::format("{} in {} could not go back to the device, because something lives beside them.",
                           size_text(found.held_back), counted(found.pinned_segments, "segment"));
}

}  // namespace

void to_json(JsonWriter& json, const analysis::EventContext& context,
             const analysis::Fragmentation& fragmentation,
             const std::optional<analysis::NeverFull>& never_full) {
  json.begin_object();
  members_to_json(json, context, fragmentation);
  if (never_full) {
    json.key("never_full");
    to_json(json, context, *never_full);
  }
  json.end_object();
}

void to_json(JsonWriter& json, const analysis::EventContext& context,
             const analysis::Fragmentation& fragmentation, std::span<const analysis::FreePlace> places) {
  json.begin_object();
  json.member("text", fragmentation_text(fragmentation));
  members_to_json(json, context, fragmentation);
  json.key("places");
  json.begin_array();
  for (const analysis::FreePlace& place : places.first(std::min(places.size(), analysis::kMostFreePlaces))) {
    json.begin_object();
    place_to_json(json, context.recording, place);
    json.end_object();
  }
  json.end_array();
  json.member("places_left_out",
              static_cast<int64_t>(places.size() - std::min(places.size(), analysis::kMostFreePlaces)));
  json.end_object();
}

}  // namespace gpustrata::answers
