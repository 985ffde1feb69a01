// Stacks of memory records: the ops around them, innermost first, then the Python functions around them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/column.h"
#include "engine/model/recording.h"

namespace gpustrata::io::traces {

class Stacks {
 public:
  explicit Stacks(model::Recording& recording);

  // Rows of SpanTable, -1 = none: the innermost op and the innermost Python function. Where no functions were
  // recorded, the `Call stack` of the nearest op that has one. None: memory was refused.
  [[nodiscard]] StackId of(int32_t op, int32_t python);

 private:
  // Spans of these kinds from `row` outwards.
  void add_path(int32_t row, bool python);
  void add_calls(int32_t op);
  [[nodiscard]] FrameId frame_of(StringId name, bool python);
  [[nodiscard]] FrameId frame_of(std::string_view call);

  model::Recording& recording_;
  StringId no_file_;
  Column<int32_t> frames_{recording_.budget};  // by text: the frame of a span of this name; -1 = none yet
  std::vector<FrameId> path_;
  int32_t last_op_ = -2;
  int32_t last_python_ = -2;
  StackId last_;
};

}  // namespace gpustrata::io::traces
