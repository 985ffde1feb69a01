#include "engine/analysis/details/trace_program.h"

#include <algorithm>
#include <tuple>

namespace gpustrata::analysis {

using trace::Action;

TraceProgram::TraceProgram(const EventContext& context)
    : context_(context),
      block_numbers_(context.recording.budget),
      segment_numbers_(context.recording.budget),
      by_address_(context.recording.budget),
      place_(context.recording.budget),
      there_(context.recording.budget) {}

Result<TraceProgram> TraceProgram::of(const EventContext& context) {
  TraceProgram program(context);
  const replay::SpanHistory& ranges = context.history.ranges;
  const auto blocks = static_cast<size_t>(context.history.blocks.count());
  const auto count = static_cast<size_t>(ranges.count());
  if (!program.block_numbers_.resize(blocks, -1) || !program.segment_numbers_.resize(count, -1) ||
      !program.by_address_.resize(count, 0) || !program.place_.resize(count, 0) ||
      !program.there_.build(count)) {
    return fail(ErrorCode::limit_exceeded, -1,
                "Not enough memory for the names of {} blocks and {} segments.", blocks, count);
  }
  for (size_t i = 0; i < count; ++i) program.by_address_[i] = static_cast<int32_t>(i);
  std::sort(program.by_address_.data(), program.by_address_.data() + count, [&](int32_t a, int32_t b) {
    return std::tuple(ranges.address[a], a) < std::tuple(ranges.address[b], b);
  });
  for (size_t i = 0; i < count; ++i)
    program.place_[static_cast<size_t>(program.by_address_[i])] = static_cast<int32_t>(i);
  return program;
}

void TraceProgram::move_to(int32_t event) {
  const replay::SpanHistory& ranges = context_.history.ranges;
  const auto place = [&](int32_t row) { return static_cast<size_t>(place_[row]); };
  const auto born = ranges.beginning_in(now_, event);
  for (int32_t row = born.first; row < born.last; ++row) there_.insert(place(row));
  const auto gone = ranges.ending_in(now_, event);
  for (int32_t i = gone.first; i < gone.last; ++i) there_.erase(place(ranges.by_end(i)));
  now_ = event;
}

int32_t TraceProgram::range_around(uint64_t address) const {
  const replay::SpanHistory& ranges = context_.history.ranges;
  const auto* above = std::upper_bound(by_address_.begin(), by_address_.end(), address,
                                       [&](uint64_t a, int32_t row) { return a < ranges.address[row]; });
  const int64_t found = there_.before(static_cast<size_t>(above - by_address_.begin()));
  if (found < 0) return -1;
  const int32_t row = by_address_[found];
  return address <= ranges.last_byte(row) ? row : -1;
}

TraceStep TraceProgram::step() {
  const replay::StateHistory& history = context_.history;
  const model::EventTable& events = context_.recording.events;
  const int32_t event = next_++;
  const size_t row = context_.row(event);
  const int32_t target = history.row_of_event[event];
  const auto number = [](Column<int32_t>& numbers, int32_t of, int32_t& next) {
    if (of < 0) return -1;
    int32_t& known = numbers[of];
    if (known < 0) known = next++;
    return known;
  };
  TraceStep step;
  step.event = event;
  step.action = events.action[row];
  step.address = events.address[row];
  step.size = events.size[row];
  switch (step.action) {
    case Action::alloc: {
      move_to(event);
      const int32_t range = range_around(step.address);
      step.block = number(block_numbers_, target, next_block_);
      step.segment = number(segment_numbers_, range, next_segment_);
      if (range >= 0) step.offset = step.address - history.ranges.address[range];
      break;
    }
    case Action::free_requested:
    case Action::free_completed:
    case Action::free:
      step.block = number(block_numbers_, target, next_block_);
      break;
    case Action::segment_alloc:
    case Action::segment_free:
    case Action::segment_map:
    case Action::segment_unmap:
      step.segment = number(segment_numbers_, target, next_segment_);
      break;
    default:
      break;
  }
  return step;
}

}  // namespace gpustrata::analysis
