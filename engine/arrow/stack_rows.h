// The stacks of a file as a table: one row a stack, its frames innermost first.
#pragma once

#include "engine/arrow/table_builder.h"

namespace gpustrata::arrow {

// Columns: `who` (the frame of the user's own code that stands for the stack, null if there is none), `frames` (a list of
// filename, line, name), `hash` (32 hexadecimal digits, the same for stacks that are shown alike in whatever file: analysis/stacks/shown_stacks.h).
// O(frames of all stacks), which the budget bounds, or the sink.
void add_stacks(TableBuilder& table);

}  // namespace gpustrata::arrow
