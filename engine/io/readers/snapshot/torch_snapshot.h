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

namespace gpustrata::io {

class TorchSnapshotReader final : public Reader {
 public:
  // `plain` runs every opcode; `fast` gives the same Recording and takes the events out of the file by their
  // form.
  enum class Way : uint8_t { fast, plain };
  // Memory is charged to the budget of `recording`, except an input buffer of 4 MiB, or two.
  explicit TorchSnapshotReader(model::Recording& recording, Way way = Way::fast);
  TorchSnapshotReader(model::Recording& recording, LeftOpen);
  ~TorchSnapshotReader() override;

  [[nodiscard]] std::span<std::byte> writable() override;
  [[nodiscard]] std::span<std::byte> writable_ahead() override;
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override;
  void expect_bytes(int64_t total) override;
  [[nodiscard]] std::string format() const override { return "pickle"; }

 private:
  struct State;
  model::Recording& recording_;
  bool seals_;
  std::unique_ptr<State> state_;  // none once finished
};

}  // namespace gpustrata::io
