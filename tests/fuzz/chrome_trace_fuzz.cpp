// Traces of profilers, and what is asked about them.
#include "engine/answers/ops.h"
#include "engine/io/readers/chrome_trace.h"
#include "tests/fuzz/read_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace memstrata;
  using analysis::OpBy;
  return tests::fuzz_reader(data, size, [](model::Recording& recording, const auto& use) {
    io::ChromeTraceReader reader(recording);
    const Status read = use(reader);
    if (!read) return read;
    io::MemorySink sink(recording.budget);
    answers::TextOut out(sink);
    for (const OpBy by : {OpBy::op, OpBy::path, OpBy::shape, OpBy::module, OpBy::stack}) {
      for (const auto scope : {analysis::OpScope::thread, analysis::OpScope::process}) {
        const auto table = analysis::find_op_memory(recording, by, scope);
        if (table) (void)answers::write_json_line(out, recording, *table, answers::OpSort::self, "f");
      }
    }
    const auto table = analysis::find_profiler_table(recording, true);
    if (table) (void)answers::write_json_line(out, recording, *table, true, answers::OpSort::net, "f");
    return read;
  });
}
