// What MemTracker and FSDPMemTracker of torch.distributed print: memory by category on each device, for people; there is no
// other output of theirs. Both layouts of display_snapshot() and display_modulewise_snapshots(): lines
// ("Device: cuda:0", "\tParameter: 4.0 MiB", ..., under "Module:  layer1", a state and "# 1:"), and tables in
// reStructuredText (tabulate=True).
//
// Becomes a part for each device, whose series are categories: "total" and those that are printed. A printed snapshot is a
// point, numbered in the order of the text (there are no times); its note says module, state and call. Sizes are as
// printed, rounded to two decimals of their unit. Other lines are left out.
#pragma once

#include <memory>
#include <string_view>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// Does `text` begin like it?
[[nodiscard]] bool begins_mem_tracker_text(std::string_view text);

class MemTrackerTextReader final : public Reader {
 public:
  MemTrackerTextReader(model::Recording& recording, LeftOpen);
  ~MemTrackerTextReader() override;

  [[nodiscard]] std::span<std::byte> writable() override;
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override;
  void expect_bytes(int64_t total) override;
  [[nodiscard]] std::string format() const override { return "text"; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpustrata::io
