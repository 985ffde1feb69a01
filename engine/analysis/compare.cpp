#include "engine/analysis/compare.h"

#include <algorithm>
#include <compare>
#include <tuple>

#include "engine/analysis/shown_stacks.h"
#include "engine/base/hash.h"

namespace gpustrata::analysis {

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

}  // namespace gpustrata::analysis
