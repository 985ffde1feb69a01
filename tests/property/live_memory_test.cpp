// Random recordings: whatever groups the memory of a moment by who asked for it (top, holders, colours, parts of the peak,
// lines of source) says the same, and what a sum over every block's own texts says.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/compare/carried_stacks.h"
#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/live/block_groups.h"
#include "engine/analysis/live/source_lines.h"
#include "engine/analysis/live/top.h"
#include "engine/analysis/live/weigh.h"
#include "engine/analysis/stacks/frame_filter.h"
#include "engine/analysis/stacks/keys.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/replay/timeline.h"
#include "tests/property/random_calls.h"

namespace gpustrata::analysis {
namespace {

struct Held {
  int64_t bytes = 0, blocks = 0;

  bool operator==(const Held&) const = default;
  void add(int64_t more) {
    bytes += more;
    ++blocks;
  }
};
void PrintTo(const Held& sum, std::ostream* out) { *out << sum.bytes << " in " << sum.blocks; }

using HeldBy = std::map<std::string, Held>;

// A recording with its blocks, all of which is looked up the long way.
class Blocks {
 public:
  explicit Blocks(uint64_t seed) : random(seed) {
    make_random_calls(trace, random, 20 + random.below(300));
    trace.recording.seal();
    auto found = trace.lifetimes();
    EXPECT_TRUE(found && trace.ok());
    lives.emplace(std::move(*found));
    auto known = block_attributes(recording(), part(), *lives);
    EXPECT_TRUE(known.has_value());
    attributes.emplace(std::move(*known));
  }
  [[nodiscard]] const model::Recording& recording() const { return trace.recording; }
  [[nodiscard]] const model::Part& part() const { return recording().parts[0]; }
  [[nodiscard]] int32_t some_event() { return random.below(lives->events.count + 1) - 1; }
  [[nodiscard]] bool is_alive(int32_t rank, int32_t event) const {
    return lives->born[rank] <= event && event < lives->freed[rank];
  }

  [[nodiscard]] bool has_frames(StackId stack) const {
    return !stack.is_none() && !recording().stacks.frames_of(stack).empty();
  }
  // Of its allocation, else of the final state; none if no such has frames. That of its free says who freed it: no free
  // here is a pair that shows it to be of the allocation.
  [[nodiscard]] StackId stack_of(int32_t rank) const {
    const auto at = [&](int32_t event) { return recording().events.stack[static_cast<size_t>(event)]; };
    const int32_t born = lives->born[rank], freed = lives->freed[rank];
    if (born >= 0 && has_frames(at(born))) return at(born);
    const model::BlockTable& blocks = recording().blocks;
    for (size_t row = 0; row < blocks.size_rows() && freed == lives->events.count; ++row) {
      if (blocks.address[row] == lives->address(recording(), rank) && has_frames(blocks.stack[row]))
        return blocks.stack[row];
    }
    return StackId{};
  }
  // One operator speaks for itself, whichever of its frames it is: the first there is.
  [[nodiscard]] FrameId spoken_for(FrameId frame) const {
    const Who who = who_of_frame(recording(), frame);
    if (who.is_frame()) return frame;
    for (int32_t i = 0;; ++i) {
      const Who first = who_of_frame(recording(), FrameId{i});
      if (first.kind == who.kind && first.name == who.name) return FrameId{i};
    }
  }
  [[nodiscard]] std::string who_text(FrameKey by, const Who& who) const {
    return who.kind == Who::Kind::nothing ? "-" : text_of(recording(), by, spoken_for(who.frame));
  }
  [[nodiscard]] std::string asked_by(FrameKey by, int32_t rank) const {
    return who_text(by, who_of(recording(), stack_of(rank)));
  }
  // The lines that are shown of a stack.
  [[nodiscard]] std::string shown(StackId stack) const {
    if (stack.is_none()) return "-";
    std::vector<FrameLine> lines = frame_lines(recording(), stack);
    const auto is_hidden = [](const FrameLine& line) { return line.hidden; };
    if (!std::all_of(lines.begin(), lines.end(), is_hidden)) std::erase_if(lines, is_hidden);
    std::string text;
    for (const FrameLine& line : lines)
      text += frame_text(recording(), line.frame) + "*" + std::to_string(line.repeats) + "\n";
    return text;
  }
  template <typename Counts, typename TextOf>
  [[nodiscard]] HeldBy held(const Counts& counts, const TextOf& text_of_rank) const {
    HeldBy found;
    for (int32_t rank = 0; rank < lives->count(); ++rank) {
      if (counts(rank)) found[text_of_rank(rank)].add(lives->size[rank]);
    }
    return found;
  }

