#include "engine/answers/live/repeats.h"

#include <fmt/core.h>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/steps/steps_text.h"
#include "engine/answers/text/bounded.h"
#include "engine/answers/text/percent.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::Repeat;

namespace {

[[nodiscard]] int64_t all_bytes(const std::vector<Repeat>& repeats, const Repeat& one) {
  int64_t bytes = one.bytes * one.count;  // of blocks that are all there at once
  for (int32_t outer = one.outer; outer >= 0; outer = repeats[static_cast<size_t>(outer)].outer)
    bytes *= repeats[static_cast<size_t>(outer)].count;
  return bytes;
}

[[nodiscard]] std::string line_of_each(const model::Recording& recording, const Repeat& one) {
  if (one.line.is_none()) return {};
  return fmt::format(" {1} holds {0} of each.", size_text(one.line_bytes),
                     who_text(recording, analysis::who_of_frame(recording, one.line)));
}

}  // namespace

std::string repeat_text(const model::Recording& recording, const std::vector<Repeat>& repeats, size_t index,
                        int64_t all) {
  const Repeat& one = repeats[index];
  const int64_t bytes = all_bytes(repeats, one);
  std::string text = fmt::format("{} times {}, {} in all ({}): {}.{}", count_text(one.count),
                                 size_text(one.bytes), size_text(bytes), percent_text(bytes, all),
                                 loop_text(recording, one.place), line_of_each(recording, one));
  for (size_t i = index + 1; i < repeats.size() && repeats[i].outer >= 0; ++i) {
    if (repeats[i].outer != static_cast<int32_t>(index)) continue;
    text +=
        fmt::format(" In each {} times {}: {}.{}", count_text(repeats[i].count), size_text(repeats[i].bytes),
                    loop_text(recording, repeats[i].place), line_of_each(recording, repeats[i]));
    break;
  }
  return text;
}

std::vector<size_t> repeats_to_say(const std::vector<Repeat>& repeats) {
  std::vector<size_t> said;
  for (size_t i = 0; i < repeats.size() && said.size() < kMostRepeatsSaid; ++i) {
    if (repeats[i].outer < 0) said.push_back(i);
  }
  return said;
}

void describe(Members& m, const model::Recording& recording, const Repeat& repeat) {
  m.is({"Repeat", "The same blocks several times over, as layers leave them."});
  m.count({"outer", "Index of the repeat that it is within; -1 = none."}, repeat.outer);
  m.count({"count", "Whole ones, in each of the outer one."}, repeat.count);
  m.bytes({"bytes", "Of one."}, repeat.bytes);
  m.count({"blocks", "Of one."}, repeat.blocks);
  m.text({"place", "The lines below which all of it lies."},
         [&] { return loop_text(recording, repeat.place); });
  m.text({"line", "That has most of one; null = the place says it."}, [&] {
    return repeat.line.is_none() ? std::nullopt
                                 : std::optional(in_list(analysis::frame_text(recording, repeat.line)));
  });
  m.bytes({"line_bytes", "Of one."}, repeat.line_bytes);
  m.rank({"rank", "Of its first block."}, repeat.ranks.empty() ? -1 : repeat.ranks[0]);
}

}  // namespace gpustrata::answers
