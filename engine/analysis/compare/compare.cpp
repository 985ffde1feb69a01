#include "engine/analysis/compare/compare.h"

#include <algorithm>
#include <tuple>

namespace gpustrata::analysis {

Result<Comparison> compare_groups(const Side& before, const Side& after, size_t limit) {
  Budget& budget = after.recording.budget;
  Comparison found(budget);
  found.by = after.top.by;
  const auto one = carried_stacks(before), other = carried_stacks(after);
  if (!one) return tl::unexpected(one.error());
  if (!other) return tl::unexpected(other.error());
  const auto parts = pair(*one, *other, Paired::by_all_lines, budget);
  if (!parts) return tl::unexpected(parts.error());
  found.bytes = parts->bytes;
  found.blocks = parts->blocks;
  const bool fell = found.bytes.growth() < 0;
  const size_t count = parts->parts.size();
  for (size_t i = 0; i < count; ++i) {
    const ComparedPart& part = parts->parts[fell ? count - 1 - i : i];
    if (!part.changed()) {
      ++found.unchanged;
      continue;
    }
    ++found.changed;
    if (found.rows.size() < limit) {
      if (!found.rows.push_back(part))
        return fail(ErrorCode::limit_exceeded, -1, "Not enough memory for {} groups that changed.", limit);
    } else {
      found.other_bytes += part.bytes;
      found.other_blocks += part.blocks;
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
