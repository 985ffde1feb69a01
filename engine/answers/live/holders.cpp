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

void describe(Members& m, const model::Recording& recording, const analysis::Holders& holders,
              const HolderRows& wanted) {
  const analysis::BlockSums& sums = holders.found.sums;
  const analysis::KnownCategories* const categories = holders.categories;
  const auto rows = m.found([&] { return sums.rows().span(); });
  const size_t first = std::min(wanted.first, rows.size());
  m.is("Holders");
  m.count("event", holders.event);
  m.bytes("bytes", [&] { return sums.bytes(); });
  m.count("blocks", [&] { return sums.blocks(); });
  m.count("count", rows.size());
  m.flag({"labelled", "Labels of the program or the profiler decided for some blocks."},
         [&] { return categories != nullptr && categories->categories.labelled; });
  m.flag({"by_lifetime", "Categories of a trace: by when blocks live, not what PyTorch calls so."},
         [&] { return categories != nullptr && categories->rules.by_lifetime; });
  m.list(
      "rows", rows.subspan(first, std::min(wanted.count, rows.size() - first)),
      [&](const analysis::BlockSum& row) {
        const bool has_frame = !m.is_schema() && holders.keys != nullptr && row.key >= 0;
        const trace::Frame frame =
            has_frame ? recording.frames[holders.keys->frame[row.key]] : trace::Frame();
        m.is({"Holder", "Who holds memory: a line, function, file, module or category."});
        m.count({"key", "-1 = no stack, or outside of modules."}, row.key);
        m.text("label", [&] { return label_of(recording, holders, row.key); });
        m.text("file",
               [&] { return has_frame ? in_list(recording.strings.view(frame.filename)) : std::string(); });
        m.count({"line", "0 = unknown, or no line."},
                has_frame && holders.by == By::line ? std::max(frame.line, 0) : 0);
        m.bytes({"bytes", "Of its blocks in use at the moment.", "Bytes"}, row.bytes);
        m.count({"blocks", "That are in use at the moment.", "Blocks"}, row.blocks);
        m.bytes({"lit_bytes", "Of bytes: what the filter means."}, row.lit_bytes);
        m.rank({"largest", "Of its blocks."}, row.largest);
        m.share({"sure", "Of a category: 0 to 1, how sure its rules are; null = none decided.", "Sure"}, [&] {
          const bool decided = categories != nullptr && row.key > 0;
          return decided ? std::optional(holders.found.sure[static_cast<size_t>(row.key)]) : std::nullopt;
        });
        m.text({"says", "What the rules of a category say; empty = nothing."},
               [&] { return categories != nullptr ? categories->rules.says(row.key) : std::string(); });
        m.text({"filter", "The filter that means its blocks; null = there is none."},
               [&] { return or_none(filter_of(recording, holders, row.key)); });
      });
}

void describe(Members& m, const DecidedCategory& decided) {
  const bool known = !m.is_schema() && decided.number != analysis::Categories::kNoRule;
  const analysis::CategoryRule rule = known ? decided.rules.rules[decided.number] : analysis::CategoryRule();
  m.is({"BlockCategory", "What a block is for."});
  m.text("name", [&] { return std::string_view(decided.rules.names[static_cast<size_t>(rule.category)]); });
  m.share({"sure", "0 to 1; null = no rule fits."}, known ? std::optional(rule.sure) : std::nullopt);
  m.count({"line", "The line of the rules that decided, from 1."},
          known ? std::optional(rule.line) : std::nullopt);
  m.text({"rule", "As it stands there."}, [&]() -> std::optional<std::string> {
    if (!known) return std::nullopt;
    std::string_view text = decided.text;
    for (int32_t line = 1; line < rule.line; ++line)
      text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
    return in_list(text.substr(0, text.find('\n')));
  });
}

void describe(Members& m, const analysis::CategoryRules& rules, std::string_view text) {
  m.is("CategoryRules");
  m.texts("names", rules.names);
  m.count("rules", rules.rules.size());
  m.text("text", text);
}

}  // namespace gpustrata::answers
