#include "engine/analysis/bounded_json.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/analysis/frame_filter.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace memstrata::analysis {

std::string more_text(int64_t count) { return fmt::format("… {} more", count_text(count)); }

std::string in_list(std::string_view text) { return utf8::cut(text, kLongestInList); }

namespace {

void write_frame(JsonWriter& json, const model::Recording& recording, const FrameLine& line) {
  const trace::Frame& frame = recording.frames[line.frame];
  json.begin_object();
  json.member("text", in_list(frame_text(recording, line.frame)));
  json.member("name", in_list(recording.strings.view(frame.name)));
  json.member("file", in_list(recording.strings.view(frame.filename)));
  json.member("line", std::max(frame.line, 0));
  json.member("repeats", line.repeats);
  json.member("hidden", line.hidden);
  json.key("fx");
  json.begin_array();
  for (const std::string& text : fx_lines(recording, line.frame)) json.value(in_list(text));
  json.end_array();
  json.end_object();
}

// Stands for frames that found no room, in the shape of a frame.
void write_more_frames(JsonWriter& json, int64_t count) {
  json.begin_object();
  json.member("text", more_text(count));
  for (const char* nothing : {"name", "file"}) json.member(nothing, "");
  json.member("line", 0);
  json.member("repeats", 1);
  json.member("hidden", false);
  json.key("fx");
  json.begin_array();
  json.end_array();
  json.end_object();
}

}  // namespace

int64_t write_frames(JsonWriter& json, const model::Recording& recording, StackId stack) {
  json.begin_array();
  int64_t left_out = 0;
  if (!stack.is_none()) {
    left_out = static_cast<int64_t>(recording.stacks.frames_of(stack).size());
    Room room(json);
    for (const FrameLine& line : frame_lines(recording, stack)) {
      if (!room.for_one_more()) break;
      write_frame(json, recording, line);
      left_out -= line.repeats;
    }
    if (left_out > 0) write_more_frames(json, left_out);
  }
  json.end_array();
  return left_out;
}

}  // namespace memstrata::analysis
