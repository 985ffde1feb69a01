#include "engine/io/readers/snapshot/torch_snapshot.h"

#include "engine/io/encodings/json/input.h"
#include "engine/io/encodings/pickle/input.h"
#include "engine/io/readers/snapshot/event_entries.h"
#include "engine/io/readers/snapshot/snapshot_schema.h"
#include "engine/io/readers/values_reader.h"

namespace gpustrata::io {

namespace {

template <typename Input>
class SnapshotReader : public ValuesReader<Input, SnapshotSchema> {
 public:
  explicit SnapshotReader(model::Recording& recording)
      : ValuesReader<Input, SnapshotSchema>(recording, "a memory snapshot") {}

  void expect_bytes(int64_t total) override {
    this->schema_.expect_bytes(total);
    this->input_.expect_bytes(total);
  }

  [[nodiscard]] Status commit(size_t bytes) override {
    return this->schema_.is_ready() ? this->input_.commit(bytes) : this->input_.too_little_memory();
  }

  [[nodiscard]] Status finish() override {
    if (!this->schema_.is_ready()) return this->input_.too_little_memory();
    if (Status ended = this->input_.end(); !ended) return ended;
    const values::Value result = this->input_.result();
    const bool found = this->schema_.publish(result, !this->input_.is_whole());
    this->recording_.input_bytes = this->input_.received();
    if (!found) return this->input_.nothing_to_show(this->schema_.description(result));
    this->input_.tell_how_it_ended();
    return {};
  }
};

class FastSnapshotReader final : public SnapshotReader<pickle::Input> {
 public:
  explicit FastSnapshotReader(model::Recording& recording)
      : SnapshotReader(recording), entries_(schema_, recording) {
    input_.use(&entries_);
  }

  [[nodiscard]] std::span<std::byte> writable_ahead() override { return input_.writable_ahead(); }

 private:
  EventEntries entries_;
};

}  // namespace

std::unique_ptr<Reader> torch_snapshot_reader(model::Recording& recording) {
  return std::make_unique<FastSnapshotReader>(recording);
}

std::unique_ptr<Reader> plain_torch_snapshot_reader(model::Recording& recording) {
  return std::make_unique<SnapshotReader<pickle::Input>>(recording);
}

std::unique_ptr<Reader> json_snapshot_reader(model::Recording& recording) {
  return std::make_unique<SnapshotReader<json::Input>>(recording);
}

}  // namespace gpustrata::io
