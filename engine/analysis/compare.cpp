#include "engine/analysis/compare.h"

#include <algorithm>
#include <compare>
#include <tuple>

#include "engine/analysis/shown_stacks.h"
#include "engine/base/hash.h"

namespace memstrata::analysis {

namespace {

class Keys {
 public:
  explicit Keys(const model::Recording& recording) : recording_(recording), shown_(recording) {}
  [[nodiscard]] bool prepare() { return shown_.prepare(); }

  [[nodiscard]] ShownKey operator()(const TopGroup& group, TopBy by) {
    if (by == TopBy::stack) return shown_.key(group.stack);
    ShownKey key{1, 2};
    if (group.who.kind == Who::Kind::nothing) return {};
    const trace::Frame& frame = recording_.frames[group.who.frame];
    if (by != TopBy::file) {
      key.add(hash_text(group.who.name));
      if (!group.who.is_frame()) return key;
    }
    key.add(hash_text(recording_.strings.view(frame.filename)));
    if (by == TopBy::line) key.add(static_cast<uint64_t>(std::max(frame.line, 0)));
    return key;
  }

 private:
  const model::Recording& recording_;
  ShownStacks shown_;
};

struct KeyedGroup {
  ShownKey key;
  int32_t order;  // in which they came
  bool of_after;
  TopGroup group;
};

}  // namespace

Result<Comparison> compare_groups(const Side& before, const Side& after, size_t limit) {
  Budget& budget = after.recording.budget;
  const auto out_of_memory = [&] {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to compare {} groups with {}.",
                before.top.groups.size(), after.top.groups.size());
  };
  Comparison found(budget);
  found.by = after.top.by;
  found.bytes = {before.top.bytes, after.top.bytes};
  found.blocks = {before.top.count, after.top.count};
  Column<KeyedGroup> all(budget);
  for (const Side* side : {&before, &after}) {
    Keys keys(side->recording);
    if (!keys.prepare()) return out_of_memory();
    for (const TopGroup& group : side->top.groups) {
      const auto order = static_cast<int32_t>(all.size());
      if (!all.push_back({keys(group, found.by), order, side == &after, group})) return out_of_memory();
    }
  }
  std::sort(all.data(), all.data() + all.size(), [](const KeyedGroup& a, const KeyedGroup& b) {
    return std::tie(a.key, a.order) < std::tie(b.key, b.order);
  });
  // Stacks that differ in hidden frames only are shown alike: they are one group.
  struct Ordered {
    ComparedGroup group;
    int32_t order;
  };
  Column<Ordered> groups(budget);
  for (size_t i = 0; i < all.size(); ++i) {
    const KeyedGroup& one = all[i];
    if (i == 0 || one.key != all[i - 1].key) {
      if (!groups.push_back({{one.group, one.of_after, {}, {}}, one.order})) return out_of_memory();
    }
    ComparedGroup& into = groups.back().group;
    add_saturated(one.of_after ? into.bytes.after : into.bytes.before, one.group.bytes);
    add_saturated(one.of_after ? into.blocks.after : into.blocks.before, one.group.count);
  }
  Ordered* const begin = groups.data();
  Ordered* const end =
      std::partition(begin, begin + groups.size(), [](const Ordered& one) { return one.group.changed(); });
  found.changed = end - begin;
  found.unchanged = static_cast<int64_t>(groups.size()) - found.changed;
  std::sort(begin, end, [](const Ordered& a, const Ordered& b) {
    return std::tuple(b.group.bytes.growth(), b.group.blocks.growth(), a.order) <
           std::tuple(a.group.bytes.growth(), a.group.blocks.growth(), b.order);
  });
  for (const Ordered* one = begin; one != end; ++one) {
    if (found.rows.size() < limit) {
      if (!found.rows.push_back(one->group)) return out_of_memory();
    } else {
      found.other_bytes += one->group.bytes;
      found.other_blocks += one->group.blocks;
    }
  }
  return found;
}

namespace {

// A part and what it is the same by.
struct KeyedPart {
  ShownKey key;
  bool of_after;
  ComparedPart part;
};

// Joins neighbours with one key; those of one recording become one part. `pairs`: one of each recording at most.
void join(Column<KeyedPart>& parts, bool pairs) {
  size_t kept = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    KeyedPart& one = parts[i];
    KeyedPart* const last = kept > 0 && parts[kept - 1].key == one.key ? &parts[kept - 1] : nullptr;
    if (last == nullptr || (pairs && last->of_after == one.of_after)) {
      parts[kept++] = one;
      continue;
    }
    if (one.of_after) last->part.stack = one.part.stack;
    last->part.only_before = last->part.only_before && one.part.only_before;
    last->part.lines_moved = pairs;
    last->part.bytes += one.part.bytes;
    last->part.blocks += one.part.blocks;
  }
  parts.truncate(kept);
}

}  // namespace

