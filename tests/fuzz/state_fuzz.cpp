// The state history of any trace: bytes become events and a final state at few addresses, so that everything
// contradicts everything. It may find what it likes, but it must end, tile every segment, keep sums and stay
// within its budget; walking must give what jumping gives.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/analysis/block_attributes.h"
#include "engine/answers/json_of.h"
#include "engine/answers/memory_state.h"
#include "engine/replay/address_map.h"
#include "engine/replay/links.h"
#include "engine/replay/memory_at.h"
#include "engine/replay/pool_bands.h"
#include "engine/replay/segment_bands.h"
#include "engine/replay/state_layout.h"
#include "engine/replay/timeline.h"

namespace {

using namespace memstrata;

[[noreturn]] void wrong(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

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
uint64_t address_from(Bytes& in) {
  const uint8_t b = in.next();
  if (b >= 250) return ~uint64_t{0} - (b - 250) * 512;
  return b < 4 ? b : uint64_t{0x7f0000000000} + uint64_t{b} * 512;
}
int64_t size_from(Bytes& in) {
  const uint8_t b = in.next();
  if (b >= 252) return int64_t{1} << (62 - (b - 252) * 10);
  return b < 200 ? int64_t{b} * 64 : int64_t{b} << 14;
}

// Unknown, the default pool or a private one.
PoolId pool_from(model::Recording& recording, Bytes& in) {
  const uint8_t b = in.next() % 4;
  return b == 0 ? PoolId() : recording.pool_of({0, b - 1});
}

bool fill(model::Recording& recording, Bytes in) {
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

void check(const replay::MemoryAt& memory) {
  uint64_t end_before = 0;
  for (const replay::SegmentAt& segment : memory.segments()) {
    if (segment.size <= 0 || segment.address < end_before) wrong("segments overlap");
    end_before = segment.address + static_cast<uint64_t>(segment.size);
    uint64_t at = segment.address;
    bool was_free = false;
    for (const replay::BlockAt& block : memory.blocks_of(segment)) {
      if (block.address != at || block.size <= 0) wrong("blocks do not tile their segment");
      if (was_free && block.row < 0) wrong("two free blocks side by side");
      was_free = block.row < 0;
      at += static_cast<uint64_t>(block.size);
    }
    if (at != end_before) wrong("blocks do not fill their segment");
  }
}

// Envelopes and their blocks must fill the stack without a gap, and never shrink.
void check_pools(const model::Recording& recording, const replay::BlockLives& blocks) {
  const model::Part& part = recording.parts[0];
  const auto known = analysis::block_attributes(recording, part, blocks);
  if (!known) return;
  const auto pools =
      replay::pool_bands(recording, part, blocks, known->pool.span(), known->stream.span());
  if (!pools) return;
  const auto timeline = replay::Timeline::build(recording, *pools);
  if (!timeline) return;
  const replay::Bands& bands = *pools;
  for (int32_t event = -1; event < bands.events.count; ++event) {
    if (timeline->offset_of(bands.count(), event) != bands.level_after(event)) wrong("gaps in the stack");
    int64_t rests = 0;
    for (const replay::PoolEnvelope& envelope : pools->envelopes) {
      const int64_t capacity = envelope.capacity.at(event);
      if (capacity < envelope.capacity.at(event - 1)) wrong("an envelope shrinks");
      if (timeline->offset_of(envelope.end_band, event) - timeline->offset_of(envelope.first_band, event) !=
          capacity) {
        wrong("an envelope is not filled");
      }
      rests += replay::rest_at(bands, envelope, event);
    }
    if (bands.level_after(event) - rests != blocks.level_after(event)) wrong("bytes that are nobody's");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const int64_t limit = data[0] % 4 == 0 ? int64_t{200} << 10 : int64_t{64} << 20;
  Budget budget(limit);
  {
    model::Recording recording(budget);
    if (!fill(recording, {data + 1, size - 1})) return 0;
    const model::Part& part = recording.parts[0];
    const auto lifetimes = replay::find_block_lives(recording, part, 0);
    const auto history = replay::undo_to_start(recording, part, 0);
    if (!lifetimes || !history) return 0;
    replay::MemoryAt walking(*history, budget), jumping(*history, budget);
    replay::StateLayout layout(budget);
    const int32_t count = history->event_count();
    for (int32_t event = -1; event < count; ++event) {
      if (!walking.go_to(event)) return 0;
      check(walking);
    }
    for (int32_t event = count - 1; event >= -1; event -= 7) {
      if (!jumping.go_to(event) || !walking.go_to(event)) return 0;
      check(jumping);
      if (answers::json_of(recording, *history, jumping) != answers::json_of(recording, *history, walking)) {
        wrong("walking and jumping differ");
      }
      if (!layout.pack(jumping)) return 0;
      (void)layout.rects(jumping, {300, 200, 1 + data[1] / 8.0, 10, 10});
      (void)layout.hit(jumping, {300, 200, 1, 0, 0}, data[1], 50);
    }
    for (int32_t block = 0; block < history->blocks.count(); ++block) {
      const int32_t rank = replay::rank_of_block(recording, *history, *lifetimes, block);
      if (rank >= lifetimes->count()) wrong("a rank that is none");
    }
    for (int32_t rank = 0; rank < lifetimes->count(); ++rank) {
      if (replay::block_of_rank(*history, *lifetimes, rank) >= history->blocks.count())
        wrong("no such block");
    }
    const auto segments = replay::segment_bands(recording, *history);
    if (segments) (void)replay::Timeline::build(recording, *segments);
    check_pools(recording, *lifetimes);
    auto map = replay::AddressMap::build(recording, *history, *lifetimes);
    if (map) {
      map->sort_by(static_cast<replay::RegionOrder>(data[1] % 3));
      Column<int32_t> pixels(budget);
      if (pixels.resize(64 * 6 * 4, 0))
        map->draw({replay::Axis::event, data[1] % 5 - 2, 1 + data[1] % 9, 64}, data[1] % 3, 6, 4,
                  pixels.span());
    }
    if (budget.used() > limit) wrong("the budget was passed");
  }
  if (budget.used() != 0) wrong("memory was not given back");
  return 0;
}
