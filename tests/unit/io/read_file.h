// A snapshot read from bytes in memory, and its content as text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "tests/unit/io/py.h"

namespace gpustrata::tests {

struct ReadFile {
  explicit ReadFile(int64_t limit) : budget(limit), recording(budget) {}
  Budget budget;
  model::Recording recording;
  Status status;

  [[nodiscard]] int64_t count(model::Diag diag) const { return recording.diagnostics[diag].count; }
  [[nodiscard]] std::string_view text(StringId id) const { return recording.strings.view(id); }
  // Text of `extras` under the key, "-" if there is none.
  [[nodiscard]] std::string extra(model::Owner owner, int32_t row, std::string_view key) const;
  // "name@file:line name@file:line", innermost first; "-" = no stack.
  [[nodiscard]] std::string stack(StackId id) const;
};

struct ReadOptions {
  size_t chunk = 0;  // bytes per commit, 0 = as many as fit
  int64_t limit = int64_t{256} << 20;
  bool tell_size = true;
  bool plain = false;          // run every opcode
  uint64_t random_chunks = 0;  // seed of chunks of 1 to `chunk` bytes, 0 = all of that size
};
[[nodiscard]] std::unique_ptr<ReadFile> read_bytes(std::string_view bytes, const ReadOptions& options = {});
// Of any kind that is read.
[[nodiscard]] std::unique_ptr<ReadFile> read_any(std::string_view bytes, const ReadOptions& options = {});
[[nodiscard]] inline std::unique_ptr<ReadFile> read(const Py& value, Writer writer = Writer::protocol4) {
  return read_bytes(pickled(value, writer));
}

// Everything in the recording, one line per row. Equal recordings, equal text.
[[nodiscard]] std::string text_of(const ReadFile& file);

}  // namespace gpustrata::tests
