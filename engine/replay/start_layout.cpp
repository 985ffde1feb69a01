#include "engine/replay/start_layout.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/alloc/simulated_device.h"
#include "engine/base/memory_refused.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::replay {

using simulate::StartLayout;

namespace {

constexpr ptrdiff_t kMostPlacesLookedAt = 4096;  // pages of one reservation that was used, at most
constexpr uint64_t kHighest = alloc::SimulatedDevice::kHighestAddress;

class Layout {
 public:
  Layout(const model::Recording& recording, const StateHistory& history, int64_t device_bytes)
      : recording_(recording),
        history_(history),
        memory_(history, recording.budget),
        reservation_bytes_(device_bytes + device_bytes / 8) {}

  [[nodiscard]] Result<StartLayout> find() {
    if (memory_.go_to(-1) && sort_ranges() && add_all()) return std::move(layout_);
    return memory_refused(recording_.budget, "for what the recording found");
  }

 private:
  // What pages of one reservation have in common.
  struct Kind {
    StreamId stream;
    PoolId pool;
    bool small = false;
    bool operator==(const Kind&) const = default;
  };

  // Rows of all ranges, also of those that come later: they say where a reservation cannot reach.
  [[nodiscard]] bool sort_ranges() {
    for (int32_t row = 0; row < history_.ranges.count(); ++row) {
      if (!by_address_.push_back(row)) return false;
    }
    std::sort(by_address_.data(), by_address_.data() + by_address_.size(), [this](int32_t a, int32_t b) {
      const uint64_t left = history_.ranges.address[a], right = history_.ranges.address[b];
      return left != right ? left < right : a < b;
    });
    return true;
  }

  [[nodiscard]] bool is_small(int32_t range, int64_t size, std::span<const BlockAt> blocks) const {
    if (const int32_t source = history_.range_source[range]; source >= 0) {
      const model::SegmentType type = recording_.segments.type[source];
      if (type != model::SegmentType::unknown) return type == model::SegmentType::small;
    }
    int64_t largest = 0;
    for (const BlockAt& block : blocks) largest = std::max(largest, block.row < 0 ? 0 : block.size);
    if (largest > 0) return alloc::Config::is_small(largest);
    return history_.expandable[range] == 0 ? size == alloc::kSmallBuffer
                                           : size % history_.config.page_size(false) != 0;
  }
  [[nodiscard]] Kind kind_of(int32_t range, bool small) const {
    const PoolId pool = history_.range_pool[range];
    return {history_.range_stream[range], pool.is_none() ? PoolId(size_t{0}) : pool, small};
  }

  [[nodiscard]] bool is_of(int32_t row, const Kind& kind) const {
    return history_.expandable[row] != 0 && kind_of(row, kind.small) == kind &&
           is_small(row, history_.ranges.size[row], {}) == kind.small;
  }

  // The first byte behind `address` that a range of another kind has while the reservation of `found` is there, or at
  // which reservations end. Its place may be used for others once all of its pages are gone.
  [[nodiscard]] uint64_t limit_of(uint64_t address, const SegmentAt& found, const Kind& kind) const {
    uint64_t limit = std::min(kHighest, address + static_cast<uint64_t>(reservation_bytes_));
    const auto* const first = std::upper_bound(
        by_address_.begin(), by_address_.end(), address,
        [this](uint64_t wanted, int32_t row) { return wanted < history_.ranges.address[row]; });
    const auto* const last = first + std::min<ptrdiff_t>(by_address_.end() - first, kMostPlacesLookedAt);
    const int32_t first_end = history_.ranges.end[found.row];
    std::vector<int32_t> later;  // once the first pages are gone
    bool has_others = false;
    for (const auto* at = first; at != by_address_.end() && history_.ranges.address[*at] < limit; ++at) {
      const bool is_other = !is_of(*at, kind);
      if (at == last || (is_other && history_.ranges.begin[*at] < first_end)) {
        limit = history_.ranges.address[*at];
        break;
      }
      has_others = has_others || is_other;
      later.push_back(*at);
    }
    if (!has_others) return limit;
    std::stable_sort(later.begin(), later.end(), [this](int32_t a, int32_t b) {
      return history_.ranges.begin[a] < history_.ranges.begin[b];
    });
    int32_t end = first_end;  // of the reservation, as far as is known
    for (const int32_t row : later) {
      if (history_.ranges.begin[row] > end) break;
      if (history_.ranges.address[row] >= limit) continue;
      if (is_of(row, kind)) {
        end = std::max(end, history_.ranges.end[row]);
      } else if (history_.ranges.begin[row] < end) {
        limit = history_.ranges.address[row];
      }
    }
    return limit;
  }

  // Where the reservation of these pages begins: at the lowest page that is mapped into it later, while they still are.
  // Not below `from`.
  [[nodiscard]] uint64_t begin_of(const SegmentAt& found, const Kind& kind, uint64_t from) const {
    uint64_t begin = found.address;
    const auto page = static_cast<uint64_t>(history_.config.page_size(kind.small));
    const auto* const first = std::lower_bound(
        by_address_.begin(), by_address_.end(), found.address,
        [this](int32_t row, uint64_t wanted) { return history_.ranges.address[row] < wanted; });
    const auto* const last = first - std::min<ptrdiff_t>(first - by_address_.begin(), kMostPlacesLookedAt);
    for (const auto* at = first; at != last;) {
      const int32_t row = *--at;
      const uint64_t address = history_.ranges.address[row];
      if (address < from || !is_of(row, kind) || (found.address - address) % page != 0 ||
          found.address - address > static_cast<uint64_t>(reservation_bytes_))
        break;
      if (history_.ranges.begin[row] < history_.ranges.end[found.row]) begin = address;
    }
    return begin;
  }

