#include "engine/base/content_hash.h"

#include <algorithm>
#include <cstring>

namespace gpustrata {

void ContentHash::add(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  length_ += bytes.size();
  if (held_ > 0) {
    const size_t count = std::min(bytes.size(), kBlock - held_);
    std::memcpy(rest_.data() + held_, bytes.data(), count);
    held_ += count;
    bytes = bytes.subspan(count);
    if (held_ < kBlock) return;
    take(rest_.data(), 1);
  }
  const size_t whole = bytes.size() / kBlock;
  take(bytes.data(), whole);
  held_ = bytes.size() % kBlock;
  if (held_ > 0) std::memcpy(rest_.data(), bytes.data() + whole * kBlock, held_);
}

// The lanes are variables of their own: kept in registers, whatever the compiler makes of an array.
void ContentHash::take(const std::byte* blocks, size_t count) {
  auto [a, b, c, d] = lanes_;
  const auto mix = [](uint64_t& lane, const std::byte* at) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    lane = (lane ^ word) * kOdd;
    lane ^= lane >> 29;
  };
  for (const std::byte* const end = blocks + count * kBlock; blocks != end; blocks += kBlock) {
    mix(a, blocks);
    mix(b, blocks + 8);
    mix(c, blocks + 16);
    mix(d, blocks + 24);
  }
  lanes_ = {a, b, c, d};
}

}  // namespace gpustrata
