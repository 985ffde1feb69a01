#include "engine/analysis/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/analysis/frame_filter.h"
#include "engine/base/hash.h"

namespace memstrata::analysis {

namespace {

// Two hashes of what a group is shown as: that they both agree by chance does not happen.
using GroupKey = std::pair<uint64_t, uint64_t>;

class Keys {
 public:
  explicit Keys(const model::Recording& recording) : recording_(recording) {}

  [[nodiscard]] GroupKey operator()(const TopGroup& group, TopBy by) {
    GroupKey key{1, 2};
    if (by != TopBy::stack) {
      if (group.file.is_none()) return {};
      add(key, group.name.is_none() ? 0 : hash_text(recording_.strings.view(group.name)));
      add(key, hash_text(recording_.strings.view(group.file)));
      return key;
    }
    if (group.stack.is_none()) return {};
    const std::vector<FrameLine> lines = frame_lines(recording_, group.stack);
    const bool all_hidden =
        std::all_of(lines.begin(), lines.end(), [](const FrameLine& line) { return line.hidden; });
    for (const FrameLine& line : lines) {
      if (line.hidden && !all_hidden) continue;
      add(key, hash_of(line.frame));
      add(key, static_cast<uint64_t>(line.repeats));
    }
    return key;
  }

 private:
  static void add(GroupKey& key, uint64_t hash) {
    key.first = mix_hash(key.first * 31 + hash);
    key.second = mix_hash(key.second ^ hash) + 0x9e3779b97f4a7c15ULL;
  }
  [[nodiscard]] uint64_t hash_of(FrameId frame) {
    const auto [known, is_new] = frames_.try_emplace(frame.value, 0);
    if (is_new) known->second = hash_text(frame_text(recording_, frame));
    return known->second;
  }

  const model::Recording& recording_;
  std::unordered_map<int32_t, uint64_t> frames_;
};

void write_both(JsonWriter& json, std::string_view name, const BeforeAfter& both) {
  json.key(name);
  json.begin_object();
  json.member("before", both.before);
  json.member("after", both.after);
  json.member("growth", both.growth());
  json.end_object();
}

}  // namespace

Comparison compare_groups(const Side& before, const Side& after, TopBy by, size_t limit) {
  Comparison found;
  found.bytes = {before.top.bytes, after.top.bytes};
  found.blocks = {before.top.count, after.top.count};
  std::map<GroupKey, size_t> known;
  std::vector<ComparedGroup> groups;
  // Stacks that differ in hidden frames only are shown alike: they are one group.
  const auto collect = [&](const Side& side, bool is_after) {
    Keys keys(side.recording);
    for (const TopGroup& group : side.top.groups) {
      const auto [place, is_new] = known.try_emplace(keys(group, by), groups.size());
      if (is_new) groups.push_back({group, is_after, {}, {}});
      ComparedGroup& one = groups[place->second];
      (is_after ? one.bytes.after : one.bytes.before) += group.bytes;
      (is_after ? one.blocks.after : one.blocks.before) += group.count;
    }
  };
  collect(before, false);
  collect(after, true);
  const auto end = std::stable_partition(groups.begin(), groups.end(),
                                         [](const ComparedGroup& group) { return group.changed(); });
  found.unchanged = groups.end() - end;
  groups.erase(end, groups.end());
  found.changed = static_cast<int64_t>(groups.size());
  std::stable_sort(groups.begin(), groups.end(), [](const ComparedGroup& a, const ComparedGroup& b) {
    return std::tuple(-a.bytes.growth(), -a.blocks.growth()) <
           std::tuple(-b.bytes.growth(), -b.blocks.growth());
  });
  for (size_t i = limit; i < groups.size(); ++i) {
    found.other_bytes += groups[i].bytes;
    found.other_blocks += groups[i].blocks;
  }
  groups.resize(std::min(groups.size(), limit));
  found.rows = std::move(groups);
  return found;
}

ComparedSegments compare_segments(std::span<const replay::SegmentAt> before,
                                  std::span<const replay::SegmentAt> after) {
  ComparedSegments found;
  const auto place = [](const replay::SegmentAt& one) { return std::tuple(one.address, one.size); };
  const auto add = [](std::vector<replay::SegmentAt>& list, int64_t& bytes, const replay::SegmentAt& one) {
    list.push_back(one);
    if (__builtin_add_overflow(bytes, one.size, &bytes)) bytes = INT64_MAX;
  };
  size_t a = 0, b = 0;
  while (a < before.size() || b < after.size()) {
    if (b == after.size() || (a < before.size() && place(before[a]) < place(after[b]))) {
      add(found.only_before, found.only_before_bytes, before[a++]);
    } else if (a == before.size() || place(after[b]) < place(before[a])) {
      add(found.only_after, found.only_after_bytes, after[b++]);
    } else {
      ++found.in_both;
      if (__builtin_add_overflow(found.in_both_bytes, before[a].size, &found.in_both_bytes))
        found.in_both_bytes = INT64_MAX;
      ++a, ++b;
    }
  }
  for (auto* list : {&found.only_before, &found.only_after}) {
    std::stable_sort(list->begin(), list->end(),
                     [](const replay::SegmentAt& x, const replay::SegmentAt& y) { return x.size > y.size; });
  }
  return found;
}

FoldedStacks difference_of(const FoldedStacks& before, const FoldedStacks& after) {
  FoldedStacks found;
  const auto add = [&](const char* root, const FoldedStacks& more, const FoldedStacks& less) {
    for (const auto& [text, bytes] : more) {
      const auto other = less.find(text);
      const int64_t rest = other == less.end() ? bytes : bytes - other->second;
      if (rest > 0) found.emplace(fmt::format("{};{}", root, text), rest);
    }
  };
  add("only_before", before, after);
  add("only_after", after, before);
  return found;
}

void write_comparison(JsonWriter& json, const Side& before, const Side& after, const Comparison& comparison,
                      TopBy by) {
  write_both(json, "requested_bytes", comparison.bytes);
  write_both(json, "blocks", comparison.blocks);
  json.member("groups_changed", comparison.changed);
  json.member("groups_unchanged", comparison.unchanged);
  json.key("rows");
  json.begin_array();
  for (const ComparedGroup& row : comparison.rows) {
    json.begin_object();
    write_both(json, "bytes", row.bytes);
    write_both(json, "blocks", row.blocks);
    write_group(json, (row.only_after ? after : before).recording, row.group, by);
    json.end_object();
  }
  json.end_array();
  json.key("other");
  json.begin_object();
  write_both(json, "bytes", comparison.other_bytes);
  write_both(json, "blocks", comparison.other_blocks);
  json.end_object();
}

void write_compared_segments(JsonWriter& json, const ComparedSegments& segments) {
  const auto list = [&](std::string_view name, const std::vector<replay::SegmentAt>& all) {
    json.key(name);
    json.begin_array();
    for (const replay::SegmentAt& one : all) {
      json.begin_object();
      json.member("address", fmt::format("{:#x}", one.address));
      json.member("total_size", one.size);
      json.end_object();
    }
    json.end_array();
  };
  json.begin_object();
  json.member("in_both", segments.in_both);
  json.member("in_both_bytes", segments.in_both_bytes);
  json.member("only_before_bytes", segments.only_before_bytes);
  json.member("only_after_bytes", segments.only_after_bytes);
  list("only_before", segments.only_before);
  list("only_after", segments.only_after);
  json.end_object();
}

}  // namespace memstrata::analysis
