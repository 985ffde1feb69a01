// Traces of profilers, and what is asked about them.
#include "engine/answers/ops/ops.h"
#include "engine/answers/text/json_of.h"
#include "engine/io/readers/trace/chrome_trace.h"
#include "engine/replay/op_finder.h"
#include "engine/replay/span_lanes.h"
#include "tests/fuzz/read_input.h"

namespace {

// What columns show of every row, near and far.
void look_at_lanes(const gpustrata::model::Recording& recording, const gpustrata::model::Part& part,
                   const gpustrata::model::DeviceTrace& device) {
  using namespace gpustrata;
  const auto lanes = replay::SpanLanes::make(recording, part, &device);
  if (!lanes) return;
  const replay::SpanAxis axis(recording, device.events, part.clock);
  std::vector<replay::LaneEntry> found;
  for (const auto on : {replay::Axis::event, replay::Axis::time}) {
    for (const replay::SpanLanes::Thread& thread : lanes->threads()) {
      for (int32_t row = 0; row < thread.rows; ++row) {
        for (const double step : {1e-3, 1.0, 1e9, 1e300}) {
          found.clear();
          lanes->entries(axis, {on, -step * 4, step, 16}, lanes->row(thread, row), found);
          int32_t ops = 0;
          for (const replay::LaneEntry& entry : found) ops += entry.count;
          if (found.size() > 32 || ops > lanes->row(thread, row).count) __builtin_trap();
        }
      }
      (void)replay::innermost_op(*lanes, thread, 0);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpustrata;
  using analysis::OpBy;
  return tests::fuzz_reader(data, size, [](model::Recording& recording, const auto& use) {
    const Status read = use(*io::chrome_trace_reader(recording));
    if (!read) return read;
    recording.seal();
    io::MemorySink sink(recording.budget);
    answers::TextOut out(sink);
    for (const OpBy by : {OpBy::op, OpBy::path, OpBy::shape, OpBy::module, OpBy::stack}) {
      for (const auto scope : {analysis::OpScope::thread, analysis::OpScope::process}) {
        const auto table = analysis::find_op_memory(recording, by, scope);
        if (!table) continue;
        if (const auto line = answers::OpsLine::make(recording, *table, answers::OpSort::self, "f"))
          answers::json_line(out, *line);
      }
    }
    const auto table = analysis::find_profiler_table(recording, true);
    if (table) {
      if (const auto rows = answers::ProfilerRows::make(recording, *table, answers::OpSort::net))
        answers::json_line(out, answers::ProfilerLine{*rows, true, "f"});
    }
    for (const model::Part& part : recording.parts) {
      for (const model::DeviceTrace& device : part.traces) look_at_lanes(recording, part, device);
    }
    return read;
  });
}
