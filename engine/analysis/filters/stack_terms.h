// The terms of a filter that are about stacks and streams, of rows of any kind (blocks, segments, events).
#pragma once

#include <cstdint>

#include "engine/analysis/device/device.h"
#include "engine/analysis/filters/filter_tree.h"
#include "engine/analysis/stacks/frame_pattern.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

// call: `stack_of(row)`
template <typename StackOf>
[[nodiscard, gnu::noinline]] Result<Mask> call_term(const model::Recording& recording, const FilterNode& term,
                                                    int32_t rows, const StackOf& stack_of) {
  const auto pattern = parse_frame_pattern(term.text);
  Mask nodes(recording.budget);
  if (!pattern || !find_nodes_with(recording, *pattern, nodes))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to look for a call in all stacks");
  return mask_where(recording.budget, rows, [&](size_t row) {
    const StackId stack = stack_of(row);
    const int32_t leaf = stack.is_none() ? -1 : recording.stacks.leaf(stack);
    return leaf >= 0 && nodes[leaf] != 0;
  });
}

// who: `stack_of(row)`
template <typename StackOf>
[[nodiscard, gnu::noinline]] Result<Mask> who_term(Device& device, const FilterNode& term, int32_t rows,
                                                   const StackOf& stack_of) {
  const model::Recording& recording = device.recording();
  const auto pattern = parse_frame_pattern(term.text);
  const auto who_of = device.who();
  if (!who_of) return tl::unexpected(who_of.error());
  Mask frames(recording.budget);
  if (!pattern || !find_frames_meant(recording, *pattern, frames))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to tell who asked for all of it");
  return mask_where(recording.budget, rows, [&](size_t row) {
    const Who who = (**who_of)(stack_of(row));
    return who.kind != Who::Kind::nothing && frames[who.frame.index()] != 0;
  });
}

// stream: a number as the details show it, or a handle.
template <typename NumberOf>
[[nodiscard]] bool is_stream(const model::Recording& recording, const FilterNode& term, StreamId stream,
                             const NumberOf& number_of) {
  if (term.text.empty()) return number_of(stream) == term.low;
  return (stream.is_none() ? 0 : recording.streams[stream.index()]) == term.low;
}

}  // namespace gpustrata::analysis