  [[nodiscard]] bool add_all() {
    uint64_t from = 0;  // below, all addresses are taken
    for (const SegmentAt& found : memory_.segments()) {
      if (found.size <= 0 || found.address == 0 || found.address < from || found.address >= kHighest ||
          static_cast<uint64_t>(found.size) > kHighest - found.address || found.size > alloc::kLargestRequest)
        continue;
      const std::span<const BlockAt> blocks = memory_.blocks_of(found);
      const bool small = is_small(found.row, found.size, blocks);
      const Kind kind = kind_of(found.row, small);
      const uint64_t free_from = std::exchange(from, found.address + static_cast<uint64_t>(found.size));
      const bool expandable = history_.expandable[found.row] != 0;
      if (expandable && joins_last(found, kind)) {
        if (!add_range(found) || !add_blocks(blocks)) return false;
      } else if (!add_segment(found, kind, expandable, free_from) || !add_blocks(blocks)) {
        return false;
      }
      if (__builtin_add_overflow(layout_.reserved, found.size, &layout_.reserved))
        layout_.reserved = INT64_MAX;
    }
    layout_.segments.shrink_to_fit();
    return true;
  }

  // Does it lie in the reservation that was added last?
  [[nodiscard]] bool joins_last(const SegmentAt& found, const Kind& kind) const {
    if (layout_.segments.empty() || !(last_kind_ == kind)) return false;
    const StartLayout::Segment& last = layout_.segments.back();
    if (!last.info.expandable) return false;
    const uint64_t end = last.info.address + static_cast<uint64_t>(last.info.size);
    return found.address < end && static_cast<uint64_t>(found.size) <= end - found.address &&
           is_whole_pages(found, last.info.address, last.page_size);
  }
  [[nodiscard]] static bool is_whole_pages(const SegmentAt& found, uint64_t start, int64_t page) {
    return (found.address - start) % static_cast<uint64_t>(page) == 0 && found.size % page == 0;
  }
  [[nodiscard]] bool add_range(const SegmentAt& found) {
    ++layout_.segments.back().ranges.count;
    return layout_.ranges.push_back({found.address, found.size});
  }

  [[nodiscard]] bool add_segment(const SegmentAt& found, const Kind& kind, bool expandable,
                                 uint64_t free_from) {
    StartLayout::Segment added;
    added.info.address = found.address;
    added.info.size = found.size;
    added.info.stream = kind.stream.is_none() ? 0 : recording_.streams[kind.stream.index()];
    added.pool = kind.pool;
    added.info.pool = recording_.pools[kind.pool.index()];
    added.info.small = kind.small;
    added.info.stack = stack_of_range(recording_, history_, found.row);
    added.ranges.first = static_cast<int32_t>(layout_.ranges.size());
    added.blocks.first = static_cast<int32_t>(layout_.blocks.size());
    const int64_t page = history_.config.page_size(kind.small);
    if (expandable && is_whole_pages(found, found.address, page)) {
      const uint64_t begin = begin_of(found, kind, free_from);
      const uint64_t room =
          (limit_of(begin, found, kind) - begin) / static_cast<uint64_t>(page) * static_cast<uint64_t>(page);
      const uint64_t least = found.address - begin + static_cast<uint64_t>(found.size);
      added.info.expandable = true;
      added.info.address = begin;
      added.info.size = static_cast<int64_t>(std::max(least, room));
      added.page_size = page;
    }
    last_kind_ = kind;
    return layout_.segments.push_back(added) && (!added.info.expandable || add_range(found));
  }

  [[nodiscard]] bool add_blocks(std::span<const BlockAt> blocks) {
    for (const BlockAt& block : blocks) {
      if (block.row < 0) continue;
      alloc::AdoptedBlock added;
      added.address = block.address;
      added.size = block.size;
      added.requested_size = std::clamp<int64_t>(block.requested_size, 0, block.size);
      if (const int32_t source = history_.block_source[block.row]; source >= 0)
        added.stack = recording_.blocks.stack[source];
      if (!layout_.blocks.push_back(added) ||
          !layout_.is_pending.push_back(block.state == model::BlockState::active_pending_free ? 1 : 0))
        return false;
      ++layout_.segments.back().blocks.count;
    }
    return true;
  }

  const model::Recording& recording_;
  const StateHistory& history_;
  MemoryAt memory_;
  Column<int32_t> by_address_{recording_.budget};
  StartLayout layout_{recording_.budget};
  Kind last_kind_;
  int64_t reservation_bytes_;
};

}  // namespace

Result<StartLayout> start_layout(const model::Recording& recording, const StateHistory& history,
                                 int64_t device_bytes) {
  return Layout(recording, history, device_bytes).find();
}

}  // namespace gpustrata::replay
