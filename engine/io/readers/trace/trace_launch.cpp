#include "engine/io/readers/trace/trace_launch.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/io/readers/trace/trace_text.h"

namespace gpustrata::io::traces {

namespace {

constexpr int32_t kNone = -1;

[[nodiscard]] int32_t count_of(const Value& value) {
  int64_t number = 0;
  const bool fits = value.kind == Value::Kind::number && integer_of(value.text, 0, number) == Number::fits;
  return fits && number >= 0 && number <= INT32_MAX ? static_cast<int32_t>(number) : kNone;
}

// Calls `item(value)` for each value of the list.
template <typename Item>
void each_item(std::string_view list, Item item) {
  if (!list.starts_with('[')) return;
  Text text(list, 1);
  Value value;
  while (text.value(value)) {
    item(value);
    if (text.next() != ',') return;
    text.skip();
  }
}

// Descriptions of groups: DeviceMesh calls those of its dimensions mesh_NAME, or mesh_dim_N where they have no names.
// Empty = it says nothing.
[[nodiscard]] std::string kind_of(std::string_view description) {
  constexpr std::pair<std::string_view, std::string_view> kMegatron[] = {
      {"TENSOR_MODEL_PARALLEL_GROUP", "tp"},
      {"PIPELINE_MODEL_PARALLEL_GROUP", "pp"},
      {"DATA_PARALLEL_GROUP", "dp"},
      {"CONTEXT_PARALLEL_GROUP", "cp"},
      {"EXPERT_MODEL_PARALLEL_GROUP", "ep"}};
  for (const auto& [long_name, kind] : kMegatron) {
    if (description == long_name) return std::string(kind);
  }
  if (description == "default_pg" || description == "undefined" || description.size() > kLongestGroupKind)
    return {};
  if (description.starts_with("mesh_")) description.remove_prefix(5);
  return ascii::lower(description);
}

// The group that `config` describes. Its kind is empty if that says nothing of `rank`.
[[nodiscard]] model::LaunchGroup group_of(std::string_view config, int32_t rank) {
  std::string kind;
  bool is_listed = false;
  int32_t ranks = 0, lowest = INT32_MAX, place = kNone;
  Text text(config);
  bool odd = false;
  (void)each_key(text, odd, [&](std::string_view key, Text& at) {
    Value value;
    if (!at.value(value)) return false;
    if (key == "pg_desc" && value.kind == Value::Kind::string && !value.has_escapes)
      kind = kind_of(value.text);
    if (key == "ranks" && value.kind == Value::Kind::container) {
      is_listed = true;
      each_item(value.text, [&](const Value& item) {
        const int32_t one = count_of(item);
        if (one == kNone) return;
        if (one == rank) place = ranks;
        lowest = std::min(lowest, one);
        ++ranks;
      });
    }
    return true;
  });
  // An empty list means all ranks: that tells stages, and no groups.
  if (is_listed && ranks == 0 && kind == "pp") return {kind, std::to_string(rank)};
  if (place == kNone || ranks < 2) return {};
  return {kind, std::to_string(kind == "pp" ? place : lowest)};
}

}  // namespace

model::Launch read_launch(std::string_view info) {
  model::Launch launch;
  std::string_view configs;
  Text text(info);
  bool odd = false;
  (void)each_key(text, odd, [&](std::string_view key, Text& at) {
    Value value;
    if (!at.value(value)) return false;
    if (key == "rank") launch.rank = count_of(value);
    if (key == "world_size") launch.world_size = count_of(value);
    if (key == "pg_config" && value.kind == Value::Kind::container) configs = value.text;
    return true;
  });
  if (launch.rank == kNone) return launch;
  each_item(configs, [&](const Value& config) {
    if (config.kind != Value::Kind::container || launch.groups.size() == kMostGroups) return;
    model::LaunchGroup group = group_of(config.text, launch.rank);
    const bool is_known = std::any_of(launch.groups.begin(), launch.groups.end(),
                                      [&](const model::LaunchGroup& one) { return one.kind == group.kind; });
    if (!group.kind.empty() && !is_known) launch.groups.push_back(std::move(group));
  });
  return launch;
}

}  // namespace gpustrata::io::traces
