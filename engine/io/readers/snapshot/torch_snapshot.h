// PyTorch CUDA memory snapshots, as pickles of protocol 0 to 5 and as JSON text.
//
// Pickles are written by torch.cuda.memory._dump_snapshot(), by user code around torch.cuda.memory._snapshot() or
// memory_snapshot(), by the C++ pickler of servers, and by the back ends that imitate them; all versions
// since 1.12. Nothing in the file is executed. Read: segments, blocks and their history, device_traces,
// host_segments and host_traces, annotations, settings; several snapshots in a user's own dict or list.
// Keys that have no column are kept as JSON text in `extras`. Ignored: keys of frames other than name,
// filename, line and fx_*; keys of history entries other than addr, real_size and frames.
// Oddities: formats/pytorch-snapshot section 13, one test each in tests/unit/io.
//
// JSON is written by user code (`json.dump(torch.cuda.memory._snapshot(), f)`), by gpustrata and other tools; read by
// the official viewer, too. The same containers, tuples being lists; integers are exact to 64 bits, addresses may be
// texts ("0x7f..."), NaN and infinities as Python writes them are numbers. The text is never held: pieces of at most
// kJsonPieceBytes go through simdjson (encodings/json/walker.h).
#pragma once

#include <memory>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// Memory is charged to the budget of `recording`, except an input buffer of 4 MiB, or two.
[[nodiscard]] std::unique_ptr<Reader> torch_snapshot_reader(model::Recording& recording);
// The same Recording, but every opcode is run: the other takes the events out of the file by their form.
[[nodiscard]] std::unique_ptr<Reader> plain_torch_snapshot_reader(model::Recording& recording);
[[nodiscard]] std::unique_ptr<Reader> json_snapshot_reader(model::Recording& recording);

}  // namespace gpustrata::io
