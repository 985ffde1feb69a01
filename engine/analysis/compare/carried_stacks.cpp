#include "engine/analysis/compare/carried_stacks.h"

#include <algorithm>
#include <tuple>

#include "engine/base/hash.h"

namespace gpustrata::analysis {

namespace {

// A stack of either side and what it is the same by.
struct Keyed {
  ShownKey key;
  bool of_after;
  int32_t number;
};

// What says in another recording who a group is.
[[nodiscard]] ShownKey key_of(const model::Recording& recording, const Who& who, By by) {
  ShownKey key{1, 2};
  if (who.kind == Who::Kind::nothing) return {};
  const trace::Frame& frame = recording.frames[who.frame];
  if (by != By::file) {
    key.add(hash_text(who.name));
    if (!who.is_frame()) return key;
  }
  key.add(hash_text(recording.strings.view(frame.filename)));
  if (by == By::line) key.add(static_cast<uint64_t>(std::max(frame.line, 0)));
  return key;
}

[[nodiscard]] const CarriedStack& carried_of(const CarriedStacks& stacks, int32_t number) {
  return stacks.stacks[static_cast<size_t>(number)];
}

class StackPairing {
 public:
  StackPairing(const CarriedStacks& before, const CarriedStacks& after, Paired paired, Budget& budget)
      : before_(before), after_(after), paired_(paired), keyed_(budget), left_(budget) {}

  [[nodiscard]] bool run(Column<ComparedPart>& parts) {
    for (const CarriedStacks* side : {&before_, &after_}) {
      for (int32_t i = 0; i < static_cast<int32_t>(side->stacks.size()); ++i) {
        if (!keyed_.push_back({carried_of(*side, i).shown, side == &after_, i})) return false;
      }
    }
    if (!pair(keyed_, false, parts)) return false;
    std::swap(keyed_, left_);
    return pair(keyed_, true, parts);
  }

 private:
  // Stacks of one key, the largest of each side with each other. What is left of them goes to `left_` with the key
  // without lines, or is a part of its own.
  [[nodiscard]] bool pair(Column<Keyed>& keyed, bool lines_moved, Column<ComparedPart>& parts) {
    // Numbers ascend by size.
    std::sort(keyed.data(), keyed.data() + keyed.size(), [](const Keyed& a, const Keyed& b) {
      return std::tie(a.key, a.of_after, a.number) < std::tie(b.key, b.of_after, b.number);
    });
    for (size_t i = 0; i < keyed.size();) {
      size_t after = i, end = i;
      while (end < keyed.size() && keyed[end].key == keyed[i].key) ++end;
      while (after < end && !keyed[after].of_after) ++after;
      size_t a = i, b = after;
      for (; a < after && b < end; ++a, ++b) {
        if (!parts.push_back(part_of(keyed[a].number, keyed[b].number, lines_moved))) return false;
      }
      for (; a < after; ++a) {
        if (!leave(keyed[a], lines_moved, parts)) return false;
      }
      for (; b < end; ++b) {
        if (!leave(keyed[b], lines_moved, parts)) return false;
      }
      i = end;
    }
    return true;
  }

  [[nodiscard]] bool leave(const Keyed& one, bool is_last, Column<ComparedPart>& parts) {
    const CarriedStack& carried = carried_of(one.of_after ? after_ : before_, one.number);
    if (!is_last && paired_ == Paired::by_functions && carried.shown != ShownKey{})
      return left_.push_back({carried.without_lines, one.of_after, one.number});
    return parts.push_back(part_of(one.of_after ? -1 : one.number, one.of_after ? one.number : -1, false));
  }

  [[nodiscard]] ComparedPart part_of(int32_t before, int32_t after, bool lines_moved) const {
    ComparedPart part{before, after, lines_moved, {}, {}};
    if (before >= 0) {
      part.bytes.before = carried_of(before_, before).bytes;
      part.blocks.before = carried_of(before_, before).blocks;
    }
    if (after >= 0) {
      part.bytes.after = carried_of(after_, after).bytes;
      part.blocks.after = carried_of(after_, after).blocks;
    }
    return part;
  }

  const CarriedStacks& before_;
  const CarriedStacks& after_;
  Paired paired_;
  Column<Keyed> keyed_, left_;
};

}  // namespace

Result<CarriedStacks> carried_stacks(const Side& side) {
  const model::Recording& recording = side.recording;
  const auto no_memory = [&] {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to gather {} groups.",
                side.top.groups.size());
  };
  CarriedStacks found(recording.budget);
  found.bytes = side.top.bytes;
  found.blocks = side.top.blocks;
  found.rest_bytes = side.top.other_bytes;
  found.rest_blocks = side.top.other_blocks;
  ShownStacks shown(recording);
  if (!shown.prepare()) return no_memory();
  for (const TopGroup& group : side.top.groups) {
    CarriedStack carried{{}, {}, group.bytes, group.blocks, group.stack, group.largest};
    if (side.top.by == By::shown) {
      carried.shown = shown.key(group.stack);
      carried.without_lines = shown.key_without_lines(group.stack);
    } else {
      carried.shown = key_of(recording, group.who, side.top.by);
    }
    if (!found.stacks.push_back(carried)) return no_memory();
  }
  return found;
}

Result<ComparedParts> pair(const CarriedStacks& before, const CarriedStacks& after, Paired paired,
                           Budget& budget) {
  ComparedParts found(budget);
  found.bytes = {before.bytes, after.bytes};
  found.blocks = {before.blocks, after.blocks};
  found.rest_bytes = {before.rest_bytes, after.rest_bytes};
  found.rest_blocks = {before.rest_blocks, after.rest_blocks};
  if (!StackPairing(before, after, paired, budget).run(found.parts))
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to compare {} stacks with {}.",
                before.stacks.size(), after.stacks.size());
  std::sort(found.parts.data(), found.parts.data() + found.parts.size(),
            [](const ComparedPart& a, const ComparedPart& b) {
              return std::tuple(b.bytes.growth(), b.bytes.after, b.blocks.growth(), a.after, a.before) <
                     std::tuple(a.bytes.growth(), a.bytes.after, a.blocks.growth(), b.after, b.before);
            });
  return found;
}

}  // namespace gpustrata::analysis
