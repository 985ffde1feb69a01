#include "engine/answers/block_label.h"

#include <algorithm>

#include "engine/analysis/frame_filter.h"
#include "engine/analysis/own_frame.h"
#include "engine/base/utf8.h"

namespace memstrata::answers {

namespace {

constexpr size_t kMostFramesRead = 100;
constexpr size_t kLongestText = 400;

}  // namespace

void label_frames_to_json(JsonWriter& json, const model::Recording& recording, StackId stack) {
  json.begin_array();
  size_t read = 0;
  if (!stack.is_none()) {
    const analysis::OwnFrames own(recording, stack);
    for (const FrameId id : recording.stacks.frames_of(stack)) {
      if (read++ == kMostFramesRead) break;
      const trace::Frame& frame = recording.frames[id];
      const std::string_view name = recording.strings.view(frame.name);
      const std::string_view file = recording.strings.view(frame.filename);
      json.begin_object();
      json.member("name", utf8::cut(name, kLongestText));
      json.member("file", utf8::cut(file, kLongestText));
      json.member("line", int64_t{std::max(frame.line, 0)});
      json.member("hidden", analysis::is_hidden(name, file));
      json.member("own", own.is_own(id));
      json.end_object();
    }
  }
  json.end_array();
}

}  // namespace memstrata::answers
