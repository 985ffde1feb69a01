#include "engine/answers/live/never_freed.h"

#include <fmt/core.h>

#include <string>

#include "engine/answers/stacks/who.h"

namespace gpustrata::answers {

void never_freed_to_json(JsonWriter& json, const model::Recording& recording, const analysis::Top& found,
                         int32_t from) {
  const std::string since = from < 0 ? std::string() : fmt::format(" born>={}", from);
  const std::string terms = fmt::format("freed:never born<={}{}", found.event, since);
  json.begin_object();
  json.member("bytes", found.bytes);
  json.member("blocks", found.blocks);
  json.member("filter", terms);
  json.key("rows");
  json.begin_array();
  for (const analysis::TopGroup& group : found.groups) {
    json.begin_object();
    who_to_json(json, recording, group.who);
    json.member("bytes", group.bytes);
    json.member("blocks", group.blocks);
    json.member("rank", group.largest);
    json.member("filter", filter_text(recording, group.who, terms));
    json.end_object();
  }
  json.end_array();
  json.key("other");
  json.begin_object();
  json.member("bytes", found.other_bytes);
  json.member("blocks", found.other_blocks);
  json.member("rows", found.other_groups());
  json.end_object();
  json.end_object();
}

}  // namespace gpustrata::answers
