// Writes a Recording as a PyTorch memory snapshot: a pickle of protocol 4.
//
// The file loads in Python's `pickle`, in PyTorch's web viewer and in this program
// (formats/pytorch-snapshot section 14). A file with several snapshots becomes a dict or list of them, which
// only Python and this program read.
//
// Reading it again gives the same Recording, but for: absent lists of annotations and traces are empty, and
// what snapshot_shape.h says; a single snapshot loses the name it had in a wrapper; text that is not UTF-8
// holds U+FFFD; forward_frames are cut into pieces anew. What the tables do not keep cannot be written
// (engine/io/readers/snapshot/torch_snapshot.h). O(rows + frames), 4 bytes of memory per text, frame and stack.
#pragma once

#include <cstddef>

#include "engine/io/byte_sink.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

inline constexpr size_t kAllSnapshots = static_cast<size_t>(-1);

// `recording` must be sealed. `snapshot`: index of the only one to write.
[[nodiscard]] Status write_torch_snapshot(const model::Recording& recording, ByteSink& sink,
                                          size_t snapshot = kAllSnapshots);

}  // namespace gpustrata::io
