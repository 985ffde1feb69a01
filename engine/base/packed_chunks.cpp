#include "engine/base/packed_chunks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <utility>

namespace gpustrata {

namespace {

[[nodiscard]] uint8_t width_of(uint64_t most) {
  if (most == 0) return 0;
  if (most <= UINT8_MAX) return 1;
  if (most <= UINT16_MAX) return 2;
  return most <= UINT32_MAX ? 4 : 8;
}

template <typename Narrow>
void widen_all(std::span<const std::byte> from, int64_t* to) {
  for (size_t i = 0; i < from.size() / sizeof(Narrow); ++i) {
    Narrow value;
    std::memcpy(&value, from.data() + i * sizeof(Narrow), sizeof(Narrow));
    to[i] = value;
  }
}

template <typename Narrow>
void store_all(std::byte* data, std::span<const int64_t> numbers, uint64_t lowest, uint8_t shift) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto value = static_cast<Narrow>((static_cast<uint64_t>(numbers[i]) - lowest) >> shift);
    std::memcpy(data + i * sizeof(Narrow), &value, sizeof(Narrow));
  }
}

}  // namespace

PackedChunks& PackedChunks::operator=(PackedChunks&& other) noexcept {
  if (this != &other) {
    clear();
    budget_ = other.budget_;
    chunks_ = std::move(other.chunks_);
  }
  return *this;
}

bool PackedChunks::take(Chunk& chunk) {
  const size_t bytes = chunk.count * size_t{chunk.width};
  if (bytes == 0) return true;
  if (!budget_->take(static_cast<int64_t>(bytes))) return false;
  chunk.data = static_cast<std::byte*>(std::malloc(bytes));
  if (chunk.data != nullptr) return true;
  budget_->give_back(static_cast<int64_t>(bytes));
  budget_->note_refusal(static_cast<int64_t>(bytes));
  return false;
}

void PackedChunks::forget(const Chunk& chunk) {
  budget_->give_back(static_cast<int64_t>(chunk.count) * chunk.width);
  std::free(chunk.data);
}

bool PackedChunks::append(std::span<const std::byte> narrow, size_t width) {
  std::array<int64_t, kChunk> wide;
  if (width == sizeof(int16_t)) {
    widen_all<int16_t>(narrow, wide.data());
  } else if (width == sizeof(int32_t)) {
    widen_all<int32_t>(narrow, wide.data());
  } else {
    widen_all<int64_t>(narrow, wide.data());
  }
  const std::span<const int64_t> numbers(wide.data(), narrow.size() / width);
  int64_t lowest = numbers[0], highest = lowest;
  for (const int64_t number : numbers) {
    lowest = std::min(lowest, number);
    highest = std::max(highest, number);
  }
  Chunk chunk;
  chunk.lowest = static_cast<uint64_t>(lowest);
  chunk.count = static_cast<uint32_t>(numbers.size());
  uint64_t above = 0;
  for (const int64_t number : numbers) above |= static_cast<uint64_t>(number) - chunk.lowest;
  if (above != 0) chunk.shift = static_cast<uint8_t>(std::countr_zero(above));
  chunk.width = width_of((static_cast<uint64_t>(highest) - chunk.lowest) >> chunk.shift);
  if (chunk.width == sizeof(uint64_t)) chunk.shift = 0;
  if (!take(chunk)) return false;
  switch (chunk.width) {
    case 0:
      break;
    case 1:
      store_all<uint8_t>(chunk.data, numbers, chunk.lowest, chunk.shift);
      break;
    case 2:
      store_all<uint16_t>(chunk.data, numbers, chunk.lowest, chunk.shift);
      break;
    case 4:
      store_all<uint32_t>(chunk.data, numbers, chunk.lowest, chunk.shift);
      break;
    default:
      store_all<uint64_t>(chunk.data, numbers, chunk.lowest, 0);
  }
  if (chunks_.push_back(chunk)) return true;
  forget(chunk);
  return false;
}

// Little-endian, as every machine is that this runs on (the formats of files need it, too).
void PackedChunks::Chunk::store(size_t i, uint64_t above) const {
  std::memcpy(data + i * width, &above, width);
}

bool PackedChunks::set(size_t i, uint64_t number, uint8_t width) {
  Chunk& chunk = chunks_[i / kChunk];
  if (chunk.width != width || chunk.lowest != 0 || chunk.shift != 0) {
    Chunk wide;
    wide.count = chunk.count;
    wide.width = width;
    if (!take(wide)) return false;
    for (size_t at = 0; at < chunk.count; ++at) wide.store(at, chunk.at(at));
    forget(chunk);
    chunk = wide;
  }
  chunk.store(i % kChunk, number);
  return true;
}

void PackedChunks::truncate(size_t size) {
  while (!chunks_.empty() && (chunks_.size() - 1) * kChunk >= size) {
    forget(chunks_.back());
    chunks_.pop_back();
  }
  if (size >= this->size()) return;
  // The memory of the others is charged no more, and kept until the chunk goes.
  Chunk& last = chunks_.back();
  const auto kept = static_cast<uint32_t>(size - (chunks_.size() - 1) * kChunk);
  budget_->give_back(static_cast<int64_t>(last.count - kept) * last.width);
  last.count = kept;
}

}  // namespace gpustrata
