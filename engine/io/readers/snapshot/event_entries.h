// Events straight from the bytes of their dicts: nearly all of a large file.
//
// Two ways, both exact. `walk` reads one entry opcode by opcode, but only what an event can hold, without
// stack or marks. It also learns the entry's template: the bytes that are the same in the next one (keys,
// marks, fields that have not changed so far) and the typed holes between them. `match` compares and fills
// in. Whatever does not fit (another kind of dict, unknown keys, values to be counted as odd, the end of the
// chunk) is left to the machine, untouched. A template holds as long as no memo slot changes its value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/io/encodings/pickle/shortcut.h"
#include "engine/io/readers/snapshot/snapshot_schema.h"
#include "engine/io/readers/snapshot/stack_runs.h"

namespace gpustrata::io {

class EventEntries final : public pickle::Shortcut {
 public:
  EventEntries(SnapshotSchema& schema, model::Recording& recording);
  [[nodiscard]] Taken take(std::span<const uint8_t> bytes, int64_t offset, pickle::Memo& memo) override;

 private:
  using Value = values::Value;
  using Memo = pickle::Memo;

  static constexpr size_t kMaxStored = 8;  // memo slots that one entry fills
  static constexpr size_t kMaxSteps = 24;
  static constexpr size_t kMaxLiteral = 256;  // bytes of a template
  static constexpr size_t kTemplates = 4;
  static constexpr uint8_t kNotStored = 0xFF;

  // A stretch of fixed bytes and what comes behind it.
  enum class Hole : uint8_t {
    nothing,  // the end
    slot,     // index of PUT: the next one of the memo
    action,
    address,
    size,
    time,
    stream,
    context,
    metadata,
    pool,
    shared_stack,  // a reference to a list of frames
    stack,         // references to frames, APPENDS
  };
  struct Step {
    uint16_t first;   // of the fixed bytes
    uint16_t length;  // of the fixed bytes
    Hole hole;
    uint8_t stored;  // place in `stored` of what the hole or PUT holds
    uint64_t tail;   // mask of the last up to 8 fixed bytes
  };
  enum class Frames : uint8_t { absent, known, empty, is_new };
  // One entry: its row, and what it leaves in the memo in the order of slots. Until it is certain that it is
  // an event nothing gets an id that would show: streams, pools and new stacks wait here.
  struct Entry {
    SnapshotSchema::EventRow row;
    int64_t stream = 0;
    Value pool;  // no pair = absent
    Frames frames = Frames::absent;
    uint8_t stored_count = 0;
    uint8_t dict = kNotStored;         // its place in `stored`
    uint8_t frames_list = kNotStored;  // the same
    std::array<Value, kMaxStored> stored;
  };
  struct Template {
    Entry entry;         // fields without a hole keep their value
    uint64_t shape = 0;  // keys and kinds of values in their order; 0 = unused
    uint8_t steps = 0;
    std::array<Step, kMaxSteps> step;
    std::array<uint8_t, kMaxLiteral + 8> literal;
  };
  // What walk() finds out beside the entry.
  struct Place {
    Hole hole;
    uint8_t stored;
    uint32_t first;  // bytes of the entry
    uint32_t end;
  };
  struct Walk {
    Entry entry;
    uint64_t shape = 0;
    uint32_t keys = 0;  // bit(Word) of those seen
    bool is_learnable = true;
    uint8_t places = 0;
    std::array<Place, kMaxSteps> place;
  };
  class Walker;

  [[nodiscard]] size_t match(Template& known, const uint8_t* begin, const uint8_t* end, const Memo& memo);
  [[nodiscard]] static bool read_shared_stack(const uint8_t*& p, const Memo& memo, Entry& entry);
  [[nodiscard]] bool read_stack(const uint8_t*& p, const uint8_t* end, const Memo& memo, Entry& entry);
  [[nodiscard]] size_t complete(Entry& entry, const uint8_t* begin, const uint8_t* behind, const uint8_t* end,
                                int64_t offset, Memo& memo);
  [[nodiscard]] size_t learn(const uint8_t* begin, size_t length);
  [[nodiscard]] bool build(Template& made, const uint8_t* begin, size_t length) const;
  void forget();

  SnapshotSchema& schema_;
  model::Recording& recording_;
  StackRuns runs_;
  Walk walk_;
  std::array<Template, kTemplates> templates_{};
  std::array<uint8_t, 256> next_{};  // template that followed the last four
  uint8_t history_ = 0;
  uint8_t oldest_ = 0;
  uint32_t varying_ = 0;   // bits of the holes that were seen to change; the others are fixed bytes
  int32_t patience_ = 64;  // learning that pays no more is given up
  uint32_t hits_ = 0;
  uint32_t overwritten_ = 0;
};

}  // namespace gpustrata::io
