#include "engine/answers/report/missing.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::NotRecorded;
using analysis::Overview;

namespace {

[[nodiscard]] std::string share_text(int64_t bytes, int64_t of) {
  return of <= 0 ? std::string()
                 : fmt::format(" ({:.1f} %)", 100 * static_cast<double>(bytes) / static_cast<double>(of));
}

struct MissingWords {
  std::string_view text, python;
};
[[nodiscard]] MissingWords words_for(NotRecorded what) {
  constexpr std::string_view kRecord = "torch.cuda.memory._record_memory_history()";
  constexpr std::string_view kAllStacks =
      "torch.cuda.memory._record_memory_history(context=\"all\", stacks=\"all\")";
  switch (what) {
    case NotRecorded::history:
      return {"No history was recorded: only the memory when it was saved is known.", kRecord};
    case NotRecorded::stacks:
      return {"No event has a stack: who asked for memory is not known.",
              "torch.cuda.memory._record_memory_history(context=\"all\")"};
    case NotRecorded::frames:
      return {"Stacks were asked for, but none has frames: who asked for memory is not known.", kAllStacks};
    case NotRecorded::some_stacks:
      return {"of the peak have no stack: they are older than the recording, or of threads without Python.",
              kAllStacks};
    case NotRecorded::times:
      return {"Events have no times: PyTorch records them since version 2.2.", kRecord};
    case NotRecorded::oldest_events:
      break;
  }
  return {"The history may lack its beginning: it holds a round number of events.",
          "torch.cuda.memory._record_memory_history(max_entries=1_000_000)"};
}

}  // namespace

MissingText missing_text(const Overview& overview, const analysis::Missing& missing, bool profiled) {
  MissingWords words = words_for(missing.what);
  if (profiled) words.python = "torch.profiler.profile(profile_memory=True, with_stack=True)";
  std::string text(words.text);
  if (missing.what == NotRecorded::some_stacks) {
    text = fmt::format("{}{} {}", size_text(missing.bytes), share_text(missing.bytes, overview.peak_bytes),
                       text);
  } else if (missing.what == NotRecorded::oldest_events) {
    text =
        overview.events == 1
            ? std::string("The history is one event, the last one: PyTorch 2.0 keeps no more unless told to.")
            : fmt::format("{}, {}.", text.substr(0, text.size() - 1), count_text(overview.events));
  }
  return {std::move(text), std::string(words.python)};
}

}  // namespace gpustrata::answers
