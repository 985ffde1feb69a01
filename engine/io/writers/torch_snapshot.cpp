#include "engine/io/writers/torch_snapshot.h"

#include "engine/io/writers/pickle_output.h"
#include "engine/io/writers/snapshot_shape.h"
#include "engine/io/writers/text_size.h"

namespace gpustrata::io {

Status write_torch_snapshot(const model::Recording& recording, ByteSink& sink, size_t snapshot) {
  if (Status placed = check_devices(recording, snapshot); !placed) return placed;
  TextSize size(recording, 0);
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    if (snapshot == kAllSnapshots || snapshot == i) size.add_rows(recording.parts[i]);
  }
  BoundedSink bounded(sink, size.limit(), "a pickle");
  PickleOutput output(recording, bounded);
  if (Status ready = output.begin(); !ready) return ready;
  SnapshotShape<PickleOutput> shape(recording, output);
  if (snapshot == kAllSnapshots) {
    shape.file();
  } else {
    shape.snapshot(snapshot);
  }
  return output.end();
}

}  // namespace gpustrata::io
