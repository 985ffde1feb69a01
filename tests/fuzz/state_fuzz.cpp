// The state history of any trace: bytes become events and a final state at few addresses, so that everything
// contradicts everything. It may find what it likes, but it must end, tile every segment, keep sums and stay
// within its budget; walking must give what jumping gives.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/analysis/device/block_attributes.h"
#include "engine/answers/details/memory_after.h"
#include "engine/answers/text/json_of.h"
#include "engine/replay/address_map.h"
#include "engine/replay/links.h"
#include "engine/replay/memory_at.h"
#include "engine/replay/pool_bands.h"
#include "engine/replay/segment_bands.h"
#include "engine/replay/state_layout.h"
#include "engine/replay/timeline.h"
#include "tests/fuzz/contradictory_trace.h"

namespace {

using namespace gpustrata;
using tests::fill;

[[noreturn]] void wrong(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
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
  const auto pools = replay::pool_bands(recording, part, blocks, known->pool.span(), known->stream.span());
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
