// The opcodes of Python's pickle, protocols 0 to 5, and how many bytes of fixed operand follow each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gpustrata::io::pickle {

enum class Op : uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  put = 'p',          // decimal line
  binput = 'q',       // u8
  long_binput = 'r',  // u32
  memoize = 0x94,     // slot = number of used slots
  get = 'g',          // decimal line
  binget = 'h',       // u8
  long_binget = 'j',  // u32
  none = 'N',
  new_true = 0x88,
  new_false = 0x89,
  int_line = 'I',   // decimal line; 00 and 01 are booleans
  long_line = 'L',  // decimal line, may end in L
  float_line = 'F',
  binint = 'J',        // i32
  binint1 = 'K',       // u8
  binint2 = 'M',       // u16
  long1 = 0x8a,        // u8 length, two's complement
  long4 = 0x8b,        // i32 length
  binfloat = 'G',      // 8 bytes, big endian
  unicode_line = 'V',  // raw-unicode-escape
  binunicode = 'X',    // u32 length, UTF-8 (surrogates may be encoded)
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  string_line = 'S',  // repr() of a Python 2 string
  binstring = 'T',    // i32 length
  short_binstring = 'U',
  binbytes = 'B',  // u32 length
  short_binbytes = 'C',
  binbytes8 = 0x8e,
  bytearray8 = 0x96,
  empty_list = ']',
  list = 'l',
  append = 'a',
  appends = 'e',
  empty_dict = '}',
  dict = 'd',
  setitem = 's',
  setitems = 'u',
  empty_tuple = ')',
  tuple = 't',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  empty_set = 0x8f,
  additems = 0x90,
  frozenset = 0x91,
  global = 'c',  // two lines: module, name
  stack_global = 0x93,
  reduce = 'R',
  build = 'b',
  inst = 'i',  // two lines
  obj = 'o',
  newobj = 0x81,
  newobj_ex = 0x92,
  persid = 'P',  // line
  binpersid = 'Q',
  ext1 = 0x82,
  ext2 = 0x83,
  ext4 = 0x84,
  proto = 0x80,
  frame = 0x95,  // u64 length, of no use to a streaming reader
  next_buffer = 0x97,
  readonly_buffer = 0x98,
};

inline constexpr int kHighestProtocol = 5;

// Bytes that follow the opcode whatever their value; lengths count, what they announce does not.
inline constexpr std::array<uint8_t, 256> kFixedOperand = [] {
  std::array<uint8_t, 256> bytes{};
  const auto set = [&bytes](Op op, uint8_t count) { bytes[static_cast<size_t>(op)] = count; };
  for (const Op op : {Op::binput, Op::binget, Op::binint1, Op::long1, Op::short_binunicode,
                      Op::short_binstring, Op::short_binbytes, Op::ext1, Op::proto}) {
    set(op, 1);
  }
  for (const Op op : {Op::binint2, Op::ext2}) set(op, 2);
  for (const Op op : {Op::long_binput, Op::long_binget, Op::binint, Op::long4, Op::binunicode, Op::binstring,
                      Op::binbytes, Op::ext4}) {
    set(op, 4);
  }
  for (const Op op : {Op::binfloat, Op::binunicode8, Op::binbytes8, Op::bytearray8, Op::frame}) set(op, 8);
  return bytes;
}();

}  // namespace gpustrata::io::pickle
