// Memory by line of source: what is alive after an event, of every line of one file, and of every file.
//
//   own       of blocks that the line asked for (own_frame.h)
//   through   of blocks with the line anywhere in their stack; a block counts once for a line, however often it is there
//
// Bytes are requested ones. O(blocks log blocks + frames of the stacks alive).
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/analysis/live/top.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

inline constexpr size_t kMostSourceLines = 5000, kMostSourceFiles = 200;

struct SourceLine {
  int32_t line = 0;
  int64_t own_bytes = 0, own_blocks = 0;
  int64_t bytes = 0, blocks = 0;  // through it
};
struct SourceLines {
  explicit SourceLines(Budget& budget) : lines(budget) {}
  Column<SourceLine> lines;  // ascending; at most kMostSourceLines, those of most bytes
  int64_t left_out = 0;
};
template <typename Members>
void describe(Members& m, const SourceLines& found) {
  m.is({"SourceLines", "Ascending. Own = the line asked for it; else it is somewhere in the stack."});
  m.list("lines", found.lines, [&](const SourceLine& line) {
    m.count("line", line.line);
    m.bytes("own_bytes", line.own_bytes);
    m.count("own_blocks", line.own_blocks);
    m.bytes("bytes", line.bytes);
    m.count("blocks", line.blocks);
  });
  m.count("lines_left_out", found.left_out);
}

// `file` as the recording has it. Error: limit_exceeded.
[[nodiscard]] Result<SourceLines> find_source_lines(const model::Recording& recording,
                                                    const model::Part& part,
                                                    const replay::BlockLives& lifetimes, int32_t event,
                                                    std::string_view file, const Keys& by_line);

// Own bytes by file, at most kMostSourceFiles; of Python code, or what else has lines. Error: limit_exceeded.
[[nodiscard]] Result<Column<TopGroup>> find_source_files(const model::Recording& recording,
                                                         const model::Part& part,
                                                         const replay::BlockLives& lifetimes, int32_t event,
                                                         const Keys& by_file);

}  // namespace gpustrata::analysis
