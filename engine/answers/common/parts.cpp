#include "engine/answers/common/parts.h"

#include <algorithm>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

namespace {

void frame_to_json(JsonWriter& json, const model::Recording& recording, const analysis::FrameLine& line,
                   bool own) {
  const trace::Frame& frame = recording.frames[line.frame];
  json.begin_object();
  json.member("text", in_list(analysis::frame_text(recording, line.frame)));
  json.member("name", in_list(recording.strings.view(frame.name)));
  json.member("file", in_list(recording.strings.view(frame.filename)));
  json.member("line", std::max(frame.line, 0));
  json.member("repeats", line.repeats);
  json.member("hidden", line.hidden);
  json.member("own", own);
  json.key("fx");
  json.begin_array();
  for (const std::string& text : analysis::fx_lines(recording, line.frame)) json.value(in_list(text));
  json.end_array();
  json.end_object();
}

// Stands for frames that found no room, in the shape of a frame.
void more_frames_to_json(JsonWriter& json, int64_t count) {
  json.begin_object();
  json.member("text", more_text(count));
  for (const char* nothing : {"name", "file"}) json.member(nothing, "");
  json.member("line", 0);
  json.member("repeats", 1);
  json.member("hidden", false);
  json.member("own", false);
  json.key("fx");
  json.begin_array();
  json.end_array();
  json.end_object();
}

}  // namespace

void pool_to_json(JsonWriter& json, const model::Recording& recording, PoolId pool) {
  if (pool.is_none()) {
    json.null();
    return;
  }
  const model::Pool& key = recording.pools[pool.index()];
  json.begin_array();
  json.value(static_cast<uint64_t>(key.graph_id));
  json.value(static_cast<uint64_t>(key.user_id));
  json.end_array();
}

int64_t frames_to_json(JsonWriter& json, const model::Recording& recording, StackId stack) {
  json.begin_array();
  int64_t left_out = 0;
  if (!stack.is_none()) {
    left_out = static_cast<int64_t>(recording.stacks.frames_of(stack).size());
    const analysis::OwnFrames own(recording, stack);
    Room room(json);
    for (const analysis::FrameLine& line : analysis::frame_lines(recording, stack)) {
      if (!room.for_one_more()) break;
      frame_to_json(json, recording, line, own.is_own(line.frame));
      left_out -= line.repeats;
    }
    if (left_out > 0) more_frames_to_json(json, left_out);
  }
  json.end_array();
  return left_out;
}

int64_t annotations_to_json(JsonWriter& json, const model::Recording& recording,
                            const analysis::Annotations& annotations) {
  json.begin_array();
  Room room(json);
  for (const StringId text : annotations.texts) {
    if (room.for_one_more()) json.value(in_list(recording.strings.view(text)));
  }
  room.leave_out(annotations.left_out);
  if (room.left_out() > 0) json.value(more_text(room.left_out()));
  json.end_array();
  return room.left_out();
}

void text_to_json(JsonWriter& json, std::string_view name, const model::Recording& recording, StringId text) {
  json.key(name);
  if (text.is_none()) {
    json.null();
  } else {
    json.value(utf8::cut(recording.strings.view(text), kLongestText));
  }
}

void stack_from_to_json(JsonWriter& json, analysis::StackFrom from) {
  switch (from) {
    case analysis::StackFrom::alloc:
      return json.value("alloc");
    case analysis::StackFrom::free:
      return json.value("free");
    case analysis::StackFrom::block:
      return json.value("block");
    case analysis::StackFrom::nothing:
      break;
  }
  json.null();
}

std::string_view name_of(model::BlockState state) {
  switch (state) {
    case model::BlockState::active_allocated:
      return "active_allocated";
    case model::BlockState::active_pending_free:
      return "active_pending_free";
    case model::BlockState::inactive:
      return "inactive";
    case model::BlockState::unknown:
      break;
  }
  return "unknown";
}

void both_to_json(JsonWriter& json, std::string_view name, const analysis::BeforeAfter& both) {
  json.key(name);
  json.begin_object();
  json.member("before", both.before);
  json.member("after", both.after);
  json.member("growth", both.growth());
  json.end_object();
}

std::optional<int32_t> device_or_null(int32_t device) {
  return device == model::kUnknownDevice ? std::nullopt : std::optional(device);
}

}  // namespace gpustrata::answers
