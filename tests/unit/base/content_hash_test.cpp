#include "engine/base/content_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gpustrata {
namespace {

std::vector<std::byte> bytes_of(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 37 + 11);
  return bytes;
}

uint64_t in_chunks(std::span<const std::byte> bytes, size_t chunk) {
  ContentHash hash;
  for (size_t at = 0; at < bytes.size(); at += chunk)
    hash.add(bytes.subspan(at, std::min(chunk, bytes.size() - at)));
  return hash.value();
}

TEST(ContentHash, ChunksDoNotMatter) {
  const auto bytes = bytes_of(1000);
  const uint64_t whole = in_chunks(bytes, 1000);
  for (const size_t chunk : {1u, 3u, 31u, 32u, 33u, 64u, 500u})
    EXPECT_EQ(in_chunks(bytes, chunk), whole) << chunk;
}

TEST(ContentHash, EveryByteAndTheLengthMatter) {
  auto bytes = bytes_of(100);
  const uint64_t whole = in_chunks(bytes, 100);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{1};
    EXPECT_NE(in_chunks(bytes, 100), whole) << i;
    bytes[i] ^= std::byte{1};
  }
  EXPECT_NE(in_chunks(std::span(bytes).first(99), 99), whole);
  std::vector<std::byte> zeros(64);
  EXPECT_NE(in_chunks(std::span(zeros).first(32), 32), in_chunks(zeros, 64));
}

}  // namespace
}  // namespace gpustrata
