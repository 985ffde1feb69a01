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
  if (!found.has_history) return "Without a history it is not known how full segments were before.";
  if (found.all_segments == 0) return "The recording has no segment.";
  if (found.segments == 0) return "Every segment was full at some time of the recording.";
  return fmt::format(
      "In the recording {} of {} {} never full: {} more than the most that was in use in each at once.",
      count_text(found.segments),
      found.has_pieces ? count_text(found.all_segments) + " segments and pieces that were mapped"
                       : counted(found.all_segments, "segment"),
      found.segments == 1 ? "was" : "were", size_text(found.never_used));
}

}  // namespace

void describe(Members& m, const analysis::EventContext& context, const analysis::NeverFull& found) {
  m.is({"NeverFull",
        "Over the whole recording, in each segment: bytes beyond the most that was in use at once."});
  m.text("text", [&] { return text_of(found); });
  m.flag({"has_history", "False: nothing is known, and all else is 0."}, found.has_history);
  m.count("all_segments", found.all_segments);
  m.count({"segments", "Those never full."}, found.segments);
  m.bytes({"never_used_bytes", "Of all of them."}, found.never_used);
  m.list({"worst", "Most bytes never used first."}, found.worst, [&](const analysis::NeverFullSegment& one) {
    m.address("segment", one.segment);
    m.bytes("segment_bytes", one.segment_bytes);
    m.bytes("most_in_use_bytes", one.most_in_use);
    m.count({"most_event", "First event after which it was so much; -1 = from the start."}, one.most_event);
    m.bytes("never_used_bytes", one.never_used());
    m.count({"from_event", "-1 = from the start."}, one.from_event);
    m.count({"until_event", "Null: it is never given back."}, [&] {
      const bool stays = one.until_event >= context.history.event_count();
      return stays ? std::nullopt : std::optional(one.until_event);
    });
    m.flag("expandable", one.expandable);
    describe_who_and_stack(m, context.recording, m.found([&] {
      return replay::stack_of_range(context.recording, context.history, one.range);
    }));
    m.segment_row("row", one.range);
  });
}

}  // namespace gpustrata::answers
