// Stacks as they are gathered: C++ return addresses and Python (code object, instruction), interned.
//
// Nothing is looked up in symbol tables here; that is for the dump. A stack that was seen before costs one
// hash over its words and one comparison, and takes no memory. Python frames get their names when a stack is
// new, because the interpreter may be gone at the dump.
//
// Safe from any thread. Stack 0 is the empty one. Everything is kept for the life of the process. Code objects either are kept,
// too, so that an address is always the same one, or whoever cannot keep them says when one ends: forget().
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/base/string_pool.h"
#include "engine/trace/stack_table.h"

namespace gpustrata::capture {

// One Python frame: what identifies it while its code object lives.
struct PythonFrame {
  void* code;           // PyCodeObject; RawStacks holds a reference from the first sight on
  int64_t instruction;  // byte offset of the last one; below 0: minus the line, if that is all one can ask
};

struct PythonFrameText {
  std::string_view name;
  std::string_view filename;
  int32_t line = 0;
};

// Innermost first.
struct RawStack {
  std::span<const uint64_t> addresses;  // C++ return addresses
  std::span<const PythonFrame> python;
};

class RawStacks {
 public:
  // Names a frame; the texts are copied. Called with the frames of a new stack only, under the lock.
  using NamePython = PythonFrameText (*)(const PythonFrame& frame);
  // Keeps the code object alive.
  using KeepCode = void (*)(void* code);

  RawStacks(int64_t limit_bytes, NamePython name, KeepCode keep);

  // None if memory is short.
  [[nodiscard]] StackId intern(const RawStack& stack) { return intern(stack, hash_of(stack)); }
  // Whoever walks over the frames anyway hashes them as they come: start, then add() of each address, then of each Python
  // frame, innermost first; hash_of() does just that.
  [[nodiscard]] StackId intern(const RawStack& stack, uint64_t hash);
  [[nodiscard]] static uint64_t hash_of(const RawStack& stack);
  // One multiplication: addresses differ in few bits.
  [[nodiscard]] static uint64_t add(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdU;
    return hash ^ hash >> 32;
  }
  [[nodiscard]] static uint64_t add(uint64_t hash, const PythonFrame& frame) {
    return add(hash, reinterpret_cast<uint64_t>(frame.code) ^ static_cast<uint64_t>(frame.instruction) << 47);
  }
  // The code object ends: whatever has its address from now on is another one. O(stacks) if it is in one of them.
  void forget(void* code);

  // A stack to be symbolised.
  struct Kept {
    std::vector<uint64_t> addresses;
    std::vector<trace::Frame> python;  // texts: see `text`
  };
  [[nodiscard]] Kept get(StackId id) const;
  [[nodiscard]] std::string_view text(StringId id) const;  // valid for ever
  [[nodiscard]] size_t size() const;
  [[nodiscard]] int64_t lost() const;  // stacks that found no memory

 private:
  struct Entry {
    uint64_t hash = 0;
    uint64_t words = 0;  // first in words_
    uint32_t addresses = 0;
    uint32_t python = 0;
    uint64_t frames = 0;  // first in frames_; as many as `python`
    bool ended = false;   // with one of its code objects: no new stack is this one
  };
  [[nodiscard]] bool equals(const Entry& entry, const RawStack& stack) const;
  [[nodiscard]] StackId add_entry(const RawStack& stack, uint64_t hash);
  [[nodiscard]] bool add_python(const RawStack& stack);
  [[nodiscard]] bool grow_codes();
  [[nodiscard]] bool grow_table();

  mutable std::mutex lock_;
  Budget budget_;
  NamePython name_;
  KeepCode keep_;
  StringPool strings_;
  Column<uint64_t> words_;  // addresses, then (code, instruction) pairs
  Column<trace::Frame> frames_;
  Column<Entry> entries_;
  Column<int32_t> table_;   // open addressing, -1 = free
  Column<uint64_t> codes_;  // code objects that were seen, open addressing, 0 = free, kEnded = was one
  size_t code_count_ = 0;
  int64_t lost_ = 0;
};

}  // namespace gpustrata::capture
