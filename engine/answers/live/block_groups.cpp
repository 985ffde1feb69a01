#include "engine/answers/live/block_groups.h"

#include <fmt/core.h>

#include <array>

#include "engine/analysis/device/pool_id.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/answers/stacks/who.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::BlockGroups;
using analysis::GroupBy;

namespace {

constexpr std::array<std::string_view, analysis::kSizeEnds.size()> kSizes = {
    "up to 1 KiB",      "1 to 32 KiB",   "32 KiB to 1 MiB (small pool)",
    "1 to 10 MiB",      "10 to 32 MiB",  "32 to 128 MiB",
    "128 MiB to 1 GiB", "1 GiB and more"};
constexpr std::array<std::string_view, analysis::kTimeEnds.size()> kTimes = {
    "below 100 µs", "100 µs to 1 ms", "1 to 10 ms", "10 to 100 ms", "0.1 to 1 s", "1 s and longer"};
constexpr std::array<std::string_view, analysis::kEventCountEnds.size()> kEventCounts = {
    "up to 2 events",    "3 to 9 events",         "10 to 99 events",
    "100 to 999 events", "1,000 to 9,999 events", "10,000 events and more"};
constexpr std::string_view kFromBefore = "from before the first event";

[[nodiscard]] std::string category_text(const model::Recording& recording, int32_t key) {
  if (key < 0) return "unknown";
  std::string_view text = recording.strings.view(StringId{key});
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  constexpr size_t kLongest = 120;
  return utf8::cut(text, kLongest);
}

[[nodiscard]] std::string pool_text(const model::Recording& recording, int32_t key) {
  if (key < 0) return "pool unknown";
  const model::Pool& pool = recording.pools[static_cast<size_t>(key)];
  return fmt::format("{} ({})", pool == model::Pool{} ? "default pool" : "pool", analysis::pool_text(pool));
}

[[nodiscard]] std::string lifetime_text(int32_t key, bool in_time) {
  if (key == analysis::kNeverFreed) return "never freed";
  if (key == analysis::kFromBefore) return std::string(kFromBefore);
  return std::string(in_time ? kTimes[static_cast<size_t>(key)] : kEventCounts[static_cast<size_t>(key)]);
}

[[nodiscard]] std::string age_text(int32_t age, int32_t events) {
  if (age == 0) return std::string(kFromBefore);
  const int64_t first = analysis::first_event_of_age(events, age);
  const int64_t last = analysis::first_event_of_age(events, age + 1) - 1;
  return first >= last ? fmt::format("since event {}", count_text(first))
                       : fmt::format("since events {} to {}", count_text(first), count_text(last));
}

}  // namespace

std::string kind_text(const model::Recording& recording, const BlockGroups& groups,
                      const BlockGroups::Kind& kind) {
  if (kind.merged > 0) return fmt::format("{} others", count_text(kind.merged));
  switch (groups.by) {
    case GroupBy::allocation:
      break;
    case GroupBy::stack:
      return kind.key < 0 ? "no stack"
                          : who_text(recording, analysis::who_of_frame(recording, FrameId{kind.key}));
    case GroupBy::stream:
      return kind.key == 0 ? "default stream (0)" : fmt::format("stream {}", kind.key);
    case GroupBy::pool:
      return pool_text(recording, kind.key);
    case GroupBy::category:
      return groups.inferred.empty() ? category_text(recording, kind.key)
                                     : groups.inferred[static_cast<size_t>(kind.key)];
    case GroupBy::size:
      return std::string(kSizes[static_cast<size_t>(kind.key)]);
    case GroupBy::lifetime:
      return lifetime_text(kind.key, groups.in_time);
    case GroupBy::age:
      return age_text(kind.key, groups.events);
  }
  return {};
}

void describe(Members& m, const model::Recording& recording, const BlockGroups& groups) {
  m.is({"Kinds", "Blocks of one kind have one colour; no kinds = every block has a colour of its own."});
  m.word("by", groups.by);
  m.flag({"ordered", "Classes of a quantity, least first."}, groups.ordered);
  m.flag({"inferred", "Categories that nobody wrote down: rules guess them."}, !groups.inferred.empty());
  m.flag({"by_lifetime", "These are of a trace: by when blocks live, not what PyTorch calls so."},
         groups.by_lifetime);
  m.list("kinds", groups.kinds, [&](const BlockGroups::Kind& kind) {
    m.text("label", [&] { return kind_text(recording, groups, kind); });
    m.count("blocks", kind.blocks);
    m.count({"merged", "Kinds that are together in this one."}, kind.merged);
    m.text({"says", "What the rules of a category say; empty = nothing."}, [&] {
      const bool is_told = !groups.says.empty() && kind.merged == 0;
      return is_told ? groups.says[static_cast<size_t>(kind.key)] : std::string();
    });
  });
}

}  // namespace gpustrata::answers
