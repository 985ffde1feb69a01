#include "engine/analysis/findings/cache_flushes.h"

#include <algorithm>
#include <string_view>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/base/saturating.h"
#include "engine/simulate/segment_actions.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] bool empties_cache(const model::Recording& recording, StackId stack) {
  int32_t node = stack.is_none() ? -1 : recording.stacks.leaf(stack);
  for (size_t i = 0; node >= 0 && i < kMostFrames; ++i) {
    const trace::StackTable::Node& one = recording.stacks.node(node);
    const std::string_view function = recording.strings.view(recording.frames[one.frame].name);
    if (function.find("empty_cache") != std::string_view::npos ||
        function.find("emptyCache") != std::string_view::npos)
      return true;
    node = one.caller;
  }
  return false;
}

// Each allocation is one of the device's and goes back to it when it is freed, as a program does without a caching allocator.
[[nodiscard]] bool has_no_cache(const model::EventTable& events, const model::RowRange& rows) {
  using trace::Action;
  const auto follows = [&](size_t row, Action before) {
    return events.action[row - 1] == before && events.address[row - 1] == events.address[row] &&
           events.size[row - 1] == events.size[row];
  };
  bool is_seen = false;
  // The first row may be within a call: older ones are lost.
  for (int32_t event = 1; event < rows.count; ++event) {
    const size_t row = static_cast<size_t>(rows.first) + static_cast<size_t>(event);
    const Action action = events.action[row];
    if (action != Action::alloc && !simulate::gives_memory_back(action)) continue;
    const bool is_alone = action == Action::alloc
                              ? follows(row, Action::segment_alloc)
                              : action == Action::segment_free && follows(row, Action::free_completed);
    if (!is_alone) return false;
    is_seen = true;
  }
  return is_seen;
}

}  // namespace

CacheFlushes find_cache_flushes(const model::Recording& recording, const replay::DeviceRows& rows,
                                bool collects_garbage) {
  const model::EventTable& events = recording.events;
  CacheFlushes found;
  if (has_no_cache(events, rows.events)) return found;
  const auto action = [&](int32_t at) { return events.action[rows.events.first + at]; };
  const auto is_of_segments = [&](int32_t at) {
    return simulate::takes_memory(action(at)) || simulate::gives_memory_back(action(at));
  };
  int32_t others = 0;  // the first event from `event` on that is not of segments
  for (int32_t event = 0; event < rows.events.count;) {
    if (!simulate::gives_memory_back(action(event))) {
      ++event;
      continue;
    }
    const int32_t first = event;
    int64_t bytes = 0;
    for (; event < rows.events.count && simulate::gives_memory_back(action(event)); ++event)
      add_saturated(bytes, std::max<int64_t>(events.size[rows.events.first + event], 0));
    const StackId stack = events.stack[rows.events.first + first];
    const auto is_of = [&](int32_t at) {
      return !stack.is_none() && stack == events.stack[rows.events.first + at];
    };
    const auto fails = [&](int32_t at) { return at < rows.events.count && action(at) == trace::Action::oom; };
    for (others = std::max(others, event); others < rows.events.count && is_of_segments(others);) ++others;
    const auto runs = [&]() -> CacheFlushes::Runs& {
      const bool takes = event < rows.events.count && simulate::takes_memory(action(event));
      if ((!fails(event) && !takes) || empties_cache(recording, stack)) return found.flushes;
      if (!is_of(event) || collects_garbage) return found.unclear;
      // Of an expandable segment a part may be mapped before there is no more.
      return fails(event) || (fails(others) && is_of(others)) ? found.failed : found.retries;
    };
    CacheFlushes::Runs& one = runs();
    if (one.count++ == 0) one.first = first;
    add_saturated(one.bytes, bytes);
    if (bytes > one.largest_bytes) {
      one.largest_bytes = bytes;
      one.largest = first;
    }
  }
  return found;
}

}  // namespace gpustrata::analysis
