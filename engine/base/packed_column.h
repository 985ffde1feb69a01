// PackedColumn<T>: a growable array of signed integers or ids for columns of tables with millions of rows, charged to a
// Budget.
//
// Values lie in chunks that are as narrow as what is in them (packed_chunks.h): a column of one value takes nothing, times
// in order about two bytes. One value that is far off costs its chunk, not the column. Reading is O(1), by value.
//
// Growth that the budget or the allocator refuses returns false and leaves the column as it was; there is no other
// failure.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/base/packed_chunks.h"

namespace gpustrata {

// The number that a value is.
template <typename T>
struct NumberIn {
  using Type = T;
  [[nodiscard]] static constexpr T of(T value) { return value; }
};
template <typename Tag, typename Int>
struct NumberIn<Id<Tag, Int>> {
  using Type = Int;
  [[nodiscard]] static constexpr Int of(Id<Tag, Int> id) { return id.value; }
};

template <typename T>
class PackedColumn {
  using Number = typename NumberIn<T>::Type;
  static_assert(std::is_signed_v<Number> && sizeof(T) == sizeof(Number));

 public:
  static constexpr size_t kChunk = PackedChunks::kChunk;

  explicit PackedColumn(Budget& budget) : chunks_(budget), open_(budget) {}

  [[nodiscard]] size_t size() const { return chunks_.size() + open_.size(); }
  [[nodiscard]] bool empty() const { return chunks_.empty() && open_.empty(); }
  // By any integer, or by the id of what the column describes; both are >= 0 and below size().
  template <typename Index>
  [[nodiscard]] T operator[](Index index) const {
    assert(place(index) < size());
    return value_at(place(index));
  }
  // All from i to there (without it) are surely the same, known without looking at each.
  template <typename Index>
  [[nodiscard]] size_t same_to(Index index) const {
    const size_t i = place(index);
    return i < chunks_.room() ? chunks_.same_to(i) : i + 1;
  }
  // Of what was appended last; not after shrink_to_fit().
  [[nodiscard]] T& back() { return open_.back(); }

  [[nodiscard]] bool push_back(T value) {
    if (open_.size() == open_limit_ && !begin_chunk()) [[unlikely]]
      return false;
    return open_.push_back(value);
  }
  // Copies of rows of its own.
  [[nodiscard]] bool append_rows(size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i)
      if (!push_back((*this)[i])) return false;
    return true;
  }
  // Sets one value; its chunk is as wide as T from then on.
  template <typename Index>
  [[nodiscard]] bool set(Index index, T value) {
    const size_t i = place(index);
    if (i < chunks_.size()) return chunks_.set(i, static_cast<uint64_t>(NumberIn<T>::of(value)), sizeof(T));
    open_[i % kChunk] = value;
    return true;
  }
  void truncate(size_t size) {
    open_.truncate(size > chunks_.size() ? size - chunks_.size() : 0);
    chunks_.truncate(size);
    open_limit_ = is_cut() ? 0 : kChunk;
  }
  void clear() { truncate(0); }

  // Nothing is taken ahead: rows that are as the others may take no room at all.
  [[nodiscard]] bool reserve(size_t) { return true; }
  // Packs the last chunk as well; keeps what it has if the allocator refuses.
  void shrink_to_fit() {
    if (!open_.empty() && !pack()) return;
    open_.shrink_to_fit();
    chunks_.shrink_to_fit();
    open_limit_ = is_cut() ? 0 : kChunk;
  }

 private:
  [[nodiscard]] static size_t place(std::integral auto i) { return static_cast<size_t>(i); }
  template <typename Tag, typename Int>
  [[nodiscard]] static size_t place(Id<Tag, Int> id) {
    return id.index();
  }
#if defined(__wasm__)
  [[gnu::noinline]]  // the page is to be small
#endif
  [[nodiscard]] T
  value_at(size_t i) const {
    if (i >= chunks_.room()) return open_[i % kChunk];
    return T(static_cast<Number>(chunks_[i]));
  }

  // The last chunk was packed before it was full.
  [[nodiscard]] bool is_cut() const { return chunks_.size() < chunks_.room(); }
  // What is open becomes a chunk.
  [[nodiscard, gnu::noinline]] bool pack() {
    if (!chunks_.append(std::span<const T>(open_.span()))) return false;
    open_.clear();
    return true;
  }
  // Room for one more value in `open_`.
  [[nodiscard, gnu::noinline]] bool begin_chunk() {
    if (open_.size() == kChunk) return pack();
    open_limit_ = kChunk;
    if (!is_cut()) return true;
    const size_t first = chunks_.room() - kChunk, end = chunks_.size();
    if (!open_.reserve(end - first + 1)) {
      open_limit_ = 0;
      return false;
    }
    for (size_t i = first; i < end; ++i) (void)open_.push_back(value_at(i));
    chunks_.truncate(first);
    return true;
  }

  PackedChunks chunks_;
  Column<T> open_;              // the values behind them
  size_t open_limit_ = kChunk;  // of open_; 0: the last chunk goes on
};

}  // namespace gpustrata
