#include "engine/answers/steps/steps_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/answers/stacks/who.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::NoLoop;
using analysis::StepsFrom;

namespace {

constexpr size_t kLongestOfLoop = 120;

[[nodiscard]] std::string function_of_loop(const model::Recording& recording, FrameId frame) {
  return utf8::cut(recording.strings.view(recording.frames[frame].name), kLongestOfLoop);
}
[[nodiscard]] std::string file_of_loop(const model::Recording& recording, FrameId frame) {
  std::string_view file = recording.strings.view(recording.frames[frame].filename);
  file.remove_prefix(std::min(file.find_last_of("/\\") + 1, file.size()));
  return utf8::cut(file, kLongestOfLoop);
}
[[nodiscard]] std::string loop_line_text(const model::Recording& recording, FrameId frame) {
  return fmt::format("{}:{}", file_of_loop(recording, frame), recording.frames[frame].line);
}

[[nodiscard]] std::string ordinal_text(int32_t number) {
  const int32_t tens = number % 100;
  const bool teen = tens >= 11 && tens <= 13;
  const int32_t last = teen ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

}  // namespace

std::string loop_text(const model::Recording& recording, const analysis::LoopPlace& loop) {
  if (loop.function.is_none()) return "the outermost calls";
  std::string text = fmt::format("{}:{}", file_of_loop(recording, loop.function), loop.first_line);
  if (loop.last_line > loop.first_line) text += fmt::format(" to {}", loop.last_line);
  text += " in " + function_of_loop(recording, loop.function);
  if (!loop.call.is_none()) text += ", called at " + loop_line_text(recording, loop.call);
  return text;
}

std::string_view why_no_steps(NoLoop why) {
  switch (why) {
    case NoLoop::no_allocations:
      return "no allocation was recorded";
    case NoLoop::no_calls:
      return "no allocation of the program's own thread has a line of Python";
    case NoLoop::no_repeat:
      return "no loop repeats often enough";
    case NoLoop::small:
      return "no loop outside modules requests most of the memory";
    case NoLoop::irregular:
      return "what repeats is irregular";
    case NoLoop::keeps:
      return "what repeats frees nothing, like the layers of one pass";
    case NoLoop::of_trace:
      return "steps are not looked for in a profiler's trace";
    case NoLoop::no:
      break;
  }
  return {};
}

constexpr std::string_view kRises =
    "; in the second half more is in use after nearly each, but no stack was found that grows regularly";

std::string steps_text(const model::Recording& recording, const analysis::Steps& steps,
                       const analysis::Leaks& found) {
  if (steps.from == StepsFrom::nothing)
    return fmt::format("no training steps detected, leaks not checked: {}", why_no_steps(steps.why_not));
  const bool none = found.leaks.empty();
  if (steps.from == StepsFrom::loop) {
    const std::string_view leaks = !none ? ""
                                   : steps.count() <= analysis::kFewestGrowths
                                       ? "; leaks not checked: too few repeats"
                                   : steps.sureness < analysis::kSureLoop
                                       ? "; leaks not checked: it is uncertain that the loop is a step"
                                   : found.level_rises ? kRises
                                                       : "; no leak seen";
    return fmt::format("{} times {}{}", count_text(steps.count()), loop_text(recording, steps.loop), leaks);
  }
  const std::string_view leaks = !none                                      ? ""
                                 : steps.count() < analysis::kFewestGrowths ? ", too few to find leaks"
                                 : found.level_rises                        ? kRises
                                                                            : ", no leak seen";
  return fmt::format(
      "{} ({}){}", counted(steps.count(), "step"),
      steps.from == StepsFrom::annotations ? "marked by the profiler" : "by regions of the program", leaks);
}

std::string growth_text(const model::Recording& recording, const analysis::Leak& leak) {
  std::string text = fmt::format("grows by {} in {} per step", size_text(leak.bytes_per_step),
                                 counted(leak.blocks_per_step, "block"));
  if (!leak.inner.is_none())
    text += fmt::format(" ({} times {} at {})", count_text(leak.inner_repeats),
                        size_text(leak.bytes_per_step / leak.inner_repeats),
                        loop_line_text(recording, leak.inner));
  text += fmt::format(", in {}", counted(leak.steps, "step"));
  if (leak.gap > 1) text += fmt::format(", every {}", ordinal_text(leak.gap));
  text += fmt::format(" since step {} (confidence {:.0f} %)", leak.first_step, 100 * leak.confidence);
  if (leak.freed_event >= 0) text += ", freed when the steps were over";
  return text;
}

std::string leak_text(const model::Recording& recording, const analysis::Leak& leak) {
  const analysis::Who who = analysis::who_of(recording, leak.stack);
  std::string text = growth_text(recording, leak);
  text[0] = 'G';  // "Grows by"
  if (who.kind != analysis::Who::Kind::nothing) text += ", by " + who_text(recording, who);
  return text + ".";
}

std::string leak_terms(const analysis::Steps& steps, const analysis::Leak& leak) {
  return leak.freed_event < 0 ? "freed:never -born:before"
                              : fmt::format("alive@{} -born:before", steps.end - 1);
}

}  // namespace gpustrata::answers
