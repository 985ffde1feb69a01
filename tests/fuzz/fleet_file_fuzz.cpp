// Reduced fleets, without the other kinds in the way. What could be read is written, and that is read as the same.
#include <string>

#include "engine/answers/fleet.h"
#include "engine/io/readers/fleet_file.h"
#include "tests/fuzz/read_input.h"

namespace {

using namespace gpustrata;

[[nodiscard]] std::string text_of(const model::Recording& recording) {
  JsonWriter json;
  answers::to_json(json, *recording.fleets.at(0));
  return std::move(json).text();
}

void check_written(const std::string& text) {
  Budget budget(int64_t{256} << 20);
  model::Recording again(budget);
  io::FleetFileReader reader(again, io::LeftOpen());
  if (!io::push(reader, std::as_bytes(std::span(text))) || !reader.finish() || text_of(again) != text)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tests::fuzz_reader(data, size, [](model::Recording& recording, const auto& use) {
    io::FleetFileReader reader(recording, io::LeftOpen());
    const Status status = use(reader);
    if (status) {
      recording.seal();
      check_written(text_of(recording));
    }
    return status;
  });
}
