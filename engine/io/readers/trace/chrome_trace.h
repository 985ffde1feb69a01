// Traces of torch.profiler and Kineto in the format of Chrome's tracing: {"traceEvents": [...], ...} or the bare list
// of older writers.
//
// Read are whole events (ops, annotations, Python functions, calls of the runtime, kernels) as spans, "[memory]" and
// "[OutOfMemory]" as events of an allocator, names of threads, and the base of times. Everything else is left out;
// events of unknown kinds are counted. Times are nanoseconds from the letters of the text. Files from 2021 on; those
// without `Addr` or totals as well. What is not quite JSON is read as it was meant (trace_text.h); a trace that ends
// inside shows all whole events.
#pragma once

#include <memory>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

class ChromeTraceReader final : public Reader {
 public:
  // Memory is charged to the budget of `recording`, except an input buffer of 2 MiB.
  explicit ChromeTraceReader(model::Recording& recording);
  ChromeTraceReader(model::Recording& recording, LeftOpen);
  ~ChromeTraceReader() override;

  [[nodiscard]] std::span<std::byte> writable() override;
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override;
  void expect_bytes(int64_t total) override;
  [[nodiscard]] std::string format() const override { return "chrome trace"; }

 private:
  struct State;
  model::Recording& recording_;
  bool seals_;
  std::unique_ptr<State> state_;  // none once finished
};

}  // namespace gpustrata::io
