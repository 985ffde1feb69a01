#include "engine/answers/details/block_details.h"

#include <fmt/core.h>

#include <optional>
#include <string>

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

[[nodiscard]] std::string_view name_of(BlockDetails::KnownBy by) {
  return by == BlockDetails::KnownBy::alloc  ? "traced"
         : by == BlockDetails::KnownBy::free ? "freed_only"
                                             : "final_only";
}

void place_to_json(JsonWriter& json, const model::Recording& recording, const BlockDetails& block) {
  json.member("stream", block.stream_number);
  json.member("stream_handle", analysis::handle_text(recording, block.stream));
  json.key("pool");
  pool_to_json(json, recording, block.pool);
  json.key("pool_from");
  if (block.pool_from == BlockDetails::PoolFrom::nothing) {
    json.null();
  } else {
    json.value(block.pool_from == BlockDetails::PoolFrom::event ? "event" : "segment");
  }
}

void life_to_json(JsonWriter& json, const BlockDetails& block) {
  json.member("born_event", block.born_event);
  json.member("free_requested_event", known(block.free_requested_event));
  json.member("freed_event", known(block.freed_event));
  json.member("born_time_us", block.born_time_us);
  json.member("freed_time_us", block.freed_time_us);
  json.member("lifetime_events", block.lifetime_events);
  json.member("lifetime_us", block.lifetime_us);
  json.member("total_after", block.total_after);
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

void to_json(JsonWriter& json, const model::Recording& recording, const BlockDetails& block) {
  json.begin_object();
  json.member("rank", block.rank);
  json.member("name", analysis::block_name(block.address, block.version));
  json.member("address", fmt::format("{:#x}", block.address));
  json.member("version", block.version);
  json.member("kind", name_of(block.known_by));
  json.member("requested_size", block.requested_size);
  json.member("block_size", block.block_size);
  json.key("state");
  if (block.state) {
    json.value(*block.state == model::BlockState::active_allocated ? "active_allocated"
                                                                   : "active_pending_free");
  } else {
    json.null();
  }
  place_to_json(json, recording, block);
  life_to_json(json, block);
  text_to_json(json, "compile_context", recording, block.texts.context);
  text_to_json(json, "user_metadata", recording, block.texts.metadata);
  json.key("annotations");
  const int64_t annotations_left_out = annotations_to_json(json, recording, block.annotations);
  json.key("extras");
  const int64_t extras_left_out = extras_to_json(json, recording, block);
  json.key("frames");
  const int64_t frames_left_out = frames_to_json(json, recording, block.stack);
  json.key("stack_of");
  stack_from_to_json(json, block.stack_from);
  who_to_json(json, recording, block.who);
  text_to_json(json, "forward_frames", recording, block.forward_frames);
  json.key("no_stack_reasons");
  json.begin_array();
  for (const analysis::NoStackReason reason : block.no_stack_reasons) json.value(to_text(reason));
  json.end_array();
  json.member("annotations_left_out", annotations_left_out);
  json.member("extras_left_out", extras_left_out);
  json.member("frames_left_out", frames_left_out);
  json.end_object();
}

}  // namespace gpustrata::answers
