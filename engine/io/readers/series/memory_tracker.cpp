#include "engine/io/readers/series/memory_tracker.h"

#include "engine/io/encodings/pickle/input.h"
#include "engine/io/readers/series/memory_tracker_schema.h"

namespace gpustrata::io {

namespace {
// In protocols up to 2 `int` has the names of Python 2.
constexpr std::string_view kClasses[] = {"collections.defaultdict", "builtins.int", "__builtin__.int",
                                         "__builtin__.long"};
constexpr std::string_view kWhat = "statistics of a MemoryTracker";
}  // namespace

struct MemoryTrackerReader::State {
  explicit State(model::Recording& to) : recording(to), schema(to), input(to, schema, kWhat) {
    input.allow_only(kClasses);
  }

  model::Recording& recording;
  MemoryTrackerSchema schema;
  pickle::Input input;
};

MemoryTrackerReader::MemoryTrackerReader(model::Recording& recording, LeftOpen)
    : state_(std::make_unique<State>(recording)) {}

MemoryTrackerReader::~MemoryTrackerReader() = default;

void MemoryTrackerReader::expect_bytes(int64_t total) { state_->input.expect_bytes(total); }
bool MemoryTrackerReader::done() const { return state_->input.done(); }
std::span<std::byte> MemoryTrackerReader::writable() { return state_->input.writable(); }
Status MemoryTrackerReader::commit(size_t bytes) { return state_->input.commit(bytes); }

Status MemoryTrackerReader::finish() {
  pickle::Input& input = state_->input;
  if (Status ended = input.end(); !ended) return ended;
  if (!state_->schema.publish(input.result())) return input.nothing_to_show("something else");
  state_->recording.input_bytes = input.received();
  input.tell_how_it_ended();
  return {};
}

}  // namespace gpustrata::io
