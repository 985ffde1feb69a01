// What lies on the stack of the pickle machine: 16 bytes, whatever it stands for.
//
// A container is `open` while it can still get members. Once complete, the schema replaces it by what it
// means: a frame, a row of a table, a range of rows, JSON text. No tree of objects ever exists.
#pragma once

#include <cstdint>

namespace memstrata::io::pickle {

enum class Tag : uint32_t {
  undefined,  // an unused memo slot; as a result: memory was refused
  open,       // id = index of the unfinished container
  // Up to `empty_list`: fits a memo handle of 32 bits if `num` is 0.
  string,  // id = StringId
  bytes,   // id = StringId; Python 2 text, bytes, bytearray
  frame,   // id = FrameId
  stack,   // id = StackId; a list of frames
  pair,    // id = row of the pair table; a list or tuple of two integers
  // Rows of a table: `num` + 1 neighbours beginning with row `id`. Neighbours on the stack merge, so that
  // a million events under one MARK are one value.
  event_rows,
  block_rows,
  segment_rows,
  history_rows,
  annotation_rows,
  empty_list,          // also an empty tuple or set
  in_side_table = 15,  // memo handles only
  none,
  boolean,       // num = 0 or 1
  integer,       // num = two's complement
  big_integer,   // num = a value from 2^63 up
  huge_integer,  // does not fit 64 bits; num = bytes or digits it has
  real,          // num = the bits of the double
  dropped,       // was damaged or incomplete and is already counted
  global,        // id = StringId of module.name; num = Callable
  object,        // id = StringId of the class; never created
  text,          // id = StringId of JSON text; num = how deep it nests
  empty_lists,   // num = how many; a list of empty lists
  // From here on: never cut from a list or dict that is too long.
  event_list,  // lists of rows: see RowLists
  block_list,
  segment_list,
  history_list,
  annotation_list,
  trace_list,  // id = first value in `trace_lists`, num = how many; a list of lists of events
  snapshot,    // id = index of the snapshot
  wrapper,     // snapshots inside a user's container: see Wrapping
};

struct Value {
  Tag tag = Tag::undefined;
  uint32_t id = 0;
  uint64_t num = 0;
};
static_assert(sizeof(Value) == 16);

[[nodiscard]] constexpr bool is_rows(Tag tag) {
  return tag >= Tag::event_rows && tag <= Tag::annotation_rows;
}
[[nodiscard]] constexpr bool is_row_list(Tag tag) {
  return tag >= Tag::event_list && tag <= Tag::annotation_list;
}
[[nodiscard]] constexpr bool is_always_kept(Tag tag) { return is_rows(tag) || tag >= Tag::event_list; }
[[nodiscard]] constexpr bool is_text(Tag tag) { return tag == Tag::string || tag == Tag::bytes; }
// Could a Python object that takes members stand behind it?
[[nodiscard]] constexpr bool is_container(Tag tag) {
  return tag == Tag::stack || tag == Tag::pair || tag == Tag::frame || is_rows(tag) ||
         tag == Tag::empty_list || tag == Tag::dropped || tag == Tag::none || tag >= Tag::object;
}

// Takes `next` in if it continues `rows`.
[[nodiscard]] constexpr bool merge(Value& rows, const Value& next) {
  if (rows.tag != next.tag || !is_rows(next.tag) || rows.id + rows.num + 1 != next.id) return false;
  rows.num += next.num + 1;
  return true;
}
// The last of neighbouring rows, any other value itself.
[[nodiscard]] constexpr Value last_of(const Value& value) {
  if (!is_rows(value.tag) || value.num == 0) return value;
  return {value.tag, static_cast<uint32_t>(value.id + value.num), 0};
}

}  // namespace memstrata::io::pickle
