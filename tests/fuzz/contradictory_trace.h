// A recording made of bytes: events and a final state at few addresses, so that everything contradicts
// everything.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/model/recording.h"

namespace gpustrata::tests {

struct Bytes {
  const uint8_t* data;
  size_t size;
  uint8_t next() {
    if (size == 0) return 0;
    --size;
    return *data++;
  }
};

// Mostly near each other, sometimes at the ends of the address space.
inline uint64_t address_from(Bytes& in) {
  const uint8_t b = in.next();
  if (b >= 250) return ~uint64_t{0} - (b - 250) * 512;
  return b < 4 ? b : uint64_t{0x7f0000000000} + uint64_t{b} * 512;
}
inline int64_t size_from(Bytes& in) {
  const uint8_t b = in.next();
  if (b >= 252) return int64_t{1} << (62 - (b - 252) * 10);
  return b < 200 ? int64_t{b} * 64 : int64_t{b} << 14;
}

// Unknown, the default pool or a private one.
inline PoolId pool_from(model::Recording& recording, Bytes& in) {
  const uint8_t b = in.next() % 4;
  return b == 0 ? PoolId() : recording.pool_of({0, b - 1});
}

// One device: segments with blocks, then events until the bytes are used up. False = no memory.
inline bool fill(model::Recording& recording, Bytes in) {
  recording.parts.emplace_back();
  model::Part& part = recording.parts.back();
  const int segment_count = in.next() % 8;
  bool ok = true;
  for (int i = 0; i < segment_count; ++i) {
    const uint64_t address = address_from(in);
    const int block_count = in.next() % 6;
    auto& table = recording.segments;
    ok = ok && table.device.push_back(0) && table.address.push_back(address) &&
         table.total_size.push_back(std::min(size_from(in), int64_t{1} << 59) * 8) &&
         table.allocated_size.push_back(0) && table.active_size.push_back(0) &&
         table.requested_size.push_back(0) && table.stream.push_back(recording.stream_of(in.next() % 2)) &&
         table.pool.push_back(pool_from(recording, in)) &&
         table.type.push_back(model::SegmentType::unknown) &&
         table.expandable.push_back(static_cast<model::Tristate>(in.next() % 3)) &&
         table.stack.push_back({}) && table.metadata.push_back({}) &&
         table.blocks.push_back({static_cast<int32_t>(recording.blocks.size_rows()), block_count});
    for (int b = 0; b < block_count; ++b) {
      auto& blocks = recording.blocks;
      ok = ok && blocks.address.push_back(address_from(in)) && blocks.size.push_back(size_from(in)) &&
           blocks.requested_size.push_back(in.next() % 4 == 0 ? model::kUnknownSize : size_from(in)) &&
           blocks.state.push_back(static_cast<model::BlockState>(in.next() % 4)) &&
           blocks.stack.push_back({}) && blocks.metadata.push_back({}) && blocks.history.push_back({});
    }
  }
  part.segments = {0, segment_count};
  int32_t count = 0;
  for (; in.size > 0; ++count) {
    auto& events = recording.events;
    ok = ok && events.action.push_back(static_cast<trace::Action>(in.next() % 15)) &&
         events.address.push_back(address_from(in)) && events.size.push_back(size_from(in)) &&
         events.time.push_back(count) && events.stack.push_back({}) && events.context.push_back({}) &&
         events.metadata.push_back({}) && events.stream.push_back(recording.stream_of(count % 3 / 2)) &&
         events.pool.push_back(count % 5 == 0 ? recording.pool_of({count % 2, count % 3}) : PoolId());
  }
  part.traces = {{0, {0, count}}};
  return ok;
}

}  // namespace gpustrata::tests
