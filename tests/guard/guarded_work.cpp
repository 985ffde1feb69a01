// The work whose instructions instructions.py counts: reading a file, and drawing its timeline.
//
//   guarded_work FILE
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/io/any_reader.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/timeline.h"

using namespace gpustrata;

// Counting is switched on inside these two (--toggle-collect).
extern "C" [[gnu::noinline]] bool guarded_parse(std::string_view bytes, model::Recording& recording) {
  io::AnyReader reader(recording);
  reader.expect_bytes(static_cast<int64_t>(bytes.size()));
  const Status pushed = io::push(reader, std::as_bytes(std::span(bytes)));
  return pushed.has_value() && reader.finish().has_value();
}

extern "C" [[gnu::noinline]] void guarded_picture(const replay::Timeline& timeline,
                                                  std::vector<uint32_t>& ranks, int columns, int rows,
                                                  int64_t events, int64_t peak) {
  // All of it, a tenth of it, and single events; each from the bottom to the peak.
  for (const int64_t width : {events / columns + 1, events / columns / 10 + 1, int64_t{1}}) {
    const double bytes_per_row = static_cast<double>(peak) / rows;
    timeline.draw({replay::Axis::event, 0, width, columns}, {0, bytes_per_row, rows}, ranks);
  }
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::ifstream input(argv[1], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(input), {}};
  Budget budget(int64_t{1} << 30);
  model::Recording recording(budget);
  if (!guarded_parse(bytes, recording) || recording.parts.empty()) return 1;
  const auto lifetimes = replay::find_block_lives(recording, recording.parts[0], 0);
  if (!lifetimes) return 1;
  auto timeline = replay::Timeline::build(recording, *lifetimes);
  if (!timeline) return 1;
  constexpr int kColumns = 400;
  constexpr int kRows = 200;
  std::vector<uint32_t> ranks(size_t{kColumns} * kRows);
  guarded_picture(*timeline, ranks, kColumns, kRows, lifetimes->events.count, lifetimes->peak_level);
  std::printf("%d events, %d blocks\n", lifetimes->events.count, lifetimes->count());
  return 0;
}
