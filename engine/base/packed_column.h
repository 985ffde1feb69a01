// PackedColumn<T>: a growable array of integers or ids for columns of tables with millions of rows, charged to a Budget.
//
// Values lie in chunks of kChunk. A chunk that is full keeps what its values are above their lowest, less the factor of
// two that they share, in 0, 1, 2, 4 or 8 bytes each: a column of one value takes nothing, times in order about two
// bytes. One value that is far off costs its chunk, not the column. Reading is O(1), by value.
//
// Growth that the budget or the allocator refuses returns false and leaves the column as it was; there is no other
// failure.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/ids.h"

namespace memstrata {

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

// Values in order, of `width` bytes each.
struct PackedChunk {
  std::byte* data = nullptr;  // null = width 0
  uint64_t lowest = 0;
  uint32_t count = 0;
  uint8_t width = 0;  // 0: all are `lowest`
  uint8_t shift = 0;

  template <typename Narrow>
  [[nodiscard]] uint64_t load(size_t i) const {
    Narrow value;
    std::memcpy(&value, data + i * sizeof(Narrow), sizeof(Narrow));
    return value;
  }
  [[nodiscard]] uint64_t at(size_t i) const {
    switch (width) {
      case 0:
        return lowest;
      case 1:
        return lowest + (load<uint8_t>(i) << shift);
      case 2:
        return lowest + (load<uint16_t>(i) << shift);
      case 4:
        return lowest + (load<uint32_t>(i) << shift);
      default:
        return lowest + load<uint64_t>(i);
    }
  }
};

template <typename T>
class PackedColumn {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr size_t kChunk = 4096;

  explicit PackedColumn(Budget& budget) : budget_(&budget), chunks_(budget), open_(budget) {}
  PackedColumn(PackedColumn&&) noexcept = default;
  PackedColumn& operator=(PackedColumn&& other) noexcept {
    if (this != &other) {
      clear();
      budget_ = other.budget_;
      chunks_ = std::move(other.chunks_);
      open_ = std::move(other.open_);
    }
    return *this;
  }
  ~PackedColumn() { clear(); }

  [[nodiscard]] size_t size() const {
    const size_t full = chunks_.empty() ? 0 : (chunks_.size() - 1) * kChunk + chunks_.back().count;
    return full + open_.size();
  }
  [[nodiscard]] bool empty() const { return chunks_.empty() && open_.empty(); }
  // By any integer, or by the id of what the column describes; both are >= 0 and below size().
  template <typename Index>
  [[nodiscard]] T operator[](Index index) const {
    return value_at(place(index));
  }
  // Of what was appended last; not after shrink_to_fit().
  [[nodiscard]] T& back() { return open_.back(); }

  [[nodiscard]] bool push_back(T value) {
    if (open_.size() == kChunk || is_cut()) [[unlikely]] {
      if (!begin_chunk()) return false;
    }
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
    if (i / kChunk >= chunks_.size()) {
      open_[i % kChunk] = value;
      return true;
    }
    Chunk& chunk = chunks_[i / kChunk];
    if (!is_wide(chunk) && !widen(chunk)) return false;
    std::memcpy(chunk.data + i % kChunk * sizeof(T), &value, sizeof(T));
    return true;
  }
  [[gnu::noinline]] void truncate(size_t size) {
    while (!chunks_.empty() && (chunks_.size() - 1) * kChunk >= size) {
      open_.clear();
      forget(chunks_.back());
      chunks_.pop_back();
    }
    if (chunks_.size() * kChunk > size) {
      open_.clear();
      cut(chunks_.back(), size - (chunks_.size() - 1) * kChunk);
    } else {
      open_.truncate(size - chunks_.size() * kChunk);
    }
  }
  [[gnu::noinline]] void clear() {
    for (const Chunk& chunk : chunks_) forget(chunk);
    chunks_.clear();
    open_.clear();
  }

  // Nothing is taken ahead: rows that are as the others may take no room at all.
  [[nodiscard]] bool reserve(size_t) { return true; }
  // Packs the last chunk as well; keeps what it has if the allocator refuses.
  void shrink_to_fit() {
    if (!open_.empty() && !pack()) return;
    open_.shrink_to_fit();
    chunks_.shrink_to_fit();
  }

 private:
  using Chunk = PackedChunk;

