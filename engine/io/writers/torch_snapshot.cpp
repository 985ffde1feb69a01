#include "engine/io/writers/torch_snapshot.h"

#include "engine/io/writers/pickle_output.h"
#include "engine/io/writers/snapshot_shape.h"

namespace memstrata::io {

Status write_torch_snapshot(const model::Recording& recording, ByteSink& sink, size_t snapshot) {
  PickleOutput output(recording, sink);
  if (Status ready = output.begin(); !ready) return ready;
  SnapshotShape<PickleOutput> shape(recording, output);
  if (snapshot == kAllSnapshots) {
    shape.file();
  } else {
    shape.snapshot(snapshot);
  }
  return output.end();
}

}  // namespace memstrata::io
