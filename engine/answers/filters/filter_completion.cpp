#include "engine/answers/filters/filter_completion.h"

#include <string>

#include "engine/base/units.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::Completions& found) {
  m.is("Completions");
  m.count({"from", "Where the word at the cursor begins."}, found.from);
  m.list("items", found.items, [&](const analysis::Completion& item) {
    m.text("text", item.text);
    m.text("says", [&] {
      if (item.bytes_at_peak) return size_text(*item.bytes_at_peak) + " at the peak";
      return std::string(item.is_function ? std::string_view("function") : item.says);
    });
  });
}

}  // namespace gpustrata::answers
