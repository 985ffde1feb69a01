// Schemas and arrays of a table as the structs of Arrow's C data interface (nanoarrow declares them), which every
// library of Arrow takes.
#pragma once

#include <nanoarrow/nanoarrow.h>

#include <memory>

#include "engine/arrow/table.h"

namespace gpustrata::arrow {

enum class Dictionaries : uint8_t {
  as_texts,    // fields of their own: their numbers, and the texts beside
  as_numbers,  // only the numbers, as they travel in a batch of an IPC file
};

// To be released by whoever gets them. Throw std::bad_alloc.
void export_schema(const Field& field, Dictionaries dictionaries, ArrowSchema& out);
// An array of the table, as `field` describes it; keeps the table until it is released, on any thread, in any order.
void export_array(const std::shared_ptr<const Table>& table, const Field& field, const Array& array,
                  Dictionaries dictionaries, ArrowArray& out);

// What a dictionary is: not nullable, without a name.
[[nodiscard]] const Field& text_field();

}  // namespace gpustrata::arrow