Result<ComparedParts> compare_parts(const Side& before, const Side& after) {
  Budget& budget = after.recording.budget;
  const auto no_memory = [&] {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to compare {} stacks with {}.",
                before.top.groups.size(), after.top.groups.size());
  };
  ComparedParts found(budget);
  found.bytes = {before.top.bytes, after.top.bytes};
  found.blocks = {before.top.count, after.top.count};
  ShownStacks shown_before(before.recording), shown_after(after.recording);
  if (!shown_before.prepare() || !shown_after.prepare()) return no_memory();
  Column<KeyedPart> all(budget), single(budget);
  for (const TopGroup& group : before.top.groups) {
    if (!all.push_back({shown_before.key(group.stack),
                        false,
                        {group.stack, true, false, {group.bytes, 0}, {group.count, 0}}}))
      return no_memory();
  }
  for (const TopGroup& group : after.top.groups) {
    if (!all.push_back({shown_after.key(group.stack),
                        true,
                        {group.stack, false, false, {0, group.bytes}, {0, group.count}}}))
      return no_memory();
  }
  const auto size_of = [](const KeyedPart& one) {
    return saturated_sum(one.part.bytes.before, one.part.bytes.after);
  };
  std::stable_sort(all.data(), all.data() + all.size(),
                   [](const KeyedPart& a, const KeyedPart& b) { return a.key < b.key; });
  join(all, false);
  // What only one of them has, without the numbers of lines; parts of equal keys alternate, largest first.
  for (const KeyedPart& one : all) {
    const bool in_both = !one.part.only_before && one.part.blocks.before > 0;
    if (in_both || one.part.stack.is_none()) {
      if (!found.parts.push_back(one.part)) return no_memory();
      continue;
    }
    ShownStacks& shown = one.part.only_before ? shown_before : shown_after;
    if (!single.push_back({shown.key_without_lines(one.part.stack), !one.part.only_before, one.part}))
      return no_memory();
  }
  std::stable_sort(single.data(), single.data() + single.size(), [&](const KeyedPart& a, const KeyedPart& b) {
    return std::tuple(a.key, a.of_after, -size_of(a)) < std::tuple(b.key, b.of_after, -size_of(b));
  });
  Column<int32_t> nth(budget);  // of those with its key and recording
  if (!nth.resize(single.size(), 0)) return no_memory();
  for (size_t i = 1; i < single.size(); ++i) {
    if (single[i].key == single[i - 1].key && single[i].of_after == single[i - 1].of_after)
      nth[i] = nth[i - 1] + 1;
  }
  for (size_t i = 0; i < single.size(); ++i) single[i].key.add(static_cast<uint64_t>(nth[i]));
  std::stable_sort(single.data(), single.data() + single.size(),
                   [](const KeyedPart& a, const KeyedPart& b) { return a.key < b.key; });
  join(single, true);
  for (const KeyedPart& one : single) {
    if (!found.parts.push_back(one.part)) return no_memory();
  }
  std::stable_sort(found.parts.data(), found.parts.data() + found.parts.size(),
                   [](const ComparedPart& a, const ComparedPart& b) {
                     return std::tuple(-a.bytes.growth(), -a.bytes.after, -a.blocks.growth()) <
                            std::tuple(-b.bytes.growth(), -b.bytes.after, -b.blocks.growth());
                   });
  return found;
}

Result<ComparedSegments> compare_segments(std::span<const replay::SegmentAt> before,
                                          std::span<const replay::SegmentAt> after, Budget& budget) {
  ComparedSegments found(budget);
  const auto place = [](const replay::SegmentAt& one) { return std::tuple(one.address, one.size); };
  bool fits = true;
  const auto add = [&](Column<replay::SegmentAt>& list, int64_t& bytes, const replay::SegmentAt& one) {
    fits = fits && list.push_back(one);
    add_saturated(bytes, one.size);
  };
  size_t a = 0, b = 0;
  while (a < before.size() || b < after.size()) {
    if (b == after.size() || (a < before.size() && place(before[a]) < place(after[b]))) {
      add(found.only_before, found.only_before_bytes, before[a++]);
    } else if (a == before.size() || place(after[b]) < place(before[a])) {
      add(found.only_after, found.only_after_bytes, after[b++]);
    } else {
      ++found.in_both;
      add_saturated(found.in_both_bytes, before[a].size);
      ++a, ++b;
    }
  }
  if (!fits) {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to compare {} segments with {}.",
                before.size(), after.size());
  }
  for (auto* list : {&found.only_before, &found.only_after}) {
    std::sort(list->data(), list->data() + list->size(),
              [](const replay::SegmentAt& x, const replay::SegmentAt& y) {
                return x.size != y.size ? x.size > y.size : x.address < y.address;
              });
  }
  return found;
}

}  // namespace memstrata::analysis
