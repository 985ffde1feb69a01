// Tells one input from another by its bytes, however they arrive. 64 bits, not cryptographic: for links that
// say which file they were made from, where a collision costs a missing question, nothing else.
//
// Four lanes of 8 bytes each, so that multiplications overlap: a few GB/s, far below what parsing costs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/base/hash.h"

namespace memstrata {

class ContentHash {
 public:
  void add(std::span<const std::byte> bytes) {
    length_ += bytes.size();
    while (!bytes.empty()) {
      if (held_ == 0 && bytes.size() >= kBlock) {
        const size_t whole = bytes.size() / kBlock * kBlock;
        for (size_t at = 0; at < whole; at += kBlock) take(bytes.data() + at);
        bytes = bytes.subspan(whole);
        continue;
      }
      const size_t count = bytes.size() < kBlock - held_ ? bytes.size() : kBlock - held_;
      std::memcpy(rest_.data() + held_, bytes.data(), count);
      held_ += count;
      bytes = bytes.subspan(count);
      if (held_ < kBlock) continue;
      take(rest_.data());
      held_ = 0;
    }
  }

  [[nodiscard]] uint64_t value() const {
    uint64_t hash = mix_hash(length_) ^ hash_bytes(rest_.data(), held_);
    for (const uint64_t lane : lanes_) hash = mix_hash(hash ^ lane) * kOdd;
    return mix_hash(hash);
  }

 private:
  static constexpr size_t kBlock = 32;
  static constexpr uint64_t kOdd = 0x9fb21c651e98df25ULL;

  void take(const std::byte* block) {
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      uint64_t word;
      std::memcpy(&word, block + lane * 8, 8);
      lanes_[lane] = (lanes_[lane] ^ word) * kOdd;
      lanes_[lane] ^= lanes_[lane] >> 29;
    }
  }

  std::array<uint64_t, 4> lanes_ = {1, 2, 3, 4};
  std::array<std::byte, kBlock> rest_{};
  size_t held_ = 0;
  uint64_t length_ = 0;
};

}  // namespace memstrata
