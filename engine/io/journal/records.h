// Records: what a program appends to a journal's ring, one after the other; names and states in chunks are records, too.
//
// A record is a head, fields and, if it has any, texts or lists, padded with zeros to a multiple of 8. Texts, frames and stacks
// are numbered 0, 1, 2, ... each in the order they are told; whoever refers to one comes behind it. -1 = none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/io/journal/format.h"

namespace gpustrata::io::journal {

enum class RecordKind : uint8_t {
  event = 1,
  text,
  frame,
  stack,
  fact,         // a key and a value about the run: two texts
  count,        // of the device's events before this position; stands among names where a region begins
  state_begin,  // of the device: all its segments and live blocks follow, then state_end
  segment,
  block,
  state_end,
};

struct RecordHead {
  uint32_t bytes;  // of the whole record
  RecordKind kind;
  uint8_t zero;
  uint16_t device;
};
static_assert(sizeof(RecordHead) == 8);

// Behind trace::Action: beginnings and ends of regions that the program named are events, too; `metadata` is the name.
inline constexpr uint32_t kRegionBegin = 128;
inline constexpr uint32_t kRegionEnd = 129;

// In graph_id: the allocator does not say its pools.
inline constexpr int64_t kUnknownPool = INT64_MIN;

// The fields are those of trace::TraceEvent.
struct EventRecord {
  RecordHead head;
  uint64_t address;
  int64_t size, stream, time_us, graph_id, user_id;
  int32_t stack, context, metadata;
  uint32_t action;  // trace::Action below first_unknown, kRegionBegin, kRegionEnd
};
static_assert(sizeof(EventRecord) == 72);

struct TextRecord {  // then the text
  RecordHead head;
  int32_t id;
  uint32_t length;
};

struct FrameRecord {
  RecordHead head;
  int32_t id;
  int32_t name, filename;  // texts
  int32_t line;
};

struct StackRecord {  // then the frames, int32, innermost first
  RecordHead head;
  int32_t id;
  uint32_t count;
};

struct FactRecord {
  RecordHead head;
  int32_t key, value;  // texts
};

struct CountRecord {
  RecordHead head;
  uint64_t events;
};

// A state begins, a state ends.
struct StateMark {
  RecordHead head;
};

enum class SegmentSize : uint8_t { unknown, small, large };

struct SegmentRecord {
  RecordHead head;
  uint64_t address;
  int64_t size, stream, graph_id, user_id;
  int32_t stack;
  SegmentSize pool_size;
  uint8_t expandable;  // 0 or 1
  uint16_t zero;
};
static_assert(sizeof(SegmentRecord) == 56);

// What lies between the live blocks of a segment is inactive.
struct BlockRecord {
  RecordHead head;
  uint64_t address;
  int64_t size, requested_size;
  int32_t stack, metadata;
  uint32_t pending;  // 1: given back, but another stream may still use it
  uint32_t zero;
};
static_assert(sizeof(BlockRecord) == 48);

// Longer ones are cut by the writer and refused by the reader: a record must fit into any ring.
inline constexpr uint32_t kMostTextBytes = 16 << 10;
inline constexpr uint32_t kMostFrames = 4096;
inline constexpr uint64_t kLongestRecord = 16 + kMostTextBytes;
static_assert(kMostFrames * sizeof(int32_t) <= kMostTextBytes);

// Walks over records that lie side by side.
class Records {
 public:
  explicit Records(std::span<const std::byte> bytes) : bytes_(bytes) {}

  struct Record {
    RecordHead head;
    std::span<const std::byte> bytes;  // head included

    // None: it is shorter than T, which is what a record of its kind begins with.
    template <typename T>
    [[nodiscard]] std::optional<T> as() const {
      if (bytes.size() < sizeof(T)) return std::nullopt;
      return load<T>(bytes);
    }
  };
  // None: the end, or what cannot be a record (see is_whole).
  [[nodiscard]] std::optional<Record> next() {
    if (bytes_.size() - at_ < sizeof(RecordHead)) return std::nullopt;
    const auto head = load<RecordHead>(bytes_, at_);
    if (head.bytes < sizeof(RecordHead) || head.bytes % kAligned != 0 || head.bytes > bytes_.size() - at_)
      return std::nullopt;
    const Record record{head, bytes_.subspan(at_, head.bytes)};
    at_ += head.bytes;
    return record;
  }
  // Bytes that were walked over.
  [[nodiscard]] size_t offset() const { return at_; }
  [[nodiscard]] bool is_whole() const { return at_ == bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

// The text of a text record, the frames of a stack record; none if it is not as long as it says.
[[nodiscard]] std::optional<std::string_view> text_of(const Records::Record& record);
[[nodiscard]] std::optional<std::span<const std::byte>> frames_of(const Records::Record& record);

template <typename T>
[[nodiscard]] RecordHead head_of(RecordKind kind, int device = 0, size_t more_bytes = 0) {
  return {static_cast<uint32_t>(aligned(sizeof(T) + more_bytes)), kind, 0, static_cast<uint16_t>(device)};
}

}  // namespace gpustrata::io::journal
