#include "engine/analysis/stack_facts.h"

#include <algorithm>
#include <tuple>

#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

// A fact of either side and what it is the same by.
struct Keyed {
  ShownKey key;
  bool of_after;
  int32_t number;
};

[[nodiscard]] const StackFact& fact_of(const StackFacts& facts, int32_t number) {
  return facts.facts[static_cast<size_t>(number)];
}

class Pairing {
 public:
  Pairing(const StackFacts& before, const StackFacts& after, Budget& budget)
      : before_(before), after_(after), keyed_(budget), left_(budget) {}

  [[nodiscard]] bool run(Column<ComparedPart>& parts) {
    for (const StackFacts* side : {&before_, &after_}) {
      for (int32_t i = 0; i < static_cast<int32_t>(side->facts.size()); ++i) {
        if (!keyed_.push_back({fact_of(*side, i).shown, side == &after_, i})) return false;
      }
    }
    if (!pair(keyed_, false, parts)) return false;
    std::swap(keyed_, left_);
    return pair(keyed_, true, parts);
  }

 private:
  // Facts of one key, the largest of each side with each other. What is left of them goes to `left_` with the key
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
    const StackFact& fact = fact_of(one.of_after ? after_ : before_, one.number);
    if (!is_last && fact.shown != ShownKey{})
      return left_.push_back({fact.without_lines, one.of_after, one.number});
    return parts.push_back(part_of(one.of_after ? -1 : one.number, one.of_after ? one.number : -1, false));
  }

  [[nodiscard]] ComparedPart part_of(int32_t before, int32_t after, bool lines_moved) const {
    ComparedPart part{before, after, lines_moved, {}, {}};
    if (before >= 0) {
      part.bytes.before = fact_of(before_, before).bytes;
      part.blocks.before = fact_of(before_, before).blocks;
    }
    if (after >= 0) {
      part.bytes.after = fact_of(after_, after).bytes;
      part.blocks.after = fact_of(after_, after).blocks;
    }
    return part;
  }

  const StackFacts& before_;
  const StackFacts& after_;
  Column<Keyed> keyed_, left_;
};

}  // namespace

Result<StackFacts> stack_facts(const Side& side, size_t limit) {
  Budget& budget = side.recording.budget;
  const auto no_memory = [&] {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to gather {} stacks.",
                side.top.groups.size());
  };
  StackFacts found(budget);
  found.bytes = side.top.bytes;
  found.blocks = side.top.count;
  ShownStacks shown(side.recording);
  if (!shown.prepare()) return no_memory();
  Column<StackFact>& facts = found.facts;
  for (const TopGroup& group : side.top.groups) {
    if (!facts.push_back({shown.key(group.stack), shown.key_without_lines(group.stack), group.bytes,
                          group.count, group.stack, group.largest_rank}))
      return no_memory();
  }
  std::stable_sort(facts.data(), facts.data() + facts.size(),
                   [](const StackFact& a, const StackFact& b) { return a.shown < b.shown; });
  size_t kept = 0;
  for (size_t i = 0; i < facts.size(); ++i) {
    if (kept > 0 && facts[kept - 1].shown == facts[i].shown) {
      add_saturated(facts[kept - 1].bytes, facts[i].bytes);
      facts[kept - 1].blocks += facts[i].blocks;
    } else {
      facts[kept++] = facts[i];
    }
  }
  facts.truncate(kept);
  std::sort(facts.data(), facts.data() + facts.size(), [](const StackFact& a, const StackFact& b) {
    return std::tie(b.bytes, b.blocks, a.shown) < std::tie(a.bytes, a.blocks, b.shown);
  });
  for (size_t i = limit; i < facts.size(); ++i) {
    add_saturated(found.rest_bytes, facts[i].bytes);
    found.rest_blocks += facts[i].blocks;
  }
  if (facts.size() > limit) facts.truncate(limit);
  return found;
}

Result<ComparedParts> compare_parts(const StackFacts& before, const StackFacts& after, Budget& budget) {
  ComparedParts found(budget);
  found.bytes = {before.bytes, after.bytes};
  found.blocks = {before.blocks, after.blocks};
  found.rest_bytes = {before.rest_bytes, after.rest_bytes};
  found.rest_blocks = {before.rest_blocks, after.rest_blocks};
  if (!Pairing(before, after, budget).run(found.parts))
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to compare {} stacks with {}.",
                before.facts.size(), after.facts.size());
  std::sort(found.parts.data(), found.parts.data() + found.parts.size(),
            [](const ComparedPart& a, const ComparedPart& b) {
              return std::tuple(b.bytes.growth(), b.bytes.after, b.blocks.growth(), a.after, a.before) <
                     std::tuple(a.bytes.growth(), a.bytes.after, a.blocks.growth(), b.after, b.before);
            });
  return found;
}

}  // namespace gpustrata::analysis
