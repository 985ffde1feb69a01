// The pickle machine: bytes -> stack, marks, memo. Knows every opcode and executes nothing from the file.
//
// It is resumable at any byte: an opcode runs when all of it is there, long strings are collected as they
// come. What a finished container means is the Schema's business.
//
// When is a container finished? When it is used: taken as a member of another one, referred to through the
// memo, or followed by another container under the same mark if it is a dict (a dict cannot be a key, so
// it cannot be about to get members). Until then its members lie in `items_`, whose regions are in the order
// of the containers on the stack, because only the topmost one can get members. So there is one array of
// members for all unfinished containers, and finishing pops it like a stack.
// In every file without cycles a container is complete when it is referred to; one that has its mark
// directly above it holds the reference, which is a cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/column.h"
#include "engine/base/string_pool.h"
#include "engine/io/encodings/pickle/memo.h"
#include "engine/io/encodings/pickle/opcodes.h"
#include "engine/io/encodings/pickle/shortcut.h"
#include "engine/io/limits.h"
#include "engine/io/values/schema.h"
#include "engine/model/diagnostics.h"

namespace gpustrata::io::pickle {

using values::Ending;
using values::Schema;

enum class Halt : uint8_t {
  none,         // more input is welcome
  stop,         // STOP
  ended,        // by `end_of_input`
  damaged,      // impossible bytes
  unsupported,  // a protocol from the future, buffers outside the file
  out_of_budget,
};

class Machine {
 public:
  Machine(StringPool& strings, Budget& budget, model::Diagnostics& diagnostics, Schema& schema);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  // Lengths beyond it are refused at once. 0 = unknown.
  void expect_bytes(int64_t total) { expected_ = total; }
  // Dicts are offered to it first. None: every opcode is run. Either way the result is the same.
  void use(Shortcut* shortcut) { shortcut_ = shortcut; }
  // The only classes the pickle may name, as "module.name"; any other one ends it as `unsupported`. Of a kind of
  // file that holds some and no others. None of them is created either.
  void allow_only(std::span<const std::string_view> classes) { allowed_ = classes; }
  // Runs every opcode that lies in `bytes` as a whole and tells how many bytes that were. The others, less
  // than kGapBytes, must come again in front of the next ones. `offset` is the place of bytes[0].
  [[nodiscard]] size_t run(std::span<const std::byte> bytes, int64_t offset);
  // No more bytes; `offset` is where the input ended.
  void end_of_input(int64_t offset);

  [[nodiscard]] Halt halt() const { return halt_; }
  [[nodiscard]] int64_t halt_offset() const { return halt_offset_; }
  [[nodiscard]] const std::string& halt_text() const { return halt_text_; }
  // The first foreign class, empty if there was none.
  [[nodiscard]] std::string_view first_global() const { return strings_.view(first_global_); }
  [[nodiscard]] int64_t first_global_offset() const { return first_global_offset_; }

  // What the pickle holds: the value that STOP left, or else everything read so far, with all containers
  // closed from the top as if they were complete. Called once, after the end.
  [[nodiscard]] Value result();

 private:
  static constexpr uint32_t kNoSlot = UINT32_MAX;
  struct Open {
    uint32_t position;  // on the stack
    uint32_t items;     // first of its members in items_
    uint32_t slot;      // of the memo, kNoSlot = none
    bool is_dict : 1;
    bool closed : 1;   // finished while it lay below others
    bool batched : 1;  // has got members by APPENDS or SETITEMS
    bool singly : 1;   // made by LIST or DICT: members come one by one (protocol 0)
    bool partial : 1;
    bool cut : 1;
  };
  enum class Callable : uint8_t {
    foreign,
    harmless,        // a plain type; needs no remark
    makes_dict,      // OrderedDict and the like: a dict, filled by SETITEMS
    first_argument,  // returns what it is given
  };
  // A string or line longer than what is waited for.
  struct Collecting {
    uint8_t code = 0;   // opcode, 0 = nothing
    bool line = false;  // up to the end of the line instead of `left`
    Tag tag = Tag::undefined;
    uint64_t left = 0;
    uint64_t seen = 0;
    int64_t offset = 0;
  };

