// What the reader makes of any bytes, written and read again: the same Recording, a second writing gives the
// same bytes, and JSON and CSV writers take it too.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine/io/readers/snapshot/torch_snapshot.h"
#include "engine/io/writers/csv.h"
#include "engine/io/writers/json_snapshot.h"
#include "engine/io/writers/torch_snapshot.h"
#include "tests/unit/io/check_recording.h"

namespace {

using namespace gpustrata;

constexpr int64_t kLimit = int64_t{256} << 20;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

struct Rewritten {
  Budget budget{kLimit};
  io::MemorySink sink{budget};
};

// False: refused for its size, as the limits allow.
bool write(const model::Recording& recording, io::MemorySink& sink) {
  const Status status = io::write_torch_snapshot(recording, sink);
  if (!status && status.error().code != ErrorCode::limit_exceeded) stop(status.error().message);
  return status.has_value();
}

bool read(model::Recording& recording, std::span<const std::byte> bytes) {
  const auto reader = io::torch_snapshot_reader(recording);
  if (!io::push(*reader, bytes) || !reader->finish()) return false;
  recording.seal();
  return true;
}

void expect_same_rows(const model::Recording& a, const model::Recording& b) {
  const auto count = [](const model::Recording& r) {
    int64_t rows = 0;
    for (const model::Part& s : r.parts) {
      rows += s.segments.count + s.host_segments.count + s.host_events.count + s.annotations.count;
      for (const model::DeviceTrace& t : s.traces) rows += t.events.count;
    }
    return rows;
  };
  if (a.parts.size() != b.parts.size()) stop("another number of snapshots");
  if (count(a) != count(b)) stop("another number of rows");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Budget budget(kLimit);
  model::Recording recording(budget);
  const auto bytes = std::as_bytes(std::span(data, size));
  if (!read(recording, bytes)) return 0;

  Rewritten first, second;
  if (!write(recording, first.sink)) return 0;
  Budget again_budget(kLimit);
  model::Recording again(again_budget);
  if (!read(again, first.sink.bytes())) stop("what was written cannot be read");
  if (const std::string problem = tests::problem_of(again); !problem.empty()) stop(problem);
  for (const model::Diag diag :
       {model::Diag::truncated, model::Diag::damaged, model::Diag::foreign_object,
        model::Diag::event_incomplete, model::Diag::block_incomplete, model::Diag::segment_incomplete,
        model::Diag::cyclic_reference, model::Diag::late_change, model::Diag::odd_items}) {
    if (again.diagnostics[diag].count > 0)
      stop("the written file has a finding: " + std::string(kind_of(diag).name));
  }
  expect_same_rows(recording, again);
  if (again.diagnostics[model::Diag::text_cut].count == 0 && write(again, second.sink)) {
    const auto a = first.sink.bytes(), b = second.sink.bytes();
    if (!std::equal(a.begin(), a.end(), b.begin(), b.end())) stop("a second writing differs");
  }

  Rewritten json, csv;
  (void)io::write_json_snapshot(recording, json.sink);
  for (const auto table : {io::CsvTable::events, io::CsvTable::blocks})
    (void)io::write_csv(recording, csv.sink, table);
  return 0;
}
