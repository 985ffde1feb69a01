#include "engine/cli/finding_lines.h"

#include <fmt/core.h>

#include "engine/answers/summary.h"
#include "engine/base/units.h"
#include "engine/cli/printable.h"
#include "engine/model/diagnostics.h"

namespace memstrata::cli {

std::string finding_lines(std::span<const analysis::Finding> findings, Remarks remarks) {
  std::string out;
  for (const analysis::Finding& finding : findings) {
    if (remarks == Remarks::left_out && finding.severity == model::name_of(model::Severity::info)) continue;
    std::string count = finding.count == 1 ? "" : fmt::format("{} times", count_text(finding.count));
    if (finding.first_offset) {
      count += fmt::format("{}{}at byte {}", count.empty() ? "" : ", ", finding.count == 1 ? "" : "first ",
                           count_text(*finding.first_offset));
      if (!finding.first_in.empty()) count += " of " + shortened(finding.first_in, 200);
    }
    out += fmt::format("    {:<8} {}{}\n", finding.severity, shortened(answers::finding_text(finding), 300),
                       count.empty() ? "" : " [" + count + "]");
  }
  return out;
}

}  // namespace memstrata::cli
