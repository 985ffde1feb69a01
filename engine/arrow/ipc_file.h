// A table as a file of Arrow's IPC format, written batch by batch: pyarrow, polars, DuckDB, R and Spark read it as it is.
//
// The dictionaries follow the batches, since texts get their numbers as rows name them; the footer says where all of
// them lie. Equal tables give equal bytes.
#pragma once

#include <nanoarrow/nanoarrow.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/arrow/table_builder.h"
#include "engine/io/byte_sink.h"

namespace gpustrata::arrow {

class IpcFile final : public BatchSink {
 public:
  explicit IpcFile(io::ByteSink& sink);
  ~IpcFile() override;

  // Error: what the sink says; limit_exceeded: no memory for one batch.
  [[nodiscard]] Status take(const std::shared_ptr<const Table>& table, const Array& batch) override;
  // After the last batch; there must be one.
  [[nodiscard]] Status finish(const std::shared_ptr<const Table>& table);

 private:
  struct Encoding;

  [[nodiscard]] Status begin(const Table& table);
  [[nodiscard]] Status write(std::span<const std::byte> bytes);
  [[nodiscard]] Status write_message(ArrowBuffer* places);
  [[nodiscard]] Status write_dictionary(const std::shared_ptr<const Table>& table, int64_t id,
                                        const Array& texts);

  io::ByteSink& sink_;
  std::unique_ptr<Encoding> encoding_;
};

}  // namespace gpustrata::arrow
