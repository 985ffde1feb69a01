#include "engine/analysis/block_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "engine/analysis/frame_filter.h"
#include "engine/analysis/pool_id.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace memstrata::analysis {

namespace {

constexpr int64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

struct Class {
  int64_t below;  // exclusive
  std::string_view label;
};

// The allocator serves up to 1 MiB from the small pool, and up to 10 MiB from segments of 20 MiB.
constexpr std::array<Class, 8> kSizes = {{{kKiB + 1, "up to 1 KiB"},
                                          {32 * kKiB + 1, "1 to 32 KiB"},
                                          {kMiB + 1, "32 KiB to 1 MiB (small pool)"},
                                          {10 * kMiB, "1 to 10 MiB"},
                                          {32 * kMiB, "10 to 32 MiB"},
                                          {128 * kMiB, "32 to 128 MiB"},
                                          {kGiB, "128 MiB to 1 GiB"},
                                          {INT64_MAX, "1 GiB and more"}}};
constexpr std::array<Class, 6> kTimes = {{{100, "below 100 µs"},
                                          {1000, "100 µs to 1 ms"},
                                          {10'000, "1 to 10 ms"},
                                          {100'000, "10 to 100 ms"},
                                          {1'000'000, "0.1 to 1 s"},
                                          {INT64_MAX, "1 s and longer"}}};
constexpr std::array<Class, 6> kEventCounts = {{{3, "up to 2 events"},
                                                {10, "3 to 9 events"},
                                                {100, "10 to 99 events"},
                                                {1000, "100 to 999 events"},
                                                {10'000, "1,000 to 9,999 events"},
                                                {INT64_MAX, "10,000 events and more"}}};
constexpr int32_t kAges = 8;  // equal parts of the recording

template <size_t Count>
[[nodiscard]] uint32_t class_of(const std::array<Class, Count>& classes, int64_t value) {
  uint32_t index = 0;
  while (index + 1 < Count && value >= classes[index].below) ++index;
  return index;
}

template <size_t Count>
void name_classes(const std::array<Class, Count>& classes, BlockGroups& groups) {
  for (const Class& one : classes) groups.kinds.push_back({std::string(one.label)});
}

[[nodiscard]] int64_t time_of(const model::Recording& recording, const replay::Bands& bands, int32_t event) {
  if (event < 0 || event >= bands.events.count) return model::kNoTime;
  return recording.events.time[static_cast<size_t>(bands.events.first + event)];
}

// Libraries and the interpreter are rarely what one looks for.
[[nodiscard]] bool is_own_file(std::string_view file) {
  if (file.empty() || file == "??" || is_hidden_file(file)) return false;
  for (const std::string_view part : {"site-packages/", "dist-packages/", "/torch/", "lib/python", ".cpp",
                                      ".cu", ".h", "<frozen", "<string>"}) {
    if (file.find(part) != std::string_view::npos) return false;
  }
  return true;
}

// "function train.py:42" of the innermost frame of the user's own code, else of the innermost shown.
[[nodiscard]] std::string stack_label(const model::Recording& recording, StackId stack) {
  if (stack.is_none() || recording.stacks.leaf(stack) < 0) return "no stack";
  int32_t shown = -1;
  size_t looked_at = 0;
  for (int32_t at = recording.stacks.leaf(stack); at >= 0 && looked_at < kMostFrames; ++looked_at) {
    const auto& node = recording.stacks.node(at);
    const trace::Frame& frame = recording.frames[node.frame];
    const std::string_view name = recording.strings.view(frame.name);
    const std::string_view file = recording.strings.view(frame.filename);
    if (!is_hidden(name, file)) {
      if (shown < 0) shown = at;
      if (is_own_file(file)) {
        shown = at;
        break;
      }
    }
    at = node.caller;
  }
  if (shown < 0) shown = recording.stacks.leaf(stack);
  const trace::Frame& frame = recording.frames[recording.stacks.node(shown).frame];
  constexpr size_t kLongest = 120;
  std::string_view name = recording.strings.view(frame.name).substr(0, kLongest);
  std::string_view file = recording.strings.view(frame.filename);
  file.remove_prefix(std::min(file.find_last_of("/\\") + 1, file.size()));
  if (file.empty() || file == "??") return std::string(name);
  return fmt::format("{} {}:{}", name, file.substr(0, kLongest), std::max(frame.line, 0));
}

// What torch.profiler says a tensor is for, in the alloc event or else the free: a StringId of its JSON text;
// -1 = nothing, or the profiler's own "unknown".
[[nodiscard]] int32_t category_of(const model::Recording& recording, const replay::Bands& bands,
                                  size_t rank) {
  const int32_t born = bands.born[rank];
  const int32_t event = born >= 0 ? born : bands.freed[rank];
  if (event >= bands.events.count) return -1;
  const model::RowRange extras = recording.extras_of(model::Owner::event, bands.events.first + event);
  for (int32_t row = extras.first; row < extras.end(); ++row) {
    const auto k = static_cast<size_t>(row);
    if (recording.strings.view(recording.extras.key[k]) != "category") continue;
    const StringId value = recording.extras.value[k];
    return recording.strings.view(value) == "\"unknown\"" ? -1 : value.value;
  }
  return -1;
}

[[nodiscard]] std::string category_text(const model::Recording& recording, int32_t key) {
  if (key < 0) return "unknown";
  std::string_view text = recording.strings.view(StringId{key});
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  constexpr size_t kLongest = 120;
  return utf8::cut(text, kLongest);
}

// The largest kinds get a place of their own, the others the last one.
template <typename KeyOf, typename LabelOf>
[[nodiscard]] bool largest_kinds(const replay::Bands& bands, BlockGroups& groups, Budget& budget,
                                 KeyOf key_of, LabelOf label_of) {
  struct Size {
    int64_t at_peak = 0;
    int64_t ever = 0;
    int32_t key = 0;
  };
  Column<Size> sizes(budget);  // by key + 1
  for (int32_t rank = 0; rank < bands.count(); ++rank) {
    const auto r = static_cast<size_t>(rank);
    const auto slot = static_cast<size_t>(key_of(r) + 1);
    if (slot >= sizes.size() && !sizes.resize(slot + 1, Size{})) return false;
    Size& size = sizes[slot];
    size.key = static_cast<int32_t>(slot) - 1;
    const bool at_peak = bands.born[r] <= bands.peak_event && bands.peak_event < bands.freed[r];
    if (at_peak) size.at_peak += bands.size[r];
    // Sums of sizes that were all in use at some time may pass 2^63 in hostile files.
    if (__builtin_add_overflow(size.ever, bands.size[r] + 1, &size.ever)) size.ever = INT64_MAX;
  }
  Column<Size> ordered(budget);
  for (const Size& size : sizes) {
    if (size.ever > 0 && !ordered.push_back(size)) return false;
  }
  const size_t own = ordered.size() > kMostKinds ? kMostKinds - 1 : ordered.size();
  std::partial_sort(ordered.data(), ordered.data() + own, ordered.data() + ordered.size(),
                    [](const Size& a, const Size& b) {
                      if (a.at_peak != b.at_peak) return a.at_peak > b.at_peak;
                      return a.ever != b.ever ? a.ever > b.ever : a.key < b.key;
                    });
  Column<uint32_t> group_of(budget);
  if (!group_of.resize(sizes.size(), static_cast<uint32_t>(own))) return false;
  for (size_t i = 0; i < own; ++i) {
    group_of[static_cast<size_t>(ordered[i].key + 1)] = static_cast<uint32_t>(i);
    groups.kinds.push_back({label_of(ordered[i].key)});
  }
  if (own < ordered.size()) {
    const auto rest = static_cast<int32_t>(ordered.size() - own);
    groups.kinds.push_back({fmt::format("{} others", count_text(rest)), 0, rest});
  }
  for (size_t r = 0; r < groups.group.size(); ++r)
    groups.group[r] = group_of[static_cast<size_t>(key_of(r) + 1)];
  return true;
}

void group_lifetimes(const model::Recording& recording, const replay::Bands& bands, BlockGroups& groups) {
  bool has_times = false;
  for (int32_t event = 0; event < bands.events.count && !has_times; ++event)
    has_times = time_of(recording, bands, event) != model::kNoTime;
  has_times ? name_classes(kTimes, groups) : name_classes(kEventCounts, groups);
  const auto never = static_cast<uint32_t>(groups.kinds.size());
  groups.kinds.push_back({"never freed"});
  const auto before = static_cast<uint32_t>(groups.kinds.size());
  groups.kinds.push_back({"from before the recording"});
  for (size_t r = 0; r < groups.group.size(); ++r) {
    const int32_t born = bands.born[r];
    const int32_t freed = bands.freed[r];
    uint32_t& group = groups.group[r];
    if (freed >= bands.events.count) {
      group = never;
    } else if (born < 0) {
      group = before;
    } else if (!has_times) {
      group = class_of(kEventCounts, freed - born);
    } else {
      const int64_t from = time_of(recording, bands, born);
      const int64_t to = time_of(recording, bands, freed);
      int64_t lived = 0;
      if (from != model::kNoTime && to != model::kNoTime && __builtin_sub_overflow(to, from, &lived))
        lived = 0;
      group = class_of(kTimes, lived);
    }
  }
}

void group_ages(const replay::Bands& bands, BlockGroups& groups) {
  groups.kinds.push_back({"from before the recording"});
  const int64_t count = bands.events.count;
  const auto start_of = [&](int64_t part) { return (count * part + kAges - 1) / kAges; };
  for (int64_t part = 0; part < kAges && count > 0; ++part) {
    const int64_t first = start_of(part);
    const int64_t last = start_of(part + 1) - 1;
    groups.kinds.push_back({first >= last
                                ? fmt::format("since event {}", count_text(first))
                                : fmt::format("since events {} to {}", count_text(first), count_text(last))});
  }
  for (size_t r = 0; r < groups.group.size(); ++r) {
    const int64_t born = bands.born[r];
    groups.group[r] = born < 0 ? 0 : static_cast<uint32_t>(1 + born * kAges / count);
  }
}

}  // namespace

std::optional<GroupBy> group_by_name(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {"allocation", "stack",    "size", "stream",
                                                      "pool",       "lifetime", "age",  "category"};
  const auto* found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<GroupBy>(found - kNames.begin());
}

Result<BlockGroups> group_blocks(const model::Recording& recording, const replay::Bands& bands,
                                 const BlockAttributes& attributes, GroupBy by) {
  BlockGroups groups(recording.budget);
  groups.by = by;
  if (by == GroupBy::allocation) return groups;
  const auto too_much = [&] {
    return fail(ErrorCode::limit_exceeded, -1,
                "not enough memory to group {} blocks: {} bytes would be needed", bands.count(),
                recording.budget.needed());
  };
  if (!groups.group.resize(static_cast<size_t>(bands.count()), 0)) return too_much();
  bool done = true;
  switch (by) {
    case GroupBy::allocation:
      break;
    case GroupBy::stack:
      done = largest_kinds(
          bands, groups, recording.budget,
          [&](size_t r) {
            const StackId stack = attributes.stack[r];
            const bool empty = stack.is_none() || recording.stacks.leaf(stack) < 0;
            return empty ? -1 : stack.value;
          },
          [&](int32_t key) { return stack_label(recording, StackId{key}); });
      break;
    case GroupBy::stream:
      done = largest_kinds(
          bands, groups, recording.budget,
          [&](size_t r) { return attributes.number_of(attributes.stream[r]); },
          [](int32_t key) {
            return key == 0 ? std::string("default stream (0)") : fmt::format("stream {}", key);
          });
      break;
    case GroupBy::pool:
      done = largest_kinds(
          bands, groups, recording.budget, [&](size_t r) { return int32_t{attributes.pool[r].value}; },
          [&](int32_t key) {
            if (key < 0) return std::string("pool unknown");
            const model::Pool& pool = recording.pools[static_cast<size_t>(key)];
            return fmt::format("{} ({})", pool == model::Pool{} ? "default pool" : "pool", pool_text(pool));
          });
      break;
    case GroupBy::category:
      done = largest_kinds(
          bands, groups, recording.budget, [&](size_t r) { return category_of(recording, bands, r); },
          [&](int32_t key) { return category_text(recording, key); });
      break;
    case GroupBy::size:
      groups.ordered = true;
      name_classes(kSizes, groups);
      for (size_t r = 0; r < groups.group.size(); ++r) groups.group[r] = class_of(kSizes, bands.size[r]);
      break;
    case GroupBy::lifetime:
      groups.ordered = true;
      group_lifetimes(recording, bands, groups);
      break;
    case GroupBy::age:
      groups.ordered = true;
      group_ages(bands, groups);
      break;
  }
  if (!done) return too_much();
  for (const uint32_t group : groups.group) ++groups.kinds[group].blocks;
  return groups;
}

std::vector<Share> shares_at(const replay::Bands& bands, const BlockGroups& groups, int32_t event) {
  std::vector<Share> shares(groups.kinds.size());
  for (size_t r = 0; r < groups.group.size(); ++r) {
    if (bands.born[r] > event || event >= bands.freed[r]) continue;
    Share& share = shares[groups.group[r]];
    share.bytes += bands.size[r];
    ++share.blocks;
  }
  return shares;
}

}  // namespace memstrata::analysis
