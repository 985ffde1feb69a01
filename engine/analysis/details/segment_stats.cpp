#include "engine/analysis/details/segment_stats.h"

#include <algorithm>

#include "engine/base/saturating.h"

namespace gpustrata::analysis {

using replay::BlockAt;
using replay::SegmentAt;

namespace {

constexpr int64_t kPage = int64_t{20} << 20, kSmallPage = int64_t{2} << 20;
constexpr int64_t kLongestBar = 400;  // characters; longer segments have larger pages

// What blocks are in one page.
struct Page {
  int64_t used = 0, blocks = 0;
  char letter = ' ';
};

[[nodiscard]] std::string bar_of(const replay::MemoryAt& memory, const SegmentAt& segment) {
  int64_t size = segment.size >= kPage ? kPage : kSmallPage;
  // Divisions first: sizes up to 2^63 - 1 occur in hostile files.
  size *= segment.size / size / kLongestBar + 1;
  std::vector<Page> pages(static_cast<size_t>((segment.size - 1) / size + 1));
  const auto begin_of = [&](size_t page) { return static_cast<int64_t>(page) * size; };
  const auto size_of = [&](size_t page) { return std::min(size, segment.size - begin_of(page)); };
  int32_t number = 0;
  for (const BlockAt& block : memory.blocks_of(segment)) {
    if (block.state != model::BlockState::active_allocated) continue;
    const char letter = static_cast<char>('a' + number++ % 26);
    const auto from = static_cast<int64_t>(block.address - segment.address);
    const int64_t last = from + (block.size - 1);
    for (auto i = static_cast<size_t>(from / size); i <= static_cast<size_t>(last / size); ++i) {
      pages[i].used += std::min(last, begin_of(i) + (size_of(i) - 1)) - std::max(from, begin_of(i)) + 1;
      ++pages[i].blocks;
      pages[i].letter = letter;
    }
  }
  std::string bar;
  for (size_t i = 0; i < pages.size(); ++i) {
    const Page& page = pages[i];
    bar += page.blocks <= 1          ? page.letter
           : page.used == size_of(i) ? '*'
                                     : static_cast<char>('0' + page.used / (size_of(i) / 10 + 1));
  }
  return bar;
}

[[nodiscard]] BlockUses uses_of(const replay::MemoryAt& memory, const SegmentAt& segment) {
  BlockUses uses;
  for (const BlockAt& block : memory.blocks_of(segment)) {
    if (block.row < 0) {
      add_saturated(uses.free, block.size);
    } else if (block.state == model::BlockState::active_pending_free) {
      add_saturated(uses.pending, block.size);
    } else {
      add_saturated(uses.allocated, block.size);
      add_saturated(uses.requested, std::min(block.requested_size, block.size));
      add_saturated(uses.rounding, block.size - std::min(block.requested_size, block.size));
    }
  }
  return uses;
}

}  // namespace

Result<MemoryStats> memory_stats(const replay::MemoryAt& memory, Budget& budget) {
  MemoryStats found(budget);
  // Bars are at most kLongestBar long, and as much again is needed to write them.
  const auto count = static_cast<int64_t>(memory.segments().size());
  if (!found.charge.more(count * static_cast<int64_t>(sizeof(SegmentStats) + 2 * kLongestBar)))
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory for the bars of {} segments.", count);
  found.segments.reserve(memory.segments().size());
  for (const SegmentAt& segment : memory.segments()) {
    const BlockUses uses = uses_of(memory, segment);
    found.segments.push_back({segment, uses, bar_of(memory, segment)});
    add_saturated(found.sum.allocated, uses.allocated);
    add_saturated(found.sum.pending, uses.pending);
    add_saturated(found.sum.requested, uses.requested);
    add_saturated(found.sum.rounding, uses.rounding);
    add_saturated(found.sum.free, uses.free);
  }
  const auto active = [](const SegmentStats& one) {
    return saturated_sum(one.uses.allocated, one.uses.pending);
  };
  std::stable_sort(found.segments.begin(), found.segments.end(),
                   [&](const SegmentStats& a, const SegmentStats& b) {
                     if (a.segment.size != b.segment.size) return a.segment.size < b.segment.size;
                     return active(a) < active(b);
                   });
  return found;
}

}  // namespace gpustrata::analysis