  Random random;
  replay::HandTrace trace;
  std::optional<replay::BlockLives> lives;
  std::optional<BlockAttributes> attributes;
};

struct Way {
  FrameKey frames;
  By by;
};
constexpr Way kWays[] = {
    {FrameKey::line, By::line}, {FrameKey::function, By::function}, {FrameKey::file, By::file}};

class LiveMemory : public testing::TestWithParam<int> {};

// Rows are ordered, and each says its largest block.
HeldBy held_by(const Blocks& blocks, FrameKey by, const Top& top) {
  HeldBy found;
  std::pair<int64_t, int64_t> last{INT64_MAX, 0};
  for (const TopGroup& group : top.groups) {
    found[blocks.who_text(by, group.who)] = {group.bytes, group.blocks};
    EXPECT_GE(last, std::pair(group.bytes, group.blocks));
    last = {group.bytes, group.blocks};
    EXPECT_EQ(blocks.asked_by(by, group.largest), blocks.who_text(by, group.who));
  }
  EXPECT_EQ(found.size(), top.groups.size());
  return found;
}

TEST_P(LiveMemory, OfAMomentIsTheSameInTopAndHolders) {
  Blocks blocks(static_cast<uint64_t>(GetParam()));
  const model::Recording& recording = blocks.recording();
  std::vector<uint8_t> matched(static_cast<size_t>(blocks.lives->count()));
  for (uint8_t& one : matched) one = static_cast<uint8_t>(blocks.random.below(2));
  const auto timeline = replay::Timeline::build(recording, *blocks.lives);
  ASSERT_TRUE(timeline.has_value());
  for (const Way& way : kWays) {
    const auto keys = find_keys(recording, way.by);
    ASSERT_TRUE(keys.has_value());
    for (int round = 0; round < 10; ++round) {
      const int32_t event = blocks.some_event();
      const auto text = [&](int32_t rank) { return blocks.asked_by(way.frames, rank); };
      const HeldBy all = blocks.held([&](int32_t rank) { return blocks.is_alive(rank, event); }, text);
      const HeldBy meant = blocks.held(
          [&](int32_t rank) {
            return blocks.is_alive(rank, event) && matched[static_cast<size_t>(rank)] != 0;
          },
          text);

      const auto top =
          find_top(recording, blocks.part(), *blocks.lives, When::alive(event), way.by, kAllGroups);
      ASSERT_TRUE(top.has_value());
      EXPECT_EQ(held_by(blocks, way.frames, *top), all);
      EXPECT_EQ(top->bytes, blocks.lives->level_after(event));
      const auto filtered =
          find_top(recording, blocks.part(), *blocks.lives, When::alive(event), way.by, kAllGroups, matched);
      ASSERT_TRUE(filtered.has_value());
      EXPECT_EQ(held_by(blocks, way.frames, *filtered), meant);

      // As the page asks: what is live from the tree, stacks that are known, a filter beside it.
      Column<int32_t> live(blocks.trace.budget);
      ASSERT_TRUE(timeline->live_at(event, live));
      const auto by_stack = sums_by_stack(*blocks.lives, live.span(), blocks.attributes->stack.span(),
                                          matched, blocks.trace.budget);
      BlockSums sums(blocks.trace.budget);
      ASSERT_TRUE(by_stack &&
                  regroup(
                      *by_stack, [&](const BlockSum& sum) { return keys->of(StackId{sum.key}); }, sums));
      HeldBy found;
      for (const BlockSum& one : sums.rows()) {
        const std::string who = blocks.who_text(way.frames, keys->who_of(recording, one.key));
        found[who] = {one.bytes, one.blocks};
        EXPECT_EQ(one.lit_bytes, meant.contains(who) ? meant.at(who).bytes : 0);
        EXPECT_EQ(text(one.largest), who);
      }
      EXPECT_EQ(found, all);
      EXPECT_EQ(found.size(), sums.rows().size());
    }
  }
}

TEST_P(LiveMemory, OfAMomentIsTheSameInColours) {
  Blocks blocks(static_cast<uint64_t>(GetParam()) + 1000);
  const model::Recording& recording = blocks.recording();
  const auto lines = find_keys(recording, By::line);
  ASSERT_TRUE(lines.has_value());
  const auto groups = group_blocks(recording, *blocks.lives, *blocks.attributes, GroupBy::stack, {}, &*lines);
  const auto timeline = replay::Timeline::build(recording, *blocks.lives);
  ASSERT_TRUE(groups && timeline);
  const auto text = [&](int32_t rank) { return blocks.asked_by(FrameKey::line, rank); };
  for (int round = 0; round < 10; ++round) {
    const int32_t event = blocks.some_event();
    HeldBy expected = blocks.held([&](int32_t rank) { return blocks.is_alive(rank, event); }, text);
    Column<int32_t> live(blocks.trace.budget);
    ASSERT_TRUE(timeline->live_at(event, live));
    const std::vector<Share> shares = shares_of(*blocks.lives, *groups, live.span());
    ASSERT_EQ(shares.size(), groups->kinds.size());
    Held rest, others;
    for (size_t i = 0; i < shares.size(); ++i) {
      const BlockGroups::Kind& kind = groups->kinds[i];
      const Held share{shares[i].bytes, shares[i].blocks};
      if (kind.merged > 0) {
        others = share;
        continue;
      }
      const std::string who =
          kind.key < 0 ? "-" : blocks.who_text(FrameKey::line, who_of_frame(recording, FrameId{kind.key}));
      EXPECT_EQ(share, expected[who]) << who;
      expected.erase(who);
    }
    for (const auto& [who, sum] : expected) {
      rest.bytes += sum.bytes;
      rest.blocks += sum.blocks;
    }
    EXPECT_EQ(others, rest);
  }
}

TEST_P(LiveMemory, ByStackIsTheSameInTopFactsAndPartsOfThePeak) {
  Blocks blocks(static_cast<uint64_t>(GetParam()) + 2000);
  const model::Recording& recording = blocks.recording();
  const int32_t peak = blocks.lives->peak_event;
  const HeldBy expected = blocks.held([&](int32_t rank) { return blocks.is_alive(rank, peak); },
                                      [&](int32_t rank) { return blocks.shown(blocks.stack_of(rank)); });
  const auto top =
      find_top(recording, blocks.part(), *blocks.lives, When::alive(peak), By::stack, kAllGroups);
  ASSERT_TRUE(top.has_value());
  HeldBy of_top, of_carried, of_parts;
  for (const TopGroup& group : top->groups) {
    Held& sum = of_top[blocks.shown(group.stack)];
    sum.bytes += group.bytes;
    sum.blocks += group.blocks;
  }
  EXPECT_EQ(of_top, expected);
  const auto parts =
      find_top(recording, blocks.part(), *blocks.lives, When::alive(peak), By::shown, kAllGroups);
  ASSERT_TRUE(parts.has_value());
  const auto carried = carried_stacks({recording, *parts});
  ASSERT_TRUE(carried.has_value());
  for (const CarriedStack& one : carried->stacks)
    of_carried[blocks.shown(one.stack)] = {one.bytes, one.blocks};
  for (const TopGroup& one : parts->groups) of_parts[blocks.shown(one.stack)] = {one.bytes, one.blocks};
  EXPECT_EQ(of_carried, expected);
  EXPECT_EQ(of_parts, expected);
  EXPECT_EQ(of_carried.size(), carried->stacks.size());
  EXPECT_EQ(of_parts.size(), parts->groups.size());
}

TEST_P(LiveMemory, NeverFreedAreThoseThatStayOfARange) {
  Blocks blocks(static_cast<uint64_t>(GetParam()) + 3000);
  const int32_t end = blocks.lives->events.count;
  for (const Way& way : kWays) {
    const int32_t from = blocks.some_event(), until = std::max(from, blocks.some_event());
    const auto found = find_top(blocks.recording(), blocks.part(), *blocks.lives,
                                When::never_freed(*blocks.lives, from, until), way.by, kAllGroups);
    ASSERT_TRUE(found.has_value());
    const auto counts = [&](int32_t rank) {
      const int32_t born = blocks.lives->born[rank];
      return born >= from && born <= until && blocks.lives->freed[rank] == end;
    };
    EXPECT_EQ(held_by(blocks, way.frames, *found),
              blocks.held(counts, [&](int32_t rank) { return blocks.asked_by(way.frames, rank); }));
  }
}

TEST_P(LiveMemory, LinesOfSourceHaveWhatTheyAskedForAndWhatPassedThem) {
  Blocks blocks(static_cast<uint64_t>(GetParam()) + 4000);
  const model::Recording& recording = blocks.recording();
  const std::string file = "/run/model.py";
  const int32_t event = blocks.some_event();
  std::map<int32_t, std::pair<Held, Held>> expected, lines;  // own, through
  for (int32_t rank = 0; rank < blocks.lives->count(); ++rank) {
    if (!blocks.is_alive(rank, event)) continue;
    const StackId stack = blocks.stack_of(rank);
    if (stack.is_none()) continue;
    const Who who = who_of(recording, stack);
    std::map<int32_t, bool> of_stack;  // line: it asked
    for (const FrameId id : recording.stacks.frames_of(stack)) {
      const trace::Frame& frame = recording.frames[id];
      if (recording.strings.view(frame.filename) != file) continue;
      const trace::Frame& asked = recording.frames[who.frame];
      of_stack[std::max(frame.line, 0)] |= who.is_frame() && asked.filename == frame.filename &&
                                           std::max(asked.line, 0) == std::max(frame.line, 0);
    }
    for (const auto& [line, is_own] : of_stack) {
      expected[line].second.add(blocks.lives->size[rank]);
      if (is_own) expected[line].first.add(blocks.lives->size[rank]);
    }
  }
  const auto keys = find_keys(recording, By::line);
  ASSERT_TRUE(keys.has_value());
  const auto found = find_source_lines(recording, blocks.part(), *blocks.lives, event, file, *keys);
  ASSERT_TRUE(found.has_value());
  for (const SourceLine& one : found->lines)
    lines[one.line] = {{one.own_bytes, one.own_blocks}, {one.bytes, one.blocks}};
  EXPECT_EQ(lines, expected);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LiveMemory, testing::Range(1, 61));

}  // namespace
}  // namespace gpustrata::analysis
