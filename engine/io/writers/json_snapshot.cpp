#include "engine/io/writers/json_snapshot.h"

#include "engine/base/units.h"
#include "engine/io/writers/json_output.h"
#include "engine/io/writers/snapshot_shape.h"

namespace memstrata::io {

namespace {

// Rows and frames that the text will hold; counting stops above the limit.
class Counter {
 public:
  explicit Counter(const model::Recording& recording) : rec_(recording), depths_(recording.budget) {}

  [[nodiscard]] bool prepare() {
    const size_t stacks = rec_.stacks.size();
    if (!depths_.resize(stacks, 0)) return false;
    for (size_t i = 0; i < stacks; ++i) {
      for (int32_t node = rec_.stacks.leaf(StackId{i}); node >= 0; node = rec_.stacks.node(node).caller) {
        ++depths_[i];
      }
    }
    return true;
  }
  void add(const model::Part& part) {
    segments(part.segments);
    segments(part.host_segments);
    events(part.host_events);
    for (const model::DeviceTrace& trace : part.traces) events(trace.events);
    count_ += part.annotations.count;
  }
  [[nodiscard]] int64_t count() const { return count_; }

 private:
  void stack(StackId id) { count_ += id.is_none() ? 1 : int64_t{depths_[id.index()]} + 1; }
  void events(model::RowRange range) {
    for (int32_t row = range.first; row < range.end() && count_ <= kMaxJsonFrames; ++row) {
      stack(rec_.events.stack[static_cast<size_t>(row)]);
    }
  }
  void segments(model::RowRange range) {
    for (int32_t row = range.first; row < range.end() && count_ <= kMaxJsonFrames; ++row) {
      stack(rec_.segments.stack[static_cast<size_t>(row)]);
      const model::RowRange blocks = rec_.segments.blocks[static_cast<size_t>(row)];
      for (int32_t block = blocks.first; block < blocks.end(); ++block) {
        stack(rec_.blocks.stack[static_cast<size_t>(block)]);
        const model::RowRange history = rec_.blocks.history[static_cast<size_t>(block)];
        for (int32_t entry = history.first; entry < history.end() && count_ <= kMaxJsonFrames; ++entry) {
          stack(rec_.history.stack[static_cast<size_t>(entry)]);
        }
      }
    }
  }

  const model::Recording& rec_;
  Column<int32_t> depths_;
  int64_t count_ = 0;
};

}  // namespace

Status write_json_snapshot(const model::Recording& recording, ByteSink& sink, const JsonOptions& options) {
  Counter counter(recording);
  if (!counter.prepare()) return fail(ErrorCode::limit_exceeded, -1, "no memory for writing");
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    if (options.snapshot == kAllSnapshots || options.snapshot == i) counter.add(recording.parts[i]);
  }
  if (counter.count() > kMaxJsonFrames) {
    return fail(
        ErrorCode::limit_exceeded, -1,
        "as JSON this file would hold more than {} rows and frames, because JSON repeats every stack; "
        "a pickle has no such limit",
        count_text(kMaxJsonFrames));
  }
  JsonOutput output(recording, sink, options.hex_addresses);
  if (Status ready = output.begin(); !ready) return ready;
  SnapshotShape<JsonOutput> shape(recording, output);
  if (options.snapshot == kAllSnapshots) {
    shape.file();
  } else {
    shape.snapshot(options.snapshot);
  }
  return output.end();
}

}  // namespace memstrata::io
