// Numbers in chunks of kChunk, each chunk as narrow as its numbers: what a PackedColumn keeps, whatever its type.
//
// A chunk keeps what its numbers are above their lowest, less the factor of two that they share, in 0, 1, 2, 4 or 8 bytes
// each. Charged to a Budget; a refusal returns false and leaves the chunks as they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "engine/base/budget.h"
#include "engine/base/column.h"

namespace gpustrata {

class PackedChunks {
 public:
  static constexpr size_t kChunk = 4096;

  explicit PackedChunks(Budget& budget) : budget_(&budget), chunks_(budget) {}
  PackedChunks(PackedChunks&&) noexcept = default;
  PackedChunks& operator=(PackedChunks&& other) noexcept;
  ~PackedChunks() { clear(); }

  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  [[nodiscard]] size_t size() const {
    return chunks_.empty() ? 0 : (chunks_.size() - 1) * kChunk + chunks_.back().count;
  }
  // Numbers that all chunks together have room for: more than size() if the last one is not full.
  [[nodiscard]] size_t room() const { return chunks_.size() * kChunk; }
  [[nodiscard]] uint64_t operator[](size_t i) const { return chunks_[i / kChunk].at(i % kChunk); }

  // One more chunk, of 1 to kChunk signed numbers of 2, 4 or 8 bytes, or what is such a number in memory; all chunks before
  // are full.
  template <typename T>
  [[nodiscard]] bool append(std::span<const T> numbers) {
    static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8));
    return append(std::as_bytes(numbers), sizeof(T));
  }
  // Where all numbers from i on are surely the same: the end of a chunk of one number, else i + 1.
  [[nodiscard]] size_t same_to(size_t i) const {
    const Chunk& chunk = chunks_[i / kChunk];
    return chunk.width == 0 ? i - i % kChunk + chunk.count : i + 1;
  }
  // Sets one number of at most `width` bytes; its chunk has that width from then on.
  [[nodiscard]] bool set(size_t i, uint64_t number, uint8_t width);
  void truncate(size_t size);
  void clear() { truncate(0); }
  void shrink_to_fit() { chunks_.shrink_to_fit(); }

 private:
  struct Chunk {
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
    void store(size_t i, uint64_t above) const;
  };
  [[nodiscard]] bool append(std::span<const std::byte> numbers, size_t width);
  [[nodiscard]] bool take(Chunk& chunk);
  void forget(const Chunk& chunk);

  Budget* budget_;
  Column<Chunk> chunks_;  // all but the last of kChunk numbers
};

}  // namespace gpustrata
