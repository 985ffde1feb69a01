#include "engine/answers/live/source_lines.h"

#include "engine/answers/stacks/who.h"
#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

void to_json(JsonWriter& json, const analysis::SourceLines& found) {
  json.begin_object();
  json.key("lines");
  json.begin_array();
  for (const analysis::SourceLine& line : found.lines) {
    json.begin_object();
    json.member("line", line.line);
    json.member("own_bytes", line.own_bytes);
    json.member("own_blocks", line.own_blocks);
    json.member("bytes", line.bytes);
    json.member("blocks", line.blocks);
    json.end_object();
  }
  json.end_array();
  json.member("lines_left_out", found.left_out);
  json.end_object();
}

void to_json(JsonWriter& json, const model::Recording& recording, std::span<const analysis::TopGroup> files) {
  json.begin_array();
  for (const analysis::TopGroup& file : files) {
    json.begin_object();
    json.member("file", in_list(recorded_file(recording, file.who)));
    json.member("bytes", file.bytes);
    json.member("blocks", file.blocks);
    json.end_object();
  }
  json.end_array();
}

}  // namespace gpustrata::answers
