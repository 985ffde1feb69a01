#include "engine/analysis/device/block_attributes.h"

#include "engine/analysis/device/holder_stack.h"
#include "engine/base/memory_refused.h"
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
    for (int32_t row = trace.events.first; row < trace.events.end(); ++row) see(recording.events.stream[row]);
  }
  for (int32_t row = part.segments.first; row < part.segments.end(); ++row)
    see(recording.segments.stream[row]);
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
    return not_enough_memory(recording.budget,
                             fmt::format("for stack, stream and pool of {} blocks", lifetimes.count()));
  }
  found.stream_number = number_streams(recording, part);

  const model::EventTable& events = recording.events;
  const FreeStacks free_stacks = whose_free_stacks(recording, lifetimes);
  for (int32_t rank = 0; rank < lifetimes.count(); ++rank) {
    const BlockSource source = source_of(recording, lifetimes, final_blocks, rank);
    found.stack[rank] = holder_stack(source, free_stacks);
    const int32_t told = lifetimes.born[rank] >= 0 ? lifetimes.born[rank] : source.free_event;
    if (told >= 0) {
      const auto row = static_cast<size_t>(lifetimes.events.first + told);
      found.stream[rank] = events.stream[row];
      found.pool[rank] = events.pool[row];
    }
    if (told >= 0 && !found.pool[rank].is_none()) continue;
    const int32_t segment = segments.row_around(lifetimes.address(recording, rank));
    if (segment < 0) continue;
    if (told < 0) found.stream[rank] = recording.segments.stream[segment];
    found.pool[rank] = recording.segments.pool[segment];
  }
  return found;
}

Result<BlockAttributes> segment_attributes(const model::Recording& recording, const model::Part& part,
                                           const replay::StateHistory& history,
                                           std::span<const int32_t> row_of_rank) {
  BlockAttributes found(recording.budget);
  for (const int32_t row : row_of_rank) {
    if (!found.stack.push_back(replay::stack_of_range(recording, history, row)) ||
        !found.stream.push_back(history.range_stream[row]) ||
        !found.pool.push_back(history.range_pool[row])) {
      return fail(ErrorCode::limit_exceeded, -1,
                  "not enough memory for stack, stream and pool of {} segments", row_of_rank.size());
    }
  }
  found.stream_number = number_streams(recording, part);
  return found;
}

}  // namespace gpustrata::analysis
