// What a command wrote: the answers of `gpustrata convert` and `gpustrata html`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/failure.h"
#include "engine/base/json_writer.h"
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
// {"file","output","to","bytes","table" and "rows" of one table,"snapshots","events","segments","blocks","points" if any,
//  "diagnostics":[as in findings.h]}
void to_json(JsonWriter& json, const Conversion& done);
[[nodiscard]] std::string to_text(const Conversion& done);

// {"file","output","error":{as in failure.h}}
void to_json(JsonWriter& json, std::string_view file, std::string_view output, const Failed& failed);

// A snapshot without the words of its program.
struct Anonymized {
  std::string_view file, output;
  int64_t bytes = 0;
  model::Replaced replaced;
};
// {"file","output","bytes","replaced":{"files","functions","regions","texts"},"kept":{"torch_files"}}
void to_json(JsonWriter& json, const Anonymized& done);
// With what is kept.
[[nodiscard]] std::string to_text(const Anonymized& done);

// A page with the viewer and a snapshot.
struct WrittenPage {
  std::string_view file, output;
  int64_t bytes = 0, packed_bytes = 0;  // of the page; of the snapshot in it
  std::vector<analysis::Finding> findings;
};
// {"file","output","bytes","packed_bytes","diagnostics"}
void to_json(JsonWriter& json, const WrittenPage& done);
[[nodiscard]] std::string to_text(const WrittenPage& done);

}  // namespace gpustrata::answers
