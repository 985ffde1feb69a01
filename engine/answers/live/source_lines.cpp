#include "engine/answers/live/source_lines.h"

#include "engine/answers/stacks/who.h"
#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

void describe(Members& m, const model::Recording& recording, const analysis::TopGroup& file) {
  m.is({"SourceFile", "By what its own lines asked for."});
  m.text("file", [&] { return in_list(recorded_file(recording, file.who)); });
  m.bytes("bytes", file.bytes);
  m.count("blocks", file.blocks);
}

}  // namespace gpustrata::answers
