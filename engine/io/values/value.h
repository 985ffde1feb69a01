// What an encoding says: 16 bytes, whatever it stands for. Knows no format of any file.
//
// A container is `open` while it can still get members. Once complete, the schema (schema.h) replaces it by
// what it means to one kind of file: an id, a row of a table, a range of rows, JSON text. No tree of objects
// ever exists. What a schema makes are the tags `own_...`: each schema gives them names of its own
// (readers/snapshot/snapshot_values.h does), and they differ in what an encoding may do with them.
#pragma once

#include <cstdint>

namespace gpustrata::io::values {

enum class Tag : uint32_t {
  undefined,  // an unused memo slot; as a result: memory was refused
  open,       // id = index of the unfinished container
  // Up to `empty_list`: fits a memo handle of 32 bits if `num` is 0.
  string,  // id = StringId
  bytes,   // id = StringId; Python 2 text, bytes, bytearray
  // Something of the schema that `id` tells.
  own_id_0,
  own_id_1,
  own_id_2,
  // Rows of a table of the schema: `num` + 1 neighbours beginning with row `id`. Neighbours merge, so that a
  // million members of one list are one value.
  own_rows_0,
  own_rows_1,
  own_rows_2,
  own_rows_3,
  own_rows_4,
  empty_list,          // also an empty tuple or set
  in_side_table = 15,  // memo handles only
  none,
  boolean,       // num = 0 or 1
  integer,       // num = two's complement
  big_integer,   // num = a value from 2^63 up
  huge_integer,  // does not fit 64 bits; num = bytes or digits it has
  real,          // num = the bits of the double
  dropped,       // was damaged or incomplete and is already counted
  global,        // id = StringId of module.name; num = what calling it does
  object,        // id = StringId of the class; never created
  text,          // id = StringId of JSON text; num = how deep it nests
  empty_lists,   // num = how many; a list of empty lists
  // Something of the schema that is never cut from a list or dict that is too long.
  own_kept_0,
  own_kept_1,
  own_kept_2,
  own_kept_3,
  own_kept_4,
  own_kept_5,
  own_kept_6,
  own_kept_7,
};

struct Value {
  Tag tag = Tag::undefined;
  uint32_t id = 0;
  uint64_t num = 0;
};
static_assert(sizeof(Value) == 16);

[[nodiscard]] constexpr bool is_rows(Tag tag) { return tag >= Tag::own_rows_0 && tag <= Tag::own_rows_4; }
[[nodiscard]] constexpr bool is_always_kept(Tag tag) { return is_rows(tag) || tag >= Tag::own_kept_0; }
[[nodiscard]] constexpr bool is_text(Tag tag) { return tag == Tag::string || tag == Tag::bytes; }
[[nodiscard]] constexpr bool is_number(Tag tag) { return tag >= Tag::integer && tag <= Tag::real; }
// Could a Python object that takes members stand behind it?
[[nodiscard]] constexpr bool is_container(Tag tag) {
  return (tag >= Tag::own_id_0 && tag <= Tag::own_id_2) || is_rows(tag) || tag == Tag::empty_list ||
         tag == Tag::dropped || tag == Tag::none || tag >= Tag::object;
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

}  // namespace gpustrata::io::values
