// The inactive blocks of one pool, small or large: what malloc searches.
//
// Mapped blocks are ordered by (stream, size, number, address), streams as unsigned handles. Per stream there are
// bins of about one size (64 to each doubling, exact below 64 KiB), a bit for each that holds something, and
// in each a treap by (size, number, address): a search looks into one small tree. Insert, erase, search and step are
// O(log of a bin); nothing is allocated but a stream's bins when it is first seen.
// Unmapped blocks of expandable segments are few and lie in a list by (stream, address).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/alloc/block.h"
#include "engine/alloc/memory_state.h"
#include "engine/alloc/treap.h"

namespace gpustrata::alloc {

class BlockSet {
 public:
  explicit BlockSet(MemoryState& state) : state_(&state) {}

  void insert(BlockId id);
  // The block is in the set, and still as it was inserted.
  void erase(BlockId id) { erase_absorbed(id, state_->segment_of(id).stream); }
  // The same, of a block of this stream that another one has just taken in.
  void erase_absorbed(BlockId id, int64_t stream);

  // First block of the stream with at least this size, or none.
  [[nodiscard]] BlockId first_of_at_least(int64_t stream, int64_t size) const;
  // Last block of the stream with less than this size, or none.
  [[nodiscard]] BlockId last_below(int64_t stream, int64_t size) const;
  // Next and previous block of the same stream in the order, or none.
  [[nodiscard]] BlockId after(BlockId id) const;
  [[nodiscard]] BlockId before(BlockId id) const;
  // All blocks in order: visit(id), which must not change the set.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const StreamBins& stream : streams_) {
      for (size_t bin = used_from(*stream.bins, 0); bin < kBins; bin = used_from(*stream.bins, bin + 1))
        visit_tree(stream.bins->root(bin), visit);
    }
  }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] int64_t bytes() const { return bytes_; }  // of all blocks

  // By (stream, address).
  void insert_unmapped(BlockId id);
  void erase_unmapped(BlockId id);
  [[nodiscard]] const std::vector<BlockId>& unmapped() const { return unmapped_; }

  int64_t searches = 0;  // made while garbage collection is on

 private:
  static constexpr size_t kWords = 48;  // up to 2^61 bytes
  static constexpr size_t kBins = kWords * 64;
  using Roots = std::array<int32_t, 64>;  // of the trees of one doubling
  struct Bins {
    uint64_t words_used = 0;  // bit w: used[w] is not 0
    std::array<uint64_t, kWords> used{};
    std::array<std::unique_ptr<Roots>, kWords> roots;  // null until the doubling is first seen

    [[nodiscard]] int32_t root(size_t bin) const {
      return roots[bin / 64] ? (*roots[bin / 64])[bin % 64] : kNoNode;
    }
  };
  struct StreamBins {
    int64_t stream;
    std::unique_ptr<Bins> bins;
  };

  [[nodiscard]] const Block& row(int32_t node) const { return state_->block(BlockId(node)); }
  [[nodiscard]] static size_t bin_of(int64_t size) {
    const auto units = static_cast<uint64_t>(size) >> 9;  // kMinBlockSize
    const int steps = 57 - std::countl_zero(units | 64);  // bins of this doubling are 2^steps units wide
    return static_cast<size_t>(steps) * 64 + static_cast<size_t>(units >> steps);
  }
  [[nodiscard]] Bins* find_bins(int64_t stream) const;
  [[nodiscard]] Bins& bins_for(int64_t stream);
  // First bin that holds something at or above `bin` (last at or below), or kBins.
  [[nodiscard]] static size_t used_from(const Bins& bins, size_t bin);
  [[nodiscard]] static size_t used_down_from(const Bins& bins, size_t bin);
  [[nodiscard]] bool less(int32_t a, int32_t b) const {
    const Block &x = row(a), &y = row(b);
    if (x.size != y.size) return x.size < y.size;
    return x.number != y.number ? x.number < y.number : x.address < y.address;
  }
  template <typename Visit>
  void visit_tree(int32_t root, Visit& visit) const {  // depth is logarithmic
    if (root == kNoNode) return;
    visit_tree(row(root).links.left, visit);
    visit(BlockId(root));
    visit_tree(row(root).links.right, visit);
  }

  MemoryState* state_;
  std::vector<StreamBins> streams_;  // ascending
  std::vector<BlockId> unmapped_;
  size_t size_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace gpustrata::alloc
