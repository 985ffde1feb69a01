#include "engine/answers/live/holders.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "engine/answers/stacks/frame_label.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::By;

namespace {

// "Linear_0"; "forward linear.py called at forward model.py:52".
[[nodiscard]] std::string module_label(const model::Recording& recording, FrameId frame, FrameId site) {
  constexpr std::string_view kNamed = "nn.Module: ";
  constexpr size_t kLongest = 120;
  std::string_view name = recording.strings.view(recording.frames[frame].name);
  if (name.starts_with(kNamed)) return utf8::cut(name.substr(kNamed.size()), kLongest);
  std::string label = frame_label(recording, analysis::FrameKey::function, frame);
  if (!site.is_none())
    label += fmt::format(", called at {}", frame_label(recording, analysis::FrameKey::line, site));
  return label;
}

[[nodiscard]] std::string label_of(const model::Recording& recording, const analysis::Holders& holders,
                                   int32_t key) {
  if (holders.by == By::category) return holders.categories->rules.names[static_cast<size_t>(key)];
  const analysis::Keys& keys = *holders.keys;
  if (key < 0) return keys.by == By::module ? "outside of modules" : "no stack";
  if (keys.by == By::module) return module_label(recording, keys.frame[key], keys.site[key]);
  return frame_label(recording, frame_key_of(keys.by), keys.frame[key]);
}

[[nodiscard]] std::string filter_of(const model::Recording& recording, const analysis::Holders& holders,
                                    int32_t key) {
  if (holders.by == By::category && holders.categories->own)
    return fmt::format("category:{}", holders.categories->rules.names[static_cast<size_t>(key)]);
  if (holders.by == By::category || holders.by == By::module) return {};
  if (key < 0) return no_stack_filter();
  return frame_filter("who", recording, frame_key_of(holders.by), holders.keys->frame[key]);
}

}  // namespace

void to_json(JsonWriter& json, const model::Recording& recording, const analysis::Holders& holders,
             const HolderRows& wanted) {
  const analysis::BlockSums& sums = holders.found.sums;
  const analysis::KnownCategories* const categories = holders.categories;
  json.begin_object();
  json.member("event", holders.event);
  json.member("bytes", sums.bytes());
  json.member("blocks", sums.blocks());
  json.member("count", static_cast<int64_t>(sums.rows().size()));
  json.member("labelled", categories != nullptr && categories->categories.labelled);
  json.member("by_lifetime", categories != nullptr && categories->rules.by_lifetime);
  json.key("rows");
  json.begin_array();
  const size_t first = std::min(wanted.first, sums.rows().size());
  const size_t end = first + std::min(wanted.count, sums.rows().size() - first);
  for (size_t i = first; i < end; ++i) {
    const analysis::BlockSum& row = sums.rows()[i];
    json.begin_object();
    json.member("key", row.key);
    json.member("label", label_of(recording, holders, row.key));
    std::string file;
    int32_t line = 0;
    if (holders.keys != nullptr && row.key >= 0) {
      const trace::Frame& frame = recording.frames[holders.keys->frame[row.key]];
      file = in_list(recording.strings.view(frame.filename));
      if (holders.by == By::line) line = std::max(frame.line, 0);
    }
    json.member("file", file);
    json.member("line", line);
    json.member("bytes", row.bytes);
    json.member("blocks", row.blocks);
    json.member("lit_bytes", row.lit_bytes);
    json.member("largest", row.largest);
    json.key("sure");
    if (categories != nullptr && row.key > 0) {
      json.value(holders.found.sure[static_cast<size_t>(row.key)]);
    } else {
      json.null();
    }
    json.member("says", categories != nullptr ? categories->rules.says(row.key) : std::string());
    json.key("filter");
    const std::string filter = filter_of(recording, holders, row.key);
    if (filter.empty()) {
      json.null();
    } else {
      json.value(filter);
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void category_to_json(JsonWriter& json, const analysis::CategoryRules& rules, uint8_t number,
                      std::string_view text) {
  const bool known = number != analysis::Categories::kNoRule;
  const analysis::CategoryRule rule = known ? rules.rules[number] : analysis::CategoryRule();
  for (int32_t line = 1; known && line < rule.line; ++line)
    text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  json.begin_object();
  json.member("name", rules.names[static_cast<size_t>(rule.category)]);
  json.key("sure");
  if (known) {
    json.value(rule.sure);
    json.member("line", rule.line);
    json.member("rule", in_list(text.substr(0, text.find('\n'))));
  } else {
    json.null();
    json.key("line");
    json.null();
    json.key("rule");
    json.null();
  }
  json.end_object();
}

void to_json(JsonWriter& json, const analysis::CategoryRules& rules, std::string_view text) {
  json.begin_object();
  json.key("names");
  json.begin_array();
  for (const std::string& name : rules.names) json.value(name);
  json.end_array();
  json.member("rules", static_cast<int64_t>(rules.rules.size()));
  json.member("text", text);
  json.end_object();
}

}  // namespace gpustrata::answers
