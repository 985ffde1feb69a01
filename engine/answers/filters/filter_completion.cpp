#include "engine/answers/filters/filter_completion.h"

#include <string>

#include "engine/base/units.h"

namespace gpustrata::answers {

void to_json(JsonWriter& json, const analysis::Completions& found) {
  json.begin_object();
  json.member("from", static_cast<int64_t>(found.from));
  json.key("items");
  json.begin_array();
  for (const analysis::Completion& item : found.items) {
    json.begin_object();
    json.member("text", item.text);
    if (item.bytes_at_peak) {
      json.member("says", size_text(*item.bytes_at_peak) + " at the peak");
    } else {
      json.member("says", item.is_function ? std::string_view("function") : item.says);
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace gpustrata::answers
