// Statistics of torch.distributed._tools.memory_tracker.MemoryTracker: what save_stats() pickles.
//
// A dict of three tables by operator number (allocated, active and reserved memory after that operator, each with the
// operator's name), of markers and of the number of allocation retries; protocol 4 or 5, older ones too. Sizes are MiB
// as doubles, bytes / 2^20: exact below 2^53 bytes. The tables are collections.defaultdict; no other class is let in
// than that and its factory int, and neither is created.
//
// Becomes a part whose series are "allocated", "active" and "reserved", one point for each operator, labels of the first
// being the names of the operators, and "markers", points without a value. Its times are numbers of operators. The
// retries are an extra of the part. Ignored, with a remark: other keys.
#pragma once

#include <memory>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// Names of the series; the extra's key is that of the file.
inline constexpr std::string_view kTrackerTables[] = {"memories_allocated", "memories_active",
                                                      "memories_reserved"};
inline constexpr std::string_view kTrackerSeries[] = {"allocated", "active", "reserved"};
inline constexpr std::string_view kTrackerMarkers = "markers";
inline constexpr std::string_view kTrackerRetries = "num_alloc_retries";

class MemoryTrackerReader final : public Reader {
 public:
  MemoryTrackerReader(model::Recording& recording, LeftOpen);
  ~MemoryTrackerReader() override;

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

}  // namespace gpustrata::io
