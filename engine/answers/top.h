// Who holds memory, as JSON; and the lines of stacks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/top.h"
#include "engine/base/json_writer.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace memstrata::answers {

// Lines of a stack as they are shown, innermost first: hidden frames are left out unless all are hidden;
// "file:line:name", repeated ones once with " (repeats N times)".
struct ShownLines {
  std::vector<std::string> lines;  // the innermost, at most so many lines and bytes as asked for
  int64_t left_out = 0;
};
[[nodiscard]] ShownLines shown_lines(const model::Recording& recording, StackId stack, size_t most_lines,
                                     size_t most_bytes);

// Who a group is, as members: "stack":[line,...]|null (at most 1,000 lines and 1 MiB; then "lines_left_out"),
// or "function"|null, "file"|null and by line "line"|null, or "file"|null.
void group_to_json(JsonWriter& json, const model::Recording& recording, const analysis::TopGroup& group,
                   analysis::TopBy by);
// {"device","event","requested_bytes","blocks","groups": n,"rows":[{"bytes","blocks","share", and
// those of group_to_json()}],"other":{"bytes","blocks"}}; without the outer braces, so that callers can add
// members. Error: limit_exceeded; the recording's budget holds the text while it is written.
[[nodiscard]] Status to_json(JsonWriter& json, const model::Recording& recording, const analysis::Top& top);

}  // namespace memstrata::answers
