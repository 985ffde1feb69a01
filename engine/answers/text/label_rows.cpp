#include "engine/answers/text/label_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/answers/text/fitted.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

void LabelRows::size(std::string_view label, int64_t bytes, std::string_view remark) {
  rows_.push_back({std::string(label), size_text(bytes), count_text(bytes), words_of(remark)});
}

void LabelRows::text(std::string_view label, std::string_view what) { list(label, words_of(what)); }

void LabelRows::list(std::string_view label, std::vector<std::string> pieces) {
  rows_.push_back({std::string(label), "", "", std::move(pieces)});
}

void LabelRows::write(TextOut& out, size_t columns) const {
  size_t label_width = 0, short_width = 0, exact_width = 0;
  for (const Row& row : rows_) {
    label_width = std::max(label_width, row.label.size());
    short_width = std::max(short_width, row.size.size());
    exact_width = std::max(exact_width, row.exact.size());
  }
  for (const Row& row : rows_) {
    std::string line = fmt::format("    {:<{}}", row.label, label_width);
    if (!row.size.empty() && row.exact.empty())
      line += fmt::format("  {:>{}}", row.size, short_width);
    else if (!row.size.empty())
      line += fmt::format("  {:>{}}  {:>{}} bytes", row.size, short_width, row.exact, exact_width);
    if (!row.remark[0].empty()) line += "  " + wrapped(row.remark, columns, line.size() + 2);
    out.print("{}\n", line);
  }
}

}  // namespace gpustrata::answers
