// A HandTrace whose events and blocks also have stacks, streams, pools and texts.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::analysis {

class Story : public replay::HandTrace {
 public:
  // Frames are named f@file.py:line by "f", "file.py", line 1 unless frame() made another one.
  [[nodiscard]] StackId stack(std::initializer_list<std::string_view> names) {
    std::vector<FrameId> frames;
    for (const std::string_view name : names) frames.push_back(frame(name, "file.py", 1));
    return recording.stacks.intern(frames);
  }
  [[nodiscard]] FrameId frame(std::string_view name, std::string_view file, int32_t line) {
    return recording.frames.intern({text(name), text(file), line, -1});
  }
  [[nodiscard]] StringId text(std::string_view value) { return recording.strings.intern(value); }

  // Of the last event.
  Story& frames(std::initializer_list<std::string_view> names) {
    return with(recording.events.stack, stack(names));
  }
  Story& stream(int64_t handle) { return with(recording.events.stream, recording.stream_of(handle)); }
  Story& pool(int64_t graph, int64_t user) {
    return with(recording.events.pool, recording.pool_of({graph, user}));
  }
  Story& metadata(std::string_view value) { return with(recording.events.metadata, text(value)); }
  Story& context(std::string_view value) { return with(recording.events.context, text(value)); }
  Story& time(int64_t time_us) { return with(recording.events.time, time_us); }
  Story& extra(std::string_view key, std::string_view value) {
    const auto row = static_cast<int32_t>(recording.events.size_rows()) - 1;
    stored_ &= recording.extras.owner.push_back(model::Owner::event) && recording.extras.row.push_back(row) &&
               recording.extras.key.push_back(text(key)) && recording.extras.value.push_back(text(value));
    return *this;
  }
  // Of the last block and segment.
  Story& block_frames(std::initializer_list<std::string_view> names) {
    return with(recording.blocks.stack, stack(names));
  }
  Story& segment_stream(int64_t handle) {
    return with(recording.segments.stream, recording.stream_of(handle));
  }
  Story& segment_pool(int64_t graph, int64_t user) {
    return with(recording.segments.pool, recording.pool_of({graph, user}));
  }

  Story& alloc(uint64_t address, int64_t size) { return as_story(HandTrace::alloc(address, size)); }
  Story& request(uint64_t address, int64_t size) { return as_story(HandTrace::request(address, size)); }
  Story& complete(uint64_t address, int64_t size) { return as_story(HandTrace::complete(address, size)); }
  Story& annotate(uint64_t address, std::string_view note) {
    HandTrace::event(trace::Action::annotate, address, 0);
    return metadata(note);
  }

  [[nodiscard]] bool stored() const { return stored_ && ok(); }

 private:
  static Story& as_story(HandTrace& trace) { return static_cast<Story&>(trace); }
  template <typename Values, typename T>
  Story& with(Values& column, T value) {
    column.back() = value;
    return *this;
  }

  bool stored_ = true;
};

}  // namespace gpustrata::analysis
