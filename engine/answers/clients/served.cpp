#include "engine/answers/clients/served.h"

#include "engine/answers/common/failure.h"

namespace gpustrata::answers {

void to_json(JsonWriter& json, const ServedFiles& served) {
  json.begin_object();
  json.member("version", served.version);
  json.member("served", served.served);
  json.member("left_out", served.left_out);
  json.member("to_examine", served.to_examine);
  json.key("files");
  json.begin_array();
  for (const ServedFile& file : served.files) {
    json.begin_object();
    json.member("name", file.name);
    json.member("bytes", file.bytes);
    json.member("modified_us", file.modified_us);
    json.member("peak_bytes", file.peak_bytes);
    if (!file.error.empty()) json.member("error", file.error);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void to_json(JsonWriter& json, const Reading& reading) {
  json.begin_object();
  json.member("ready", reading.is_ready);
  json.member("bytes", reading.bytes);
  json.member("total", reading.total);
  json.member("events", reading.events);
  if (reading.error) {
    json.key("error");
    to_json(json, *reading.error);
  }
  json.end_object();
}

void to_json(JsonWriter& json, const OpenedSession& opened) {
  json.begin_object();
  json.member("session", opened.session);
  json.member("name", opened.name);
  json.end_object();
}

void to_json(JsonWriter& json, const Refused& refused) {
  json.begin_object();
  json.key("error");
  to_json(json, refused.error);
  json.end_object();
}

}  // namespace gpustrata::answers