  // machine.cpp: opcodes. False everywhere: halted.
  [[nodiscard]] bool halt_at(Halt halt, std::string text);
  [[nodiscard]] bool damaged(std::string_view text);
  [[nodiscard]] bool out_of_budget();
  [[nodiscard]] bool run_rare(uint8_t code, const uint8_t* operand);
  [[nodiscard]] bool run_line(uint8_t code, std::string_view line);
  [[nodiscard]] bool push_text(std::string_view text, Tag tag, uint64_t whole_length);
  [[nodiscard]] bool push_integer(const Value& value);
  [[nodiscard]] bool start_collecting(uint8_t code, Tag tag, uint64_t length, bool line);
  [[nodiscard]] size_t collect(const uint8_t* bytes, size_t count);

  // containers.cpp: stack, marks, memo, members.
  [[nodiscard]] size_t size() const { return static_cast<size_t>(top_ - base_); }
  // Lowest index that opcodes may touch.
  [[nodiscard]] size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  // What is unfinished under the same mark would be completed before the dict that is about to begin.
  [[nodiscard]] bool may_take_shortcut() const {
    return shortcut_ != nullptr && opens_.size() + 2 <= kMaxOpen &&
           (opens_.empty() || opens_.back().position < floor());
  }
  [[nodiscard]] bool make_room();
  [[nodiscard]] bool push(const Value& value);
  [[nodiscard]] bool push_mark();
  [[nodiscard]] bool take_mark(size_t& first);
  [[nodiscard]] bool push_open(bool is_dict);
  [[nodiscard]] bool complete_dict_below();
  [[nodiscard]] bool open_from_mark(bool is_dict);
  [[nodiscard]] bool close(size_t index);
  [[nodiscard]] bool close_from(size_t position);
  [[nodiscard]] bool push_reference(const Value& value);
  [[nodiscard]] bool get(uint32_t slot);
  [[nodiscard]] bool put(int64_t slot);
  [[nodiscard]] bool add_batch(bool pairs);
  [[nodiscard]] bool add_one(bool pair);
  [[nodiscard]] bool add_members(size_t first, bool pairs, bool batch);
  [[nodiscard]] bool append_items(size_t index, std::span<const Value> values);
  [[nodiscard]] bool append_pairs(size_t index, std::span<const Value> values);
  [[nodiscard]] bool make_tuple(size_t count);
  [[nodiscard]] bool make_tuple_from_mark();
  [[nodiscard]] bool push_tuple(std::span<const Value> values);
  [[nodiscard]] bool pop();
  [[nodiscard]] bool duplicate();

  // salvage.cpp: what can be shown of an input that ends inside.
  [[nodiscard]] Value salvage();
  [[nodiscard]] bool salvage_step();
  [[nodiscard]] bool waits_for_member(const Open& open) const;

  // objects.cpp: classes and instances, kept inert.
  [[nodiscard]] bool refuse_class(std::string_view name);
  [[nodiscard]] bool push_global(std::string_view module, std::string_view name);
  [[nodiscard]] bool global_from_stack();
  [[nodiscard]] bool push_foreign(std::string_view what);
  [[nodiscard]] bool reduce(size_t arguments);
  [[nodiscard]] bool build();
  [[nodiscard]] bool object_from_mark(Op op);
  void note_foreign(StringId name);

  StringPool& strings_;
  Budget& budget_;
  model::Diagnostics& diagnostics_;
  Schema& schema_;
  Shortcut* shortcut_ = nullptr;
  std::span<const std::string_view> allowed_;  // empty = any

  Column<Value> stack_{budget_};  // as large as its capacity; [base_, top_) is in use
  Value* base_ = nullptr;
  Value* top_ = nullptr;
  Value* limit_ = nullptr;
  Column<uint32_t> marks_{budget_};  // positions on the stack
  Column<Open> opens_{budget_};
  Column<Value> items_{budget_};
  Memo memo_{budget_};
  Column<char> collected_{budget_};
  Collecting collecting_;
  // The tuple made last and its first member, for constructors that return their argument. A batch of pairs
  // ends it.
  Value tuple_;
  Value tuple_first_;

  int64_t reserve_ = 0;  // of the budget, for closing what is open when it runs out
  int64_t expected_ = 0;
  int64_t offset_ = 0;  // of the opcode at work
  bool salvaging_ = false;
  Halt halt_ = Halt::none;
  int64_t halt_offset_ = -1;
  std::string halt_text_;
  StringId first_global_;
  int64_t first_global_offset_ = -1;
};

}  // namespace gpustrata::io::pickle
