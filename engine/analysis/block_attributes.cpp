#include "engine/analysis/block_attributes.h"

#include "engine/analysis/block_sources.h"
#include "engine/replay/memory_at.h"
#include "engine/replay/segment_index.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] std::vector<int32_t> number_streams(const model::Recording& recording,
                                                  const model::Part& part) {
  std::vector<int32_t> numbers(recording.streams.size(), -1);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (recording.streams[i] == 0) numbers[i] = 0;
  }
  int32_t last = 0;
  const auto see = [&](StreamId id) {
    if (!id.is_none() && numbers[id.index()] < 0) numbers[id.index()] = ++last;
  };
  for (const model::DeviceTrace& trace : part.traces) {
    for (int32_t row = trace.events.first; row < trace.events.end(); ++row)
      see(recording.events.stream[static_cast<size_t>(row)]);
  }
  for (int32_t row = part.segments.first; row < part.segments.end(); ++row)
    see(recording.segments.stream[static_cast<size_t>(row)]);
  return numbers;
}

}  // namespace

Result<BlockAttributes> block_attributes(const model::Recording& recording, const model::Part& part,
                                         const replay::BlockLives& lifetimes) {
  const auto count = static_cast<size_t>(lifetimes.count());
  BlockAttributes found(recording.budget);
  replay::SegmentIndex segments(recording.budget);
  Column<AddressAndRow> final_blocks(recording.budget);
  if (!segments.build(recording, part, lifetimes.device) ||
      !collect_final_blocks(recording, part, lifetimes.device, final_blocks) ||
      !found.stack.resize(count, StackId{}) || !found.stream.resize(count, StreamId{}) ||
      !found.pool.resize(count, PoolId{})) {
    return fail(ErrorCode::limit_exceeded, -1,
                "not enough memory for stack, stream and pool of {} blocks: {} bytes would be needed",
                lifetimes.count(), recording.budget.needed());
  }
  found.stream_number = number_streams(recording, part);

  const model::EventTable& events = recording.events;
  for (int32_t rank = 0; rank < lifetimes.count(); ++rank) {
    const auto r = static_cast<size_t>(rank);
    const uint64_t address = lifetimes.address(recording, rank);
    const int32_t born = lifetimes.born[r];
    int32_t final_block = born < 0 ? lifetimes.source[r] : -1;
    if (final_block < 0 && lifetimes.freed[r] >= lifetimes.events.count)
      final_block = row_at(final_blocks, address);
    const auto row_of = [&](int32_t event) { return static_cast<size_t>(lifetimes.events.first + event); };
    const StackId at_alloc = born >= 0 ? events.stack[row_of(born)] : StackId{};
    const bool has_own_stack = !at_alloc.is_none() && recording.stacks.leaf(at_alloc) >= 0;
    const int32_t free_event = has_own_stack ? -1 : find_free(recording, lifetimes, rank, final_block).event;
    found.stack[r] = choose_stack(recording, lifetimes, rank, final_block, free_event).stack;
    const int32_t told = born >= 0 ? born : free_event;
    if (told >= 0) {
      found.stream[r] = events.stream[row_of(told)];
      found.pool[r] = events.pool[row_of(told)];
    }
    if (told >= 0 && !found.pool[r].is_none()) continue;
    const int32_t segment = segments.row_around(address);
    if (segment < 0) continue;
    if (told < 0) found.stream[r] = recording.segments.stream[static_cast<size_t>(segment)];
    found.pool[r] = recording.segments.pool[static_cast<size_t>(segment)];
  }
  return found;
}

Result<BlockAttributes> segment_attributes(const model::Recording& recording, const model::Part& part,
                                           const replay::StateHistory& history,
                                           std::span<const int32_t> row_of_rank) {
  BlockAttributes found(recording.budget);
  for (const int32_t row : row_of_rank) {
    const auto r = static_cast<size_t>(row);
    if (!found.stack.push_back(replay::stack_of_range(recording, history, row)) ||
        !found.stream.push_back(history.range_stream[r]) || !found.pool.push_back(history.range_pool[r])) {
      return fail(ErrorCode::limit_exceeded, -1,
                  "not enough memory for stack, stream and pool of {} segments", row_of_rank.size());
    }
  }
  found.stream_number = number_streams(recording, part);
  return found;
}

}  // namespace gpustrata::analysis
