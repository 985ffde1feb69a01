// Writes the events, the blocks or the points of series of a Recording as a table: comma separated values (RFC 4180, but lines end
// with \n), UTF-8, a line of names first. Empty fields are unknown or do not apply.
//
//   events   device, index, action, address, device_free, size, stream, time_us, pool, compile_context,
//            user_metadata, stack, frames
//   blocks   device, segment, segment_size, segment_type, is_expandable, pool, stream, address, size,
//            requested_size, state, user_metadata, stack, frames
//   points   series, device, time, value, label, note; times are nanoseconds since the epoch, or numbers of operators
// Several snapshots: a column `snapshot` comes first. Sizes are bytes, times microseconds since the Unix
// epoch; addresses are hexadecimal; pool is "graph id:user id"; stack is a number, equal for equal stacks;
// frames are "name (file:line)", innermost first, joined with "; ". The device of pinned host memory is
// "host". Texts that a spreadsheet would take for a formula (they begin with = + - @, also in their wide
// forms, with white space or a byte order mark) get a leading apostrophe. Fields with , ; " or a tab or a
// line end are quoted; other control characters are written as \u001b. Fields not in this list are not in the
// table.
#pragma once

#include "engine/io/byte_sink.h"
#include "engine/io/writers/torch_snapshot.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

enum class CsvTable : uint8_t { events, blocks, points };

// `recording` must be sealed. O(rows + frames of their stacks). Error: limit_exceeded if the text would be
// too long (text_size.h), or what the sink says.
[[nodiscard]] Status write_csv(const model::Recording& recording, ByteSink& sink, CsvTable table,
                               size_t snapshot = kAllSnapshots);

}  // namespace gpustrata::io
