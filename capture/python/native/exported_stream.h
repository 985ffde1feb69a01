// A table as a stream of Arrow's C stream interface.
//
// Whoever takes an array keeps the table, and with it the file, until it releases the array: on any thread, after
// the file was closed, in any order.
#pragma once

#include <memory>

#include "engine/arrow/c_data.h"

namespace gpustrata::python {

// May be called any number of times. Throws std::bad_alloc.
void export_stream(std::shared_ptr<const arrow::Table> table, ArrowArrayStream& out);

}  // namespace gpustrata::python
