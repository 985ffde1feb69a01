// Random recordings of one device whose events have stacks: some without frames, some of own code, packages, operators.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/stacks/frame_keys.h"
#include "tests/property/random.h"
#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::analysis {

inline void make_random_calls(replay::HandTrace& trace, Random& random, int32_t events) {
  constexpr std::array<const char*, 5> kFiles = {
      "/run/model.py", "/run/train.py", "/env/lib/python3.11/site-packages/torch/nn/modules/module.py",
      "/env/lib/python3.11/site-packages/mylib/layers.py", "??"};
  constexpr std::array<const char*, 6> kNames = {
      "forward", "train", "_call_impl", "_PyEval_Vector", "at::_ops::add_Tensor::call", "step"};
  std::vector<StackId> stacks{StackId{}, trace.recording.stacks.intern({})};
  for (int32_t i = 0; i < 30; ++i) {
    std::vector<FrameId> frames;
    for (int32_t k = random.below(7); k >= 0; --k) {
      const char* const file = kFiles[static_cast<size_t>(random.below(kFiles.size()))];
      const char* const name = kNames[static_cast<size_t>(random.below(kNames.size()))];
      frames.push_back(trace.recording.frames.intern(
          {trace.recording.strings.intern(name), trace.recording.strings.intern(file), random.below(3), -1}));
    }
    stacks.push_back(trace.recording.stacks.intern(frames));
  }
  std::vector<std::pair<uint64_t, int64_t>> live{{0x500000, 77}, {0x600000, 5}};
  uint64_t next = 0x1000;
  int64_t time = random.below(2) == 0 ? model::kNoTime : 1000;
  for (int32_t i = 0; i < events; ++i) {
    if (time != model::kNoTime) time += random.below(5);
    if (!live.empty() && random.below(5) < 2) {
      const auto at = static_cast<size_t>(random.below(static_cast<int32_t>(live.size())));
      trace.event(trace::Action::free_completed, live[at].first, live[at].second, time);
      live.erase(live.begin() + static_cast<ptrdiff_t>(at));
    } else {
      live.emplace_back(next, 1 + random.below(1000));
      trace.event(trace::Action::alloc, next, live.back().second, time);
      next += 0x1000;
    }
    trace.recording.events.stack.back() =
        stacks[static_cast<size_t>(random.below(static_cast<int32_t>(stacks.size())))];
  }
  // The final state has some of them, and one that no event tells of.
  live.emplace_back(0x700000, 40);
  for (const auto& [address, size] : live) {
    if (random.below(3) == 0) continue;
    trace.segment(address, size).block(address, size, size, model::BlockState::active_allocated);
    trace.recording.blocks.stack.back() =
        stacks[static_cast<size_t>(random.below(static_cast<int32_t>(stacks.size())))];
  }
}

// What a frame is to the reader: its text, less what `by` leaves out.
inline std::string text_of(const model::Recording& recording, FrameKey by, FrameId id) {
  const trace::Frame& frame = recording.frames[id];
  std::string text(recording.strings.view(frame.filename));
  if (by != FrameKey::file) text += "|" + std::string(recording.strings.view(frame.name));
  if (by == FrameKey::line) text += "|" + std::to_string(std::max(frame.line, 0));
  return text;
}

}  // namespace gpustrata::analysis
