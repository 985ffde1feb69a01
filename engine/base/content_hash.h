// Tells one input from another by its bytes, however they arrive. 64 bits, not cryptographic: for links that
// say which file they were made from, where a collision costs a missing question, nothing else.
//
// Four lanes of 8 bytes each, so that multiplications overlap: a few GB/s, far below what parsing costs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/hash.h"

namespace gpustrata {

class ContentHash {
 public:
  void add(std::span<const std::byte> bytes);

  [[nodiscard]] uint64_t value() const {
    uint64_t hash = mix_hash(length_) ^ hash_bytes(rest_.data(), held_);
    for (const uint64_t lane : lanes_) hash = mix_hash(hash ^ lane) * kOdd;
    return mix_hash(hash);
  }

 private:
  static constexpr size_t kBlock = 32;
  static constexpr uint64_t kOdd = 0x9fb21c651e98df25ULL;

  void take(const std::byte* blocks, size_t count);

  std::array<uint64_t, 4> lanes_ = {1, 2, 3, 4};
  std::array<std::byte, kBlock> rest_{};
  size_t held_ = 0;
  uint64_t length_ = 0;
};

}  // namespace gpustrata
