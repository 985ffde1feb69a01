// What is alive at a moment, by who asked for it: the answer of `gpustrata top`; and the lines of stacks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/live/top.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"
#include "engine/replay/attached_ops.h"

namespace gpustrata::answers {

// Lines of a stack as they are shown, innermost first: hidden frames are left out unless all are hidden;
// "file:line:name", repeated ones once with " (repeats N times)".
struct ShownLines {
  std::vector<std::string> lines;  // the innermost, at most so many lines and bytes as asked for
  int64_t left_out = 0;
};
[[nodiscard]] ShownLines shown_lines(const model::Recording& recording, StackId stack, size_t most_lines,
                                     size_t most_bytes);

// Members "who" and "stack": who asked, and the shown lines; null for none. At most 1,000 lines and 1 MiB, then also
// "lines_left_out".
void describe_stack(Members& m, const model::Recording& recording, StackId stack);
void describe_who_and_stack(Members& m, const model::Recording& recording, StackId stack);

// Who a group is: "stack", or "function", "file" and by line "line", or "file".
void describe_group(Members& m, const model::Recording& recording, const analysis::TopGroup& group,
                    analysis::By by);

// What is alive in the devices of a file.
struct TopAnswer {
  std::string_view file, at;  // as they were asked for
  const model::Recording& recording;
  std::span<const analysis::DeviceTop> devices;
  std::optional<int32_t> only_device;                // the one that was asked for
  std::string_view filter = {};                      // only blocks that it means; empty = all
  std::optional<replay::AttachedOps> attached = {};  // ops of a trace
};

void describe(Members& m, const TopAnswer& answer);

// A table for each device, of lines of at most `columns`.
void to_text(TextOut& out, const TopAnswer& answer, size_t columns);

}  // namespace gpustrata::answers
