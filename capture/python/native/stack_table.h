// The stacks of a file as a table: one row a stack, its frames innermost first.
#pragma once

#include "capture/python/native/table_builder.h"

namespace memstrata::python {

// One batch with the columns `who` (the frame of the user's own code that stands for the stack, null if there is
// none) and `frames` (a list of filename, line, name). O(frames of all stacks), which the budget bounds before
// they are walked.
void add_stacks(TableBuilder& table);

}  // namespace memstrata::python
