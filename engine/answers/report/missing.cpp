#include "engine/answers/report/missing.h"

#include <fmt/core.h>

#include "engine/answers/text/percent.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::NotRecorded;
using analysis::Overview;

namespace {

constexpr std::string_view kRecord = "torch.cuda.memory._record_memory_history()";
constexpr std::string_view kRecordEarlier =
    "torch.cuda.memory._record_memory_history()  # before the model is created";
constexpr std::string_view kRecordAllStacks =
    "torch.cuda.memory._record_memory_history(context=\"all\", stacks=\"all\")";
constexpr std::string_view kRecordAllStacksEarlier =
    "torch.cuda.memory._record_memory_history(context=\"all\", stacks=\"all\")  # before the model is created";
// Understood by every version: newer ones take a first argument that is a bool for PyTorch 2.0's call.
constexpr std::string_view kRecordMore =
    "torch.cuda.memory._record_memory_history(True, trace_alloc_max_entries=1_000_000, "
    "trace_alloc_record_context=True)";
constexpr std::string_view kProfile = "torch.profiler.profile(profile_memory=True, with_stack=True)";

struct MissingWords {
  std::string text;
  std::string_view python;  // empty: nothing to write differently
};

[[nodiscard]] MissingWords some_stacks(const Overview& overview, const analysis::Missing& missing) {
  const std::string what = fmt::format("{} ({}) of the peak has no stack", size_text(missing.bytes),
                                       percent_text(missing.bytes, overview.peak_bytes));
  // Where events were lost, one that says who made it may be among them.
  const bool is_lost = overview.lacks(NotRecorded::oldest_events);
  if (missing.older_bytes >= missing.bytes) {
    return {what + ": it was allocated before the first event.",
            is_lost ? std::string_view{} : kRecordEarlier};
  }
  constexpr std::string_view kOther = "threads without Python, or was recorded without stacks.";
  if (missing.older_bytes == 0) return {fmt::format("{}: it is of {}", what, kOther), kRecordAllStacks};
  std::string text = fmt::format("{}: {} of it was allocated before the first event, the rest is of {}", what,
                                 size_text(missing.older_bytes), kOther);
  return {std::move(text), is_lost ? kRecordAllStacks : kRecordAllStacksEarlier};
}

[[nodiscard]] MissingWords words_for(const Overview& overview, const analysis::Missing& missing) {
  switch (missing.what) {
    case NotRecorded::history:
      return {"No history was recorded: only the memory when it was saved is known.", kRecord};
    case NotRecorded::stacks:
      return {"No event has a stack: who requested memory is unknown.",
              "torch.cuda.memory._record_memory_history(context=\"all\")"};
    case NotRecorded::frames:
      return {"Stacks were requested, but none has frames: who requested memory is unknown.",
              kRecordAllStacks};
    case NotRecorded::some_stacks:
      return some_stacks(overview, missing);
    case NotRecorded::times:
      return {"Events have no times: PyTorch records them since version 2.2.", {}};
    case NotRecorded::addresses:
      return {
          "Memory records have no addresses: which free ended which block is told by its size only, so what holds memory at a "
          "moment, and what leaks, is a guess.",
          {}};
    case NotRecorded::device:
      return {
          "This is an estimate, made without a GPU: CUDA's context and most of what kernels take inside are not in it.",
          {}};
    case NotRecorded::end:
      return {
          fmt::format(
              "The program did not end this journal: it was killed, or it still ran when the file was read. What came "
              "after event {} is not in it.",
              count_text(overview.events - 1)),
          {}};
    case NotRecorded::oldest_events:
      break;
  }
  if (overview.events == 1)
    return {
        "The history is only the last event: with enabled=\"state\" PyTorch keeps no more, and "
        "version 2.0 keeps more only when told to.",
        kRecordMore};
  const std::string_view larger = overview.events < 1'000'000
                                      ? "torch.cuda.memory._record_memory_history(max_entries=1_000_000)"
                                      : "torch.cuda.memory._record_memory_history()  # without max_entries";
  const std::string events = count_text(overview.events);
  if (missing.is_sure)
    return {
        fmt::format("The history lacks its beginning: it was full, and only the last {} events were kept.",
                    events),
        larger};
  if (missing.has_stacks)
    return {
        "The history lacks its beginning, or the program recorded once before: blocks that are older than the first "
        "event were recorded, too.",
        larger};
  return {fmt::format("The history may lack its beginning: it holds a round number of events, {}.", events),
          larger};
}

}  // namespace

MissingText missing_text(const Overview& overview, const analysis::Missing& missing, bool profiled) {
  MissingWords words = words_for(overview, missing);
  // What is older than a profile takes a profile that begins earlier, not another call.
  if (profiled && !words.python.empty())
    words.python = words.python == kRecordEarlier ? std::string_view() : kProfile;
  return {std::move(words.text), std::string(words.python)};
}

}  // namespace gpustrata::answers
