// A table of Arrow arrays whose buffers are the engine's columns where those fit as they are.
//
// Whoever takes an array keeps the table, and with it the file, until it releases the array: on any thread, after
// the file was closed, in any order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/python/native/arrow_abi.h"

namespace memstrata::python {

struct Field {
  std::string name;
  std::string format;  // Arrow's word: "l" = int64, "u" = text, "+s" = struct
  bool nullable = false;
  std::vector<Field> children;
  std::vector<Field> dictionary;  // one: the type of the values that the rows count
};

struct Array {
  int64_t length = 0;
  int64_t nulls = 0;
  std::vector<const void*> buffers;  // the first one is the validity bits; null = all are valid
  std::vector<Array> children;
  std::vector<Array> dictionary;  // one, or none
};

struct Table {
  explicit Table(std::shared_ptr<const void> keeps) : file(std::move(keeps)) {}

  std::shared_ptr<const void> file;          // what the buffers lie in; goes last
  std::vector<std::shared_ptr<void>> owned;  // buffers made for this table
  Field schema{"", "+s", false, {}, {}};
  std::vector<Array> batches;  // structs

  [[nodiscard]] int64_t rows() const;
};

// May be called any number of times. Throws std::bad_alloc.
void export_stream(std::shared_ptr<const Table> table, ArrowArrayStream& out);

}  // namespace memstrata::python
