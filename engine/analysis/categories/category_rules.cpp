#include "engine/analysis/categories/category_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "engine/base/ascii.h"

namespace gpustrata::analysis {

namespace {

constexpr std::array<std::pair<std::string_view, Condition>, 22> kConditions = {
    {{"older", kOlder},
     {"kept", kKept},
     {"outlives_step", kOutlivesStep},
     {"in_backward", kInBackward},
     {"outlives_backward", kOutlivesBackward},
     {"until_backward", kUntilBackward},
     {"of_gradient", kOfGradient},
     {"beyond_gradients", kBeyondGradients},
     {"recorded", kRecorded},
     {"throughout", kThroughout},
     {"in_module", kInModule},
     {"freed", kFreed},
     {"before", kBeforeRecording},
     {"in_one_op", kInOneOp},
     {"in_optimizer", kInOptimizer},
     {"freed_in_optimizer", kFreedInOptimizer},
     {"outlives_optimizer", kOutlivesOptimizer},
     {"freed_in_backward", kFreedInBackward},
     {"freed_in_later_backward", kFreedInLaterBackward},
     {"freed_in_zero_grad", kFreedInZeroGrad},
     {"before_backward", kBeforeBackward},
     {"from_host", kFromHost}}};

// The next word; empty at the end of the line.
[[nodiscard]] std::string_view next_word(std::string_view& line) {
  const size_t from = std::min(line.find_first_not_of(" \t\r"), line.size());
  const size_t until = std::min(line.find_first_of(" \t\r", from), line.size());
  const std::string_view word = line.substr(from, until - from);
  line.remove_prefix(until);
  return word;
}

// "0.8", "1": from_chars for doubles is missing from one of the compilers.
[[nodiscard]] std::optional<double> share_in(std::string_view text) {
  if (text == "0" || text == "1" || text == "1.0" || text == "0.0") return text[0] == '1' ? 1.0 : 0.0;
  if (!text.starts_with("0.") || text.size() > 6) return std::nullopt;
  int digits = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), digits);
  if (error != std::errc() || end != text.data() + text.size() || digits < 0) return std::nullopt;
  double share = digits;
  for (size_t i = 2; i < text.size(); ++i) share /= 10;
  return share;
}

[[nodiscard]] std::vector<std::string> parted(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t bar = std::min(text.find('|'), text.size());
    if (bar > 0) parts.emplace_back(text.substr(0, bar));
    text.remove_prefix(std::min(bar + 1, text.size()));
  }
  return parts;
}

// What is wrong with the rest of a line; empty = nothing.
[[nodiscard]] std::string read_conditions(std::string_view line, CategoryRules& found, CategoryRule& rule) {
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    if (word.starts_with("frame:")) {
      std::vector<std::string> any = parted(word.substr(6));
      if (any.empty() || rule.frames >= 0) return "`frame:` has one list of texts, and comes once";
      if (found.frames.size() == CategoryRules::kMostFrameSets) return "too many lines have `frame:`";
      rule.frames = static_cast<int32_t>(found.frames.size());
      found.frames.push_back(std::move(any));
    } else if (word.starts_with("label:")) {
      rule.label = ascii::lower(word.substr(6));
      if (rule.label.empty()) return "`label:` needs a text";
    } else {
      const auto* known = std::find_if(kConditions.begin(), kConditions.end(),
                                       [&](const auto& one) { return one.first == word; });
      if (known == kConditions.end())
        return "there is no condition \"" + std::string(word.substr(0, 40)) + "\"";
      rule.conditions |= known->second;
    }
  }
  return {};
}

}  // namespace

std::string CategoryRules::says(int32_t category) const {
  std::string text;
  for (const CategoryRule& rule : rules) {
    if (rule.category != category || rule.says.empty()) continue;
    if (!text.empty()) text += "; or ";
    text += rule.says;
  }
  return text;
}

Result<CategoryRules> parse_category_rules(std::string_view text) {
  CategoryRules found;
  found.by_lifetime = text == kLifetimeRules;
  found.names.emplace_back("unknown");
  int32_t number = 0;
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::invalid_format, -1, "Rules of categories, line {}: {}.", number, what);
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const size_t hash = std::min(line.find('#'), line.size());
    std::string_view remark = line.substr(std::min(hash + 1, line.size()));
    line = line.substr(0, hash);
    const std::string_view name = next_word(line);
    if (name.empty()) continue;
    if (found.rules.size() == CategoryRules::kMostRules) return wrong("there are too many rules");
    CategoryRule rule;
    rule.line = number;
    remark.remove_prefix(std::min(remark.find_first_not_of(" \t\r"), remark.size()));
    rule.says = remark.substr(0, remark.find_last_not_of(" \t\r") + 1);
    const auto sure = share_in(next_word(line));
    if (!sure) return wrong("after the category comes how sure it is, 0 to 1");
    rule.sure = *sure;
    auto known = std::find(found.names.begin(), found.names.end(), name);
    if (known == found.names.end()) {
      if (found.names.size() == CategoryRules::kMostCategories) return wrong("there are too many categories");
      known = found.names.insert(found.names.end(), std::string(name));
    }
    rule.category = static_cast<int32_t>(known - found.names.begin());
    if (const std::string what = read_conditions(line, found, rule); !what.empty()) return wrong(what);
    found.rules.push_back(std::move(rule));
  }
  return found;
}

}  // namespace gpustrata::analysis
