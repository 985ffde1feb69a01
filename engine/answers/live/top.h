// What is alive at a moment, by who asked for it: the answer of `gpustrata top`; and the lines of stacks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/live/top.h"
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

// Member "stack": its shown lines, or null for none; at most 1,000 lines and 1 MiB, then also "lines_left_out".
void stack_to_json(JsonWriter& json, const model::Recording& recording, StackId stack);

// Who a group is, as members: "stack":[line,...]|null (at most 1,000 lines and 1 MiB; then "lines_left_out"),
// or "function"|null, "file"|null and by line "line"|null, or "file"|null.
void group_to_json(JsonWriter& json, const model::Recording& recording, const analysis::TopGroup& group,
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

// {"file","format","at","filter"?,"attached"? (attached_ops.h),"tops":[{"snapshot"?,"device","event","requested_bytes","blocks","groups": n,
//  "rows":[{"bytes","blocks","share", and those of group_to_json()}],"other":{"bytes","blocks"}}]}; devices without
// such an event are left out.
void to_json(JsonWriter& json, const TopAnswer& answer);

// A table for each device, of lines of at most `columns`.
void to_text(TextOut& out, const TopAnswer& answer, size_t columns);

}  // namespace gpustrata::answers
