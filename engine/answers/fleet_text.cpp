#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/answers/fitted.h"
#include "engine/answers/fleet.h"
#include "engine/answers/label_rows.h"
#include "engine/answers/printable.h"
#include "engine/base/units.h"

namespace memstrata::answers {

using model::Fleet;

namespace {

constexpr size_t kMostRuns = 20;
constexpr size_t kMostFindings = 20;
constexpr size_t kLongestLine = 500;

[[nodiscard]] int64_t whole(double number) {
  return std::isnan(number) ? 0 : static_cast<int64_t>(std::clamp(number, -9.0e15, 9.0e15));
}

[[nodiscard]] std::string run_text(const Fleet& fleet, const model::FleetCoverage& one) {
  std::string text = counted(whole(one.ranks), "rank");
  if (!std::isnan(one.world_size)) text += fmt::format(" of {}", count_text(whole(one.world_size)));
  text += fmt::format(", {}", counted(whole(one.rows), "row"));
  const std::string_view missing = fleet.strings.view(one.missing);
  if (!missing.empty()) text += fmt::format("; missing: {}", shortened(missing, kLongestLine));
  return text;
}

// A sentence in lines, behind "  - ".
void add_point(TextOut& out, std::string_view text, size_t columns) {
  const std::vector<std::string> words = words_of(shortened(text, kLongestLine));
  out.print("    - {}\n", wrapped(words, columns, 6));
}

}  // namespace

void to_text(TextOut& out, const Fleet& fleet, size_t columns) {
  const std::string_view title = fleet.strings.view(fleet.title);
  out.print("\n  A reduced fleet{}{}\n", title.empty() ? "" : ": ", shortened(title, 200));
  LabelRows rows;
  rows.text("rows", fmt::format("{}, {} of each", count_text(fleet.row_count),
                                counted(static_cast<int64_t>(fleet.columns.size()), "fact")));
  size_t runs = 0;
  for (const model::FleetCoverage& one : fleet.coverage) {
    if (++runs > kMostRuns) break;
    const std::string_view name = fleet.strings.view(one.run);
    rows.text(name.empty() ? "run" : "run " + shortened(name, 40), run_text(fleet, one));
  }
  if (fleet.coverage.size() > kMostRuns)
    rows.text("more runs", count_text(static_cast<int64_t>(fleet.coverage.size() - kMostRuns)));
  if (fleet.unreadable_count > 0) rows.text("unreadable", counted(whole(fleet.unreadable_count), "file"));
  rows.write(out, columns);
  if (!fleet.findings.empty()) out.add("\n  Findings, the most important first\n");
  for (size_t i = 0; i < std::min(fleet.findings.size(), kMostFindings); ++i)
    add_point(out, fleet.strings.view(fleet.findings[i].title), columns);
  if (fleet.findings.size() > kMostFindings)
    out.print("    … {} more\n", count_text(static_cast<int64_t>(fleet.findings.size() - kMostFindings)));
  if (!fleet.says.empty()) out.add("\n  What is not as it should be\n");
  for (size_t i = 0; i < std::min(fleet.says.size(), kMostFindings); ++i)
    add_point(out, fleet.strings.view(fleet.says[i]), columns);
}

void summary_to_json(JsonWriter& json, const Fleet& fleet) {
  json.begin_object();
  json.member("title", fleet.strings.view(fleet.title));
  json.member("rows", fleet.row_count);
  json.member("runs", fleet.coverage.size());
  json.member("unreadable", whole(fleet.unreadable_count));
  json.key("findings");
  json.begin_array();
  for (size_t i = 0; i < std::min(fleet.findings.size(), kMostFindings); ++i) {
    const model::FleetFinding& finding = fleet.findings[i];
    json.begin_object();
    json.member("kind", name_of(finding.kind));
    json.member("title", fleet.strings.view(finding.title));
    json.member("bad", finding.bad);
    json.end_object();
  }
  json.end_array();
  json.member("findings_left_out", fleet.findings.size() - std::min(fleet.findings.size(), kMostFindings));
  json.end_object();
}

}  // namespace memstrata::answers