  [[nodiscard]] static size_t place(std::integral auto i) { return static_cast<size_t>(i); }
  template <typename Tag, typename Int>
  [[nodiscard]] static size_t place(Id<Tag, Int> id) {
    return id.index();
  }
  // Values as 64 bits, which are in their order once the lowest is subtracted, and back.
  using Number = typename NumberIn<T>::Type;
  [[nodiscard]] static Number number_of(T value) { return NumberIn<T>::of(value); }
  [[nodiscard]] static uint64_t bits_of(T value) { return static_cast<uint64_t>(number_of(value)); }
  [[nodiscard]] static T value_of(uint64_t bits) { return T(static_cast<Number>(bits)); }

#if defined(__wasm__)
  [[gnu::noinline]]  // the page is to be small
#endif
  [[nodiscard]] T
  value_at(size_t i) const {
    if (i / kChunk >= chunks_.size()) return open_[i % kChunk];
    return value_of(chunks_[i / kChunk].at(i % kChunk));
  }
  [[nodiscard]] static bool is_wide(const Chunk& chunk) {
    return chunk.width == sizeof(T) && chunk.lowest == 0 && chunk.shift == 0;
  }
  // The last chunk was packed before it was full.
  [[nodiscard]] bool is_cut() const { return !chunks_.empty() && chunks_.back().count < kChunk; }
  void forget(const Chunk& chunk) {
    budget_->give_back(static_cast<int64_t>(chunk.count) * chunk.width);
    std::free(chunk.data);
  }
  [[nodiscard]] bool take(Chunk& chunk) {
    const size_t bytes = chunk.count * size_t{chunk.width};
    if (bytes == 0) return true;
    if (!budget_->take(static_cast<int64_t>(bytes))) return false;
    chunk.data = static_cast<std::byte*>(std::malloc(bytes));
    if (chunk.data != nullptr) return true;
    budget_->give_back(static_cast<int64_t>(bytes));
    budget_->note_refusal(static_cast<int64_t>(bytes));
    return false;
  }

  // To so many values; the memory of the others is charged no more, and kept until the chunk goes.
  void cut(Chunk& chunk, size_t count) {
    const size_t kept = std::min<size_t>(count, chunk.count);
    budget_->give_back(static_cast<int64_t>((chunk.count - kept) * chunk.width));
    chunk.count = static_cast<uint32_t>(kept);
  }

  template <typename Narrow>
  static void store(Chunk& chunk, const T* values) {
    for (size_t i = 0; i < chunk.count; ++i) {
      const auto value = static_cast<Narrow>((bits_of(values[i]) - chunk.lowest) >> chunk.shift);
      std::memcpy(chunk.data + i * sizeof(Narrow), &value, sizeof(Narrow));
    }
  }
  // What is open becomes a chunk.
  [[nodiscard, gnu::noinline]] bool pack() {
    const T* values = open_.data();
    Chunk chunk{.count = static_cast<uint32_t>(open_.size())};
    Number lowest = number_of(values[0]), highest = lowest;
    for (size_t i = 1; i < open_.size(); ++i) {
      lowest = std::min(lowest, number_of(values[i]));
      highest = std::max(highest, number_of(values[i]));
    }
    chunk.lowest = static_cast<uint64_t>(lowest);
    uint64_t above = 0;
    for (size_t i = 0; i < open_.size(); ++i) above |= bits_of(values[i]) - chunk.lowest;
    chunk.shift = above == 0 ? 0 : static_cast<uint8_t>(std::countr_zero(above));
    const uint64_t most = (static_cast<uint64_t>(highest) - chunk.lowest) >> chunk.shift;
    chunk.width = most == 0 ? 0 : most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
    if (chunk.width == 8) chunk.shift = 0;
    if (!take(chunk)) return false;
    switch (chunk.width) {
      case 0:
        break;
      case 1:
        store<uint8_t>(chunk, values);
        break;
      case 2:
        store<uint16_t>(chunk, values);
        break;
      case 4:
        store<uint32_t>(chunk, values);
        break;
      default:
        store<uint64_t>(chunk, values);
    }
    if (!chunks_.push_back(chunk)) {
      forget(chunk);
      return false;
    }
    open_.clear();
    return true;
  }
  // Of `chunk`, every value as it is.
  [[nodiscard, gnu::noinline]] bool widen(Chunk& chunk) {
    Chunk wide{.count = chunk.count, .width = sizeof(T)};
    if (!take(wide)) return false;
    for (size_t i = 0; i < chunk.count; ++i) {
      const T value = value_of(chunk.at(i));
      std::memcpy(wide.data + i * sizeof(T), &value, sizeof(T));
    }
    forget(chunk);
    chunk = wide;
    return true;
  }
  // Room for one more value in `open_`. Out of line, so that appending is inlined.
  [[nodiscard, gnu::noinline]] bool begin_chunk() {
    if (!is_cut()) return pack();
    const Chunk& cut = chunks_.back();
    if (!open_.reserve(cut.count + size_t{1})) return false;
    for (size_t i = 0; i < cut.count; ++i) (void)open_.push_back(value_of(cut.at(i)));
    forget(cut);
    chunks_.pop_back();
    return true;
  }

  Budget* budget_;
  Column<Chunk> chunks_;  // all but the last of kChunk values
  Column<T> open_;        // the values behind them
};

}  // namespace memstrata
