#include "engine/io/journal/running_state.h"

#include <algorithm>
#include <iterator>

#include "engine/trace/action.h"

namespace gpustrata::io::journal {

namespace {

using trace::Action;

// What an entry of a map takes: its node, and what the C library puts around it.
constexpr int64_t kSegmentBytes = sizeof(SegmentRecord) + 64;
constexpr int64_t kBlockBytes = sizeof(BlockRecord) + 64;

[[nodiscard]] bool is_range(uint64_t address, int64_t size) {
  return size > 0 && size <= alloc::kLargestRequest && static_cast<uint64_t>(size) <= UINT64_MAX - address;
}
[[nodiscard]] uint64_t end_of(const SegmentRecord& segment) {
  return segment.address + static_cast<uint64_t>(segment.size);
}

// The segment around the address, or end().
template <typename Segments>
[[nodiscard]] auto around(Segments& segments, uint64_t address) {
  auto after = segments.upper_bound(address);
  if (after == segments.begin()) return segments.end();
  const auto found = std::prev(after);
  return address < end_of(found->second) ? found : segments.end();
}

[[nodiscard]] bool can_join(const SegmentRecord& one, const SegmentRecord& other) {
  return one.expandable != 0 && other.expandable != 0 && one.stream == other.stream &&
         one.graph_id == other.graph_id && one.user_id == other.user_id &&
         one.size <= alloc::kLargestRequest - other.size;
}

[[nodiscard]] SegmentRecord segment_of(const EventRecord& event, bool expandable) {
  SegmentRecord segment{};
  segment.head = head_of<SegmentRecord>(RecordKind::segment, event.head.device);
  segment.address = event.address;
  segment.size = event.size;
  segment.stream = event.stream;
  segment.graph_id = event.graph_id;
  segment.user_id = event.user_id;
  segment.stack = event.stack;
  segment.expandable = expandable ? 1 : 0;
  if (!expandable)
    segment.pool_size = event.size == alloc::kSmallBuffer ? SegmentSize::small : SegmentSize::large;
  return segment;
}

}  // namespace

RunningState::~RunningState() {
  for (const auto& [number, device] : devices_) {
    budget_.give_back(static_cast<int64_t>(device.segments.size()) * kSegmentBytes +
                      static_cast<int64_t>(device.blocks.size()) * kBlockBytes);
  }
}

void RunningState::begin(uint16_t number) {
  Device& device = devices_[number];
  while (!device.segments.empty()) drop_segment(device, device.segments.begin()->first);
  while (!device.blocks.empty()) drop_block(device, device.blocks.begin()->first);
  device.known = true;
}

bool RunningState::add(const SegmentRecord& segment) {
  if (is_range(segment.address, segment.size)) return insert(devices_[segment.head.device], segment);
  ++contradictions_;
  return true;
}

bool RunningState::add(const BlockRecord& block) {
  if (is_range(block.address, block.size)) return insert(devices_[block.head.device], block);
  ++contradictions_;
  return true;
}

bool RunningState::insert(Device& device, const SegmentRecord& segment) {
  const auto next = device.segments.lower_bound(segment.address);
  const bool meets_next = next != device.segments.end() && next->first < end_of(segment);
  const bool meets_previous =
      next != device.segments.begin() && end_of(std::prev(next)->second) > segment.address;
  if (meets_next || meets_previous) {
    ++contradictions_;
    return true;
  }
  if (!budget_.take(kSegmentBytes)) return false;
  device.segments.emplace_hint(next, segment.address, segment);
  return true;
}

bool RunningState::insert(Device& device, const BlockRecord& block) {
  const auto segment = around(device.segments, block.address);
  const auto next = device.blocks.lower_bound(block.address);
  const uint64_t end = block.address + static_cast<uint64_t>(block.size);
  const bool meets_next = next != device.blocks.end() && next->first < end;
  bool meets_previous = false;
  if (next != device.blocks.begin()) {
    const BlockRecord& previous = std::prev(next)->second;
    meets_previous = previous.address + static_cast<uint64_t>(previous.size) > block.address;
  }
  if (segment == device.segments.end() || end > end_of(segment->second) || meets_next || meets_previous) {
    ++contradictions_;
    return true;
  }
  if (!budget_.take(kBlockBytes)) return false;
  device.blocks.emplace_hint(next, block.address, block);
  return true;
}

void RunningState::drop_block(Device& device, uint64_t address) {
  if (device.blocks.erase(address) > 0) {
    budget_.give_back(kBlockBytes);
  } else {
    ++contradictions_;
  }
}

void RunningState::drop_segment(Device& device, uint64_t address) {
  if (device.segments.erase(address) > 0) {
    budget_.give_back(kSegmentBytes);
  } else {
    ++contradictions_;
  }
}

bool RunningState::allocate(Device& device, const EventRecord& event) {
  const auto segment = around(device.segments, event.address);
  if (segment == device.segments.end() || !is_range(event.address, std::max<int64_t>(event.size, 1))) {
    ++contradictions_;
    return true;
  }
  uint64_t end = end_of(segment->second);
  const auto next = device.blocks.lower_bound(event.address);
  if (next != device.blocks.end()) end = std::min(end, next->first);
  const auto room = static_cast<int64_t>(end - event.address);
  const int64_t rounded = config.round_size(std::max<int64_t>(event.size, 1));
  const bool small = alloc::Config::is_small(rounded);
  const bool splits = small || segment->second.expandable != 0
                          ? room - rounded >= alloc::kMinBlockSize
                          : rounded < config.max_split_size && room - rounded > alloc::kSmallSize;
  if (segment->second.pool_size == SegmentSize::unknown)
    segment->second.pool_size = small ? SegmentSize::small : SegmentSize::large;
  BlockRecord block{};
  block.head = head_of<BlockRecord>(RecordKind::block, event.head.device);
  block.address = event.address;
  block.size = splits ? rounded : room;
  block.requested_size = event.size;
  block.stack = event.stack;
  block.metadata = event.metadata;
  if (room < std::max<int64_t>(event.size, 1)) {  // another block is in the way
    ++contradictions_;
    return true;
  }
  return insert(device, block);
}

bool RunningState::map(Device& device, const EventRecord& event) {
  if (!is_range(event.address, event.size)) {
    ++contradictions_;
    return true;
  }
  const size_t before = device.segments.size();
  if (!insert(device, segment_of(event, true))) return false;
  if (device.segments.size() == before) return true;
  // Neighbours are listed as one.
  auto here = device.segments.find(event.address);
  const auto next = std::next(here);
  if (next != device.segments.end() && end_of(here->second) == next->first &&
      can_join(here->second, next->second)) {
    here->second.size += next->second.size;
    if (here->second.pool_size == SegmentSize::unknown) here->second.pool_size = next->second.pool_size;
    drop_segment(device, next->first);
  }
  if (here != device.segments.begin()) {
    const auto previous = std::prev(here);
    if (end_of(previous->second) == here->first && can_join(previous->second, here->second)) {
      previous->second.size += here->second.size;
      if (previous->second.pool_size == SegmentSize::unknown)
        previous->second.pool_size = here->second.pool_size;
      drop_segment(device, here->first);
    }
  }
  return true;
}

bool RunningState::unmap(Device& device, const EventRecord& event) {
  const auto found = around(device.segments, event.address);
  if (!is_range(event.address, event.size) || found == device.segments.end() ||
      static_cast<uint64_t>(event.size) > end_of(found->second) - event.address) {
    ++contradictions_;
    return true;
  }
  const SegmentRecord whole = found->second;
  const uint64_t end = event.address + static_cast<uint64_t>(event.size);
  drop_segment(device, whole.address);
  SegmentRecord rest = whole;
  rest.size = static_cast<int64_t>(event.address - whole.address);
  if (rest.size > 0 && !insert(device, rest)) return false;
  rest = whole;
  rest.address = end;
  rest.size = static_cast<int64_t>(end_of(whole) - end);
  return rest.size == 0 || insert(device, rest);
}

bool RunningState::apply(const EventRecord& event) {
  if (event.action == kRegionBegin || event.action == kRegionEnd) return true;
  Device& device = devices_[event.head.device];
  ++device.events;
  if (!device.known || event.action >= static_cast<uint32_t>(Action::first_unknown)) return true;
  switch (static_cast<Action>(event.action)) {
    case Action::alloc:
      return allocate(device, event);
    case Action::free_requested:
      if (const auto block = device.blocks.find(event.address); block != device.blocks.end()) {
        block->second.pending = 1;
      } else {
        ++contradictions_;
      }
      return true;
    case Action::free_completed:
    case Action::free:
      drop_block(device, event.address);
      return true;
    case Action::segment_alloc:
      if (is_range(event.address, event.size)) return insert(device, segment_of(event, false));
      ++contradictions_;
      return true;
    case Action::segment_free:
      drop_segment(device, event.address);
      return true;
    case Action::segment_map:
      return map(device, event);
    case Action::segment_unmap:
      return unmap(device, event);
    default:
      return true;
  }
}

}  // namespace gpustrata::io::journal
