#include "engine/answers/details/block_details.h"

#include <optional>

#include "engine/analysis/device/block_name.h"
#include "engine/analysis/device/stream_numbers.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/stacks/no_stack_reasons.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

using analysis::BlockDetails;
using analysis::Extra;

namespace {

[[nodiscard]] std::optional<int32_t> known(int32_t event) {
  return event < 0 ? std::nullopt : std::optional(event);
}

constexpr auto kKnownBy =
    words_up_to<BlockDetails::KnownBy::final_state>("traced", "freed_only", "final_only");
constexpr auto kPoolFrom = words_up_to<BlockDetails::PoolFrom::segment>("", "event", "segment");

void describe_life(Members& m, const BlockDetails& block) {
  m.count({"born_event", "-1 = before the first."}, block.born_event);
  m.count("free_requested_event", known(block.free_requested_event));
  m.count("freed_event", known(block.freed_event));
  m.microseconds("born_time_us", block.born_time_us);
  m.microseconds("freed_time_us", block.freed_time_us);
  m.count("lifetime_events", block.lifetime_events);
  m.microseconds("lifetime_us", block.lifetime_us);
  m.bytes({"total_after", "Allocated right after it came."}, block.total_after);
}

[[nodiscard]] int64_t extras_to_json(JsonWriter& json, const model::Recording& recording,
                                     const BlockDetails& block) {
  const auto text = [&](StringId id) { return in_list(recording.strings.view(id)); };
  // What the free says is about the moment of the free, so it is not shown as the block's own.
  bool wrote_free = false;
  const auto write_free = [&] {
    if (wrote_free) return;
    wrote_free = true;
    if (!block.texts.free_context.is_none())
      json.member("compile_context of the free", text(block.texts.free_context));
    if (!block.texts.free_metadata.is_none())
      json.member("user_metadata of the free", text(block.texts.free_metadata));
  };
  json.begin_object();
  Room room(json);
  for (const Extra& extra : block.extras) {
    if (extra.of == Extra::Of::free) write_free();
    if (!room.for_one_more()) continue;
    json.member(text(extra.key) + (extra.of == Extra::Of::final_block ? " of the block"
                                   : extra.of == Extra::Of::free      ? " of the free"
                                                                      : ""),
                text(extra.value));
  }
  write_free();
  room.leave_out(block.extras_left_out);
  if (room.left_out() > 0) json.member(more_text(room.left_out()), "");
  json.end_object();
  return room.left_out();
}

}  // namespace

void describe(Members& m, const model::Recording& recording, const BlockDetails& block) {
  int64_t extras_left_out = 0;
  m.is("BlockDetails");
  m.rank("rank", block.rank);
  m.text("name", [&] { return analysis::block_name(block.address, block.version); });
  m.address("address", block.address);
  m.count("version", block.version);
  m.word("kind", kKnownBy, block.known_by);
  m.bytes("requested_size", block.requested_size);
  m.bytes("block_size", block.block_size);
  const bool is_pending = block.state && *block.state != model::BlockState::active_allocated;
  m.word({"state", "At the end of the recording."}, kLiveStates,
         block.state ? std::optional(kLiveStates[is_pending ? 1 : 0]) : std::nullopt);
  m.count("stream", block.stream_number);
  m.text("stream_handle", [&] { return analysis::handle_text(recording, block.stream); });
  describe_pool(m, recording, block.pool);
  m.word("pool_from", kPoolFrom, block.pool_from);
  describe_life(m, block);
  describe_text(m, "compile_context", recording, block.texts.context);
  describe_text(m, "user_metadata", recording, block.texts.metadata);
  const int64_t annotations_left_out = describe_annotations(m, recording, block.annotations);
  m.written_by_name({"extras", "What else the file says of it."},
                    [&](JsonWriter& json) { extras_left_out = extras_to_json(json, recording, block); });
  const int64_t frames_left_out = describe_frames(m, recording, block.stack);
  describe_stack_from(m, block.stack_from);
  m.text("who", [&] { return who_or_none(recording, block.who); });
  describe_text(m, "forward_frames", recording, block.forward_frames);
  m.values(As::text, "no_stack_reasons", block.no_stack_reasons,
           [](analysis::NoStackReason reason) { return to_text(reason); });
  m.count("annotations_left_out", annotations_left_out);
  m.count("extras_left_out", extras_left_out);
  m.count("frames_left_out", frames_left_out);
}

}  // namespace gpustrata::answers
