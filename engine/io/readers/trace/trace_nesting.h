// Which span lies in which, and what was running when a memory record was written.
//
// An op holds a record of its thread if start <= t < start + duration, or t = start if it has no duration. Ops may
// overlap without one being inside the other: the owner of a record is the one that started last; of those that
// started together the shorter one, then the later one in the file.
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/io/readers/trace/trace_rows.h"
#include "engine/model/recording.h"

namespace gpustrata::io::traces {

// Of each draft.
struct Surroundings {
  explicit Surroundings(Budget& budget) : op(budget), stack(budget) {}
  Column<int32_t> op;  // row of SpanTable, -1 = none
  Column<StackId> stack;
};

// Puts the spans into their order and finds their parents and steps. O(n log n). False: memory was refused.
[[nodiscard]] bool sort_spans(model::Recording& recording, model::RowRange spans, model::RowRange threads);
// `by_time`: drafts in order of time. O(spans + drafts x frames of their stacks).
[[nodiscard]] bool surround(model::Recording& recording, const Rows& rows, const Column<uint32_t>& by_time,
                            Surroundings& found);

}  // namespace gpustrata::io::traces
