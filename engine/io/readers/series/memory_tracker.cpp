#include "engine/io/readers/series/memory_tracker.h"

#include "engine/io/encodings/pickle/input.h"
#include "engine/io/readers/series/memory_tracker_schema.h"
#include "engine/io/readers/values_reader.h"

namespace gpustrata::io {

namespace {

// In protocols up to 2 `int` has the names of Python 2.
constexpr std::string_view kClasses[] = {"collections.defaultdict", "builtins.int", "__builtin__.int",
                                         "__builtin__.long"};

class MemoryTrackerReader final : public ValuesReader<pickle::Input, MemoryTrackerSchema> {
 public:
  explicit MemoryTrackerReader(model::Recording& recording)
      : ValuesReader(recording, "statistics of a MemoryTracker") {
    input_.allow_only(kClasses);
  }

  [[nodiscard]] Status finish() override {
    if (Status ended = input_.end(); !ended) return ended;
    if (!schema_.publish(input_.result())) return input_.nothing_to_show("something else");
    recording_.input_bytes = input_.received();
    input_.tell_how_it_ended();
    return {};
  }
};

}  // namespace

std::unique_ptr<Reader> memory_tracker_reader(model::Recording& recording) {
  return std::make_unique<MemoryTrackerReader>(recording);
}

}  // namespace gpustrata::io
