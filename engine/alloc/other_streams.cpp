// Frees that wait for other streams.
#include <utility>
#include <vector>

#include "engine/alloc/device_allocator.h"

namespace gpustrata::alloc {

// A mark in every stream that uses the block; the last one to be reached completes the free.
void DeviceAllocator::record_marks(BlockId id, const Origin& origin) {
  const std::vector<int64_t> streams = cross_.streams_of(id);
  cross_.drop_uses(id);
  for (const int64_t stream : streams) {
    const auto event = device_.record_event(stream);
    if (event && cross_.add_mark(stream, {*event, id})) continue;
    device_.wait_for_stream(stream);  // slow, but nobody may touch the block any more
    if (event) device_.release_event(*event);
    ++forced_waits_;
  }
  if (!cross_.has_marks(id)) complete_free(id, origin);
}

void DeviceAllocator::process_events(const Origin& origin) {
  if (!deferred_.empty()) complete_deferred_frees(origin);
  if (cross_.outstanding() == 0 || !device_.may_have_finished()) return;
  cross_.take_marks(
      [&](const CrossStream::Mark& mark) {
        return device_.is_finished(mark.event) ? CrossStream::Verdict::take
                                               : CrossStream::Verdict::leave_stream;
      },
      [&](const CrossStream::Mark& mark, bool is_last) {
        device_.release_event(mark.event);
        if (is_last) complete_free(mark.block, origin);
      });
}

// Waits for all marks, or for those of one pool's blocks.
void DeviceAllocator::wait_for_events(const Origin& origin, const BlockPool* only) {
  cross_.take_marks(
      [&](const CrossStream::Mark& mark) {
        return only == nullptr || &pool_of(mark.block) == only ? CrossStream::Verdict::take
                                                               : CrossStream::Verdict::keep;
      },
      [&](const CrossStream::Mark& mark, bool is_last) {
        device_.wait(mark.event);
        device_.release_event(mark.event);
        if (is_last) complete_free(mark.block, origin);
      });
}

// Routing and captures are over: uses that were recorded only then are forgotten, the others get their marks.
void DeviceAllocator::complete_deferred_frees(const Origin& origin) {
  const std::vector<DeferredFree> deferred = std::exchange(deferred_, {});
  for (const DeferredFree& free : deferred) {
    cross_.drop_capture_uses(free.block);
    record_marks(free.block, origin);
  }
}

// graph_capture_record_stream_reuse: the ends of the captured graph on the streams that use a block. Work
// behind all of them may use its memory again within the capture. Empty if one of the streams is not
// captured.
std::vector<uint64_t> DeviceAllocator::capture_markers(BlockId id) const {
  if (!config_.graph_capture_record_stream_reuse) return {};
  std::vector<int64_t> streams = cross_.streams_of(id);
  streams.push_back(state_.segment_of(id).stream);
  std::vector<uint64_t> markers;
  for (const int64_t stream : streams) {
    const auto terminals = device_.capture_terminals(stream);
    if (!terminals) return {};
    markers.insert(markers.end(), terminals->begin(), terminals->end());
  }
  return markers;
}

void DeviceAllocator::reuse_in_capture(int64_t stream, const Origin& origin) {
  // Nothing follows the nodes of a capture on a stream that is in none; a simulated device has no captures.
  if (deferred_.empty() || !device_.capture_terminals(stream)) return;
  std::vector<BlockId> reusable;
  std::erase_if(deferred_, [&](const DeferredFree& free) {
    const bool is_safe = !free.markers.empty() && state_.segment_of(free.block).stream == stream &&
                         device_.all_terminals_follow(stream, free.markers);
    if (is_safe) reusable.push_back(free.block);
    return is_safe;
  });
  for (const BlockId block : reusable) {
    cross_.drop_uses(block);
    complete_free(block, origin);
  }
}

}  // namespace gpustrata::alloc
