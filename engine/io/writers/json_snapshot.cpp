#include "engine/io/writers/json_snapshot.h"

#include "engine/io/writers/json_output.h"
#include "engine/io/writers/snapshot_shape.h"
#include "engine/io/writers/text_size.h"

namespace gpustrata::io {

namespace {
constexpr int64_t kFrameBytes = 34;  // {"name":"","filename":"","line":1}
}

Status write_json_snapshot(const model::Recording& recording, ByteSink& sink, const JsonOptions& options) {
  if (Status placed = check_devices(recording, options.snapshot); !placed) return placed;
  TextSize size(recording, kFrameBytes);
  if (!size.measure_stacks()) return fail(ErrorCode::limit_exceeded, -1, "no memory for writing");
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    if (options.snapshot == kAllSnapshots || options.snapshot == i) size.add(recording.parts[i]);
  }
  if (size.at_least() > size.limit()) return too_long_as("JSON", size.limit());
  BoundedSink bounded(sink, size.limit(), "JSON");
  JsonOutput output(recording, bounded, options.hex_addresses);
  if (Status ready = output.begin(); !ready) return ready;
  SnapshotShape<JsonOutput> shape(recording, output);
  if (options.snapshot == kAllSnapshots) {
    shape.file();
  } else {
    shape.snapshot(options.snapshot);
  }
  return output.end();
}

}  // namespace gpustrata::io
