#include "engine/analysis/block_label.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/analysis/block_sources.h"
#include "engine/analysis/frame_filter.h"
#include "engine/base/json_writer.h"
#include "engine/base/utf8.h"

namespace memstrata::analysis {

namespace {

constexpr int32_t kFurthestRequestOfLabel = 1000;  // events; a picture has many labels
constexpr size_t kMostFramesRead = 100;
constexpr size_t kLongestText = 400;

}  // namespace

std::string label_frames_json(const model::Recording& recording, const model::Snapshot& snapshot,
                              const replay::Lifetimes& lifetimes, int32_t rank) {
  const auto r = static_cast<size_t>(rank);
  int32_t final_block = -1;
  if (rank < lifetimes.from_start && lifetimes.source[r] >= 0) {
    final_block = lifetimes.source[r];
  } else if (lifetimes.freed[r] >= lifetimes.events.count) {
    final_block = find_final_block(recording, snapshot, lifetimes.device, lifetimes.address(recording, rank));
  }
  const FreeOf free = find_free(recording, lifetimes, rank, final_block, kFurthestRequestOfLabel);
  const BlockStack stack = choose_stack(recording, lifetimes, rank, final_block, free.event);
  return label_frames_json(recording, stack.from == StackFrom::nothing ? StackId() : stack.stack);
}

std::string label_frames_json(const model::Recording& recording, StackId stack) {
  JsonWriter json;
  json.begin_array();
  size_t read = 0;
  if (!stack.is_none()) {
    for (const FrameId id : recording.stacks.frames_of(stack)) {
      if (read++ == kMostFramesRead) break;
      const trace::Frame& frame = recording.frames[id];
      const std::string_view name = recording.strings.view(frame.name);
      const std::string_view file = recording.strings.view(frame.filename);
      json.begin_object();
      json.member("name", utf8::cut(name, kLongestText));
      json.member("file", utf8::cut(file, kLongestText));
      json.member("line", int64_t{std::max(frame.line, 0)});
      json.member("hidden", is_hidden(name, file));
      json.end_object();
    }
  }
  json.end_array();
  return std::move(json).text();
}

}  // namespace memstrata::analysis
