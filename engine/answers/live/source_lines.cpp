#include "engine/answers/live/source_lines.h"

#include "engine/answers/stacks/who.h"
#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::SourceLines& found) {
  m.is({"SourceLines", "Ascending. Own = the line asked for it; else it is somewhere in the stack."});
  m.list("lines", found.lines, [&](const analysis::SourceLine& line) {
    m.count("line", line.line);
    m.bytes("own_bytes", line.own_bytes);
    m.count("own_blocks", line.own_blocks);
    m.bytes("bytes", line.bytes);
    m.count("blocks", line.blocks);
  });
  m.count("lines_left_out", found.left_out);
}

void describe(Members& m, const model::Recording& recording, const analysis::TopGroup& file) {
  m.is({"SourceFile", "By what its own lines asked for."});
  m.text("file", [&] { return in_list(recorded_file(recording, file.who)); });
  m.bytes("bytes", file.bytes);
  m.count("blocks", file.blocks);
}

}  // namespace gpustrata::answers
