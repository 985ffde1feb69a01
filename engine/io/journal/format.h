// The journal of a run, version 1: its header and its chunks. README.md in this folder describes every byte.
//
//   [header, 4096 bytes][ring of records][region 0][region 1]
//
// A program appends records to the ring; what the ring holds is made into chunks from time to time, which fill the regions in
// turn. Positions count the bytes that were ever put into the ring: a chunk says which of them it holds, so that nothing is
// lost and nothing read twice, wherever the program was killed. All numbers are little-endian, all places multiples of 8.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "engine/base/content_hash.h"

namespace gpustrata::io::journal {

static_assert(std::endian::native == std::endian::little, "structs are copied as they are");

inline constexpr std::string_view kMagic("\x93gpustrata run\r\n", 16);
inline constexpr uint32_t kVersion = 1;
inline constexpr std::string_view kFileEnding = ".gpustrata";  // of its name: recorders go by it
inline constexpr uint64_t kHeaderBytes = 4096;
inline constexpr uint64_t kAligned = 8;

// At byte 0; fixed once the file is made.
struct Header {
  char magic[16];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t ring_bytes;
  uint64_t region_bytes;  // of each of the two
  uint64_t process;       // its number
  int64_t started_us;     // since the Unix epoch
  uint64_t check;         // check_of() the bytes before
};
static_assert(sizeof(Header) == 64);

// Counters in the header that change while the program runs, each on a cache line of its own.
inline constexpr uint64_t kHeadAt = 128;        // position behind the last whole record in the ring
inline constexpr uint64_t kTailAt = 192;        // position up to which chunks are in the file
inline constexpr uint64_t kClosedAt = 256;      // 1: the program closed it
inline constexpr uint64_t kLostEventsAt = 320;  // events that came after writing had stopped
inline constexpr uint64_t kLostStacksAt = 384;  // stacks and texts that found no room
inline constexpr uint64_t kEventsAt = 448;  // events told so far, those that are gone too; 0 = not counted
inline constexpr uint64_t kReasonAt =
    512;  // why writing stopped, a sentence that ends with a 0 byte; "" = it did not
inline constexpr uint64_t kReasonBytes = 1024;

enum class ChunkKind : uint32_t {
  end = 0,     // no chunk: the region ends here
  names = 1,   // records: texts, frames, stacks, facts
  events = 2,  // columns of events (event_columns.h)
  state = 3,   // records: the segments and blocks of one device at this position
};

struct ChunkHead {
  uint32_t mark;  // kChunkMark, 0 in `end`
  ChunkKind kind;
  uint64_t bytes;       // of what follows the head
  uint64_t generation;  // of its region: 1, 2, 3, ... as regions are begun
  uint64_t from, to;    // positions of the records it was made of; names and states have both the same
  uint64_t check;       // check_of() the fields before and what follows
};
static_assert(sizeof(ChunkHead) == 48);
inline constexpr uint32_t kChunkMark = 0x4b4e4843;  // "CHNK"

[[nodiscard]] inline uint64_t check_of(std::span<const std::byte> one,
                                       std::span<const std::byte> other = {}) {
  ContentHash hash;
  hash.add(one);
  hash.add(other);
  return hash.value();
}
[[nodiscard]] inline uint64_t check_of(const Header& header) {
  return check_of(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, check)));
}
[[nodiscard]] inline uint64_t check_of(const ChunkHead& head, std::span<const std::byte> content) {
  return check_of(std::as_bytes(std::span(&head, 1)).first(offsetof(ChunkHead, check)), content);
}

// A copy of the struct at `offset`, which the caller knows to be within.
template <typename T>
[[nodiscard]] T load(std::span<const std::byte> bytes, uint64_t offset = 0) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// `count` bytes from `offset` on, which the caller knows to be within.
[[nodiscard]] inline std::span<const std::byte> bytes_at(std::span<const std::byte> bytes, uint64_t offset,
                                                         uint64_t count) {
  return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(count));
}

[[nodiscard]] constexpr uint64_t aligned(uint64_t bytes) {
  return (bytes + kAligned - 1) / kAligned * kAligned;
}

}  // namespace gpustrata::io::journal
