// Hashes for interning. Not cryptographic: every hit is compared by content, so a collision costs time
// only. Tables stay bounded by the budget.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace gpustrata {

[[nodiscard]] inline uint64_t mix_hash(uint64_t value) {  // finaliser of MurmurHash3
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

[[nodiscard]] inline uint64_t hash_bytes(const void* bytes, size_t length) {
  const auto* p = static_cast<const unsigned char*>(bytes);
  uint64_t hash = 0x9e3779b97f4a7c15ULL ^ (length * 0xff51afd7ed558ccdULL);
  while (length >= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = (hash ^ word) * 0x9fb21c651e98df25ULL;
    hash ^= hash >> 29;
    p += 8;
    length -= 8;
  }
  uint64_t tail = 0;
  if (length > 0) std::memcpy(&tail, p, length);  // an empty span may have no address
  return mix_hash(hash ^ tail);
}

[[nodiscard]] inline uint64_t hash_text(std::string_view text) {
  return hash_bytes(text.data(), text.size());
}

}  // namespace gpustrata
