// PyTorch CUDA memory snapshots as JSON text.
//
// Written by user code (`json.dump(torch.cuda.memory._snapshot(), f)`), by gpustrata and other tools; read by
// the official viewer, too. The same containers as in the pickle (readers/snapshot/torch_snapshot.h), tuples being
// lists; integers are exact to 64 bits, addresses may be texts ("0x7f..."), NaN and infinities as Python
// writes them are numbers. The text is never held: pieces of at most kJsonPieceBytes go through simdjson
// (encodings/json/walker.h).
#pragma once

#include <memory>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

class JsonSnapshotReader final : public Reader {
 public:
  explicit JsonSnapshotReader(model::Recording& recording);
  JsonSnapshotReader(model::Recording& recording, LeftOpen);
  ~JsonSnapshotReader() override;

  [[nodiscard]] std::span<std::byte> writable() override;
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override;
  void expect_bytes(int64_t total) override;
  [[nodiscard]] std::string format() const override { return "json"; }

 private:
  struct State;
  model::Recording& recording_;
  bool seals_;
  std::unique_ptr<State> state_;  // none once finished
};

}  // namespace gpustrata::io
