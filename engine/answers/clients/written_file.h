// What a command wrote: the answers of `gpustrata convert` and `gpustrata html`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/report/summary.h"
#include "engine/answers/described/members.h"
#include "engine/model/anonymous.h"

namespace gpustrata::answers {

struct Conversion {
  std::string_view file;
  std::string output;
  std::string_view to;     // what --to names
  std::string_view table;  // of a form that has only one of them; empty = all
  int64_t rows = 0;        // of it
  int64_t bytes = 0;
  int64_t snapshots = 0, events = 0, segments = 0, blocks = 0, points = 0;
  std::vector<analysis::Finding> findings;
};
void describe(Members& m, const Conversion& done);
[[nodiscard]] std::string to_text(const Conversion& done);

// A snapshot without the words of its program.
struct Anonymized {
  std::string_view file, output;
  int64_t bytes = 0;
  model::Replaced replaced;
};
void describe(Members& m, const Anonymized& done);
// With what is kept.
[[nodiscard]] std::string to_text(const Anonymized& done);

// A page with the viewer and a snapshot.
struct WrittenPage {
  std::string_view file, output;
  int64_t bytes = 0, packed_bytes = 0;  // of the page; of the snapshot in it
  std::vector<analysis::Finding> findings;
};
void describe(Members& m, const WrittenPage& done);
[[nodiscard]] std::string to_text(const WrittenPage& done);

}  // namespace gpustrata::answers
