// PyTorch CUDA memory snapshots, as pickles of protocol 0 to 5.
//
// Written by torch.cuda.memory._dump_snapshot(), by user code around torch.cuda.memory._snapshot() or
// memory_snapshot(), by the C++ pickler of servers, and by the back ends that imitate them; all versions
// since 1.12. Nothing in the file is executed. Read: segments, blocks and their history, device_traces,
// host_segments and host_traces, annotations, settings; several snapshots in a user's own dict or list.
// Keys that have no column are kept as JSON text in `extras`. Ignored: keys of frames other than name,
// filename, line and fx_*; keys of history entries other than addr, real_size and frames.
// Oddities: formats/pytorch-snapshot section 13, one test each in tests/unit/io.
#pragma once

#include <memory>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace memstrata::io {

class TorchSnapshotReader final : public Reader {
 public:
  // Memory is charged to the budget of `recording`, except one input buffer of 4 MiB. Without `seals` the
  // recording stays open for further snapshots, and the caller seals it.
  explicit TorchSnapshotReader(model::Recording& recording, bool seals = true);
  ~TorchSnapshotReader() override;

  [[nodiscard]] std::span<std::byte> writable() override;
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override;
  void expect_bytes(int64_t total) override;
  [[nodiscard]] std::string format() const override { return "pickle"; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace memstrata::io
