// A table of Arrow arrays whose buffers are the engine's columns where those fit as they are.
//
// Texts that repeat are dictionaries of the table, of which the rows hold numbers; all batches share them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpustrata::arrow {

struct Field {
  std::string name;
  std::string format;  // Arrow's word: "l" = int64, "u" = text, "+s" = struct
  bool nullable = false;
  std::vector<Field> children = {};
  int32_t dictionary = -1;  // of Table::dictionaries, whose texts the numbers mean; -1 = none
};

struct Array {
  int64_t length = 0;
  int64_t nulls = 0;
  std::vector<const void*> buffers = {};  // the first one is the validity bits; null = all are valid
  std::vector<Array> children = {};
};

struct Table {
  // `keeps`: what the buffers lie in.
  explicit Table(std::shared_ptr<const void> keeps) : file(std::move(keeps)) {}

  std::shared_ptr<const void> file;          // goes last
  std::vector<std::shared_ptr<void>> owned;  // buffers made for this table
  Field schema{"", "+s"};
  std::vector<Array> dictionaries;  // texts
  std::vector<Array> batches;       // structs; of a table that went to a BatchSink none

  [[nodiscard]] int64_t rows() const {
    int64_t rows = 0;
    for (const Array& batch : batches) rows += batch.length;
    return rows;
  }
};

}  // namespace gpustrata::arrow
