#include "engine/analysis/filters/filter_completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/analysis/categories/category_rules.h"
#include "engine/analysis/device/pool_id.h"
#include "engine/analysis/filters/filter_syntax.h"
#include "engine/analysis/stacks/frame_filter.h"
#include "engine/base/ascii.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] bool begins(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && std::equal(with.begin(), with.end(), text.begin(), [](char a, char b) {
           return ascii::lower(a) == ascii::lower(b);
         });
}

// Values that few ids stand for (-1 = none), those with the most bytes at the peak first.
template <typename IdOf, typename TextOf>
void complete_value(const replay::Bands& bands, std::string_view field, std::string_view typed,
                    Completions& found, IdOf id_of, TextOf text_of) {
  std::map<int32_t, int64_t> bytes;
  for (size_t r = 0; r < bands.size.size(); ++r) {
    const bool at_peak = bands.born[r] <= bands.peak_event && bands.peak_event < bands.freed[r];
    if (int64_t& sum = bytes[id_of(r)]; at_peak) add_saturated(sum, bands.size[r]);
  }
  std::vector<std::pair<int32_t, int64_t>> sorted(bytes.begin(), bytes.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [id, size] : sorted) {
    if (found.items.size() >= kMostCompletions) return;
    const std::string value = id < 0 ? std::string() : text_of(id);
    if (!value.empty() && begins(value, typed))
      found.items.push_back({fmt::format("{}:{}", field, value), {}, size});
  }
}

// Functions whose name begins with what is typed, shorter names first.
void complete_stack(const model::Recording& recording, std::string_view typed, Completions& found) {
  constexpr size_t kLongest = 60;
  std::vector<std::string_view> names;
  for (size_t i = 0; i < recording.frames.size() && !typed.empty(); ++i) {
    const trace::Frame& frame = recording.frames[FrameId{i}];
    const std::string_view name = recording.strings.view(frame.name);
    if (name.size() > kLongest || !begins(name, typed) || name.find_first_of(" \"()") != std::string::npos)
      continue;
    if (is_hidden(name, recording.strings.view(frame.filename))) continue;
    names.push_back(name);
  }
  std::sort(names.begin(), names.end(), [](std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string_view name : names) {
    if (found.items.size() >= kMostCompletions) return;
    found.items.push_back({fmt::format("stack:{}", name), {}, {}, true});
  }
}

}  // namespace

Completions complete_filter(const model::Recording& recording, const replay::Bands& bands,
                            const BlockAttributes& attributes, std::string_view text, size_t cursor) {
  cursor = std::min(cursor, text.size());
  const std::string_view before = text.substr(0, std::min(cursor, kLongestFilter));
  Completions found;
  found.from = before.find_last_of(" \t\n(\"") + 1;  // npos + 1 = 0
  std::string_view word = before.substr(found.from);
  if (word.starts_with('-')) {
    word.remove_prefix(1);
    ++found.from;
  }
  if (begins(word, "alive@")) {
    for (const auto& [value, says] : {std::pair{"peak", "in use at the peak"},
                                      {"start", "from before the first event"},
                                      {"end", "in use when it was saved"}}) {
      if (begins(value, word.substr(6))) found.items.push_back({fmt::format("alive@{}", value), says});
    }
  } else if (begins(word, "stream:")) {
    complete_value(
        bands, "stream", word.substr(7), found,
        [&](size_t r) { return attributes.number_of(attributes.stream[r]); },
        [](int32_t number) { return fmt::format("{}", number); });
  } else if (begins(word, "pool:")) {
    complete_value(
        bands, "pool", word.substr(5), found, [&](size_t r) { return int32_t{attributes.pool[r].value}; },
        [&](int32_t id) { return pool_text(recording.pools[static_cast<size_t>(id)], ","); });
  } else if (begins(word, "category:")) {
    if (const auto rules =
            parse_category_rules(recording.spans.size_rows() == 0 ? kCategoryRules : kLifetimeRules)) {
      for (const std::string& name : rules->names) {
        if (begins(name, word.substr(9))) found.items.push_back({fmt::format("category:{}", name), {}, {}});
      }
    }
  } else if (begins(word, "stack:")) {
    complete_stack(recording, word.substr(6), found);
  } else if (word.find_first_of(":=<>@") == std::string_view::npos) {
    for (const FilterWord& one : filter_words()) {
      if (begins(one.name, word) && one.field != FilterField::action)
        found.items.push_back({std::string(one.example.substr(0, one.name.size() + 1)), one.says});
    }
    if (word.size() >= 2) complete_stack(recording, word, found);
  }
  if (found.items.size() > kMostCompletions) found.items.resize(kMostCompletions);
  return found;
}

}  // namespace gpustrata::analysis
