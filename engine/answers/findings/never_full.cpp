#include "engine/answers/findings/never_full.h"

#include <fmt/core.h>

#include <optional>
#include <string>

#include "engine/answers/live/top.h"
#include "engine/answers/stacks/who.h"
#include "engine/base/units.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::answers {

namespace {

[[nodiscard]] std::string text_of(const analysis::NeverFull& found) {
  if (found.all_segments == 0) return "The recording has no segment.";
  if (found.segments == 0) return "Every segment was full at some time.";
  return fmt::format("{} of {} {} never full: {} more than the most that was in use in each at once.",
                     count_text(found.segments), counted(found.all_segments, "segment"),
                     found.segments == 1 ? "was" : "were", size_text(found.never_used));
}

}  // namespace

void to_json(JsonWriter& json, const analysis::EventContext& context, const analysis::NeverFull& found) {
  const model::Recording& recording = context.recording;
  json.begin_object();
  json.member("text", text_of(found));
  json.member("all_segments", found.all_segments);
  json.member("segments", found.segments);
  json.member("never_used_bytes", found.never_used);
  json.key("worst");
  json.begin_array();
  for (const analysis::NeverFullSegment& one : found.worst) {
    json.begin_object();
    json.member("segment", fmt::format("{:#x}", one.segment));
    json.member("segment_bytes", one.segment_bytes);
    json.member("most_in_use_bytes", one.most_in_use);
    json.member("most_event", one.most_event);
    json.member("never_used_bytes", one.never_used());
    json.member("from_event", one.from_event);
    const bool stays = one.until_event >= context.history.event_count();
    json.member("until_event", stays ? std::nullopt : std::optional(one.until_event));
    json.member("expandable", one.expandable);
    const StackId stack = replay::stack_of_range(recording, context.history, one.range);
    who_to_json(json, recording, analysis::who_of(recording, stack));
    stack_to_json(json, recording, stack);
    json.member("row", one.range);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace gpustrata::answers
