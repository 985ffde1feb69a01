#include "engine/answers/report/contents.h"

#include "engine/answers/common/findings.h"

namespace gpustrata::answers {

using analysis::Contents;

void describe(Members& m, const Contents& contents, std::string_view hash) {
  m.is("Contents");
  m.text({"format", "What was read: `pickle`, `json in gzip`, `pickle in zip`."}, contents.format);
  m.text({"hash", "16 hexadecimal digits that tell one input from another."}, hash);
  m.list("snapshots", contents.snapshots, [&](const Contents::Snapshot& snapshot) {
    m.text("name", snapshot.name);
    m.list("devices", snapshot.devices, [&](const Contents::Device& one) {
      m.count("device", one.device);
      m.count("events", one.events);
      m.count("segments", one.segments);
      m.object({"oom",
                "Requests that could not be served: all of them, and the first 100 as events of the device."},
               [&] {
                 m.count("count", one.oom.count);
                 m.values(As::count, "events", one.oom.events, [](int32_t event) { return event; });
                 m.microseconds({"first_time_us", "Of the first, by the clock of the machine that recorded."},
                                one.first_oom_us);
               });
    });
    m.count({"default", "The device that is shown first; null = it has none."}, snapshot.first_shown);
  });
  m.object({"default", "The same of all snapshots."}, contents.first_shown, [&](const auto& first) {
    m.count("snapshot", first.part);
    m.count("device", first.device);
  });
  m.count({"series", "Parts that are numbers over time."}, contents.series);
  m.count({"fleets", "Parts that are many ranks, reduced (`gpustrata fleet`)."}, contents.fleets);
  m.flag({"is_trace", "A profiler's; without snapshots it has no memory records."}, contents.is_trace);
  m.flag({"damaged", "It ended early or was damaged: no number of it is whole."}, contents.damaged);
  m.list({"diagnostics", "What reading it found out."}, contents.findings);
}

void describe(Members& m, const FirstLook& look) {
  m.is("FirstLook");
  m.object("contents", [&] { describe(m, m.of(look.contents), look.hash); });
  m.object({"view", "Of `default`, by blocks; null = there is none."}, look.view,
           [&](const OpenedView& view) { describe(m, view); });
}

void describe(Members& m, const analysis::DevicePeak& peak) {
  m.is("DevicePeak");
  m.count("device", peak.device);
  m.bytes("bytes", peak.bytes);
}

void to_json(JsonWriter& json, std::span<const std::vector<analysis::DevicePeak>> peaks) {
  json.begin_array();
  for (const std::vector<analysis::DevicePeak>& snapshot : peaks) {
    list_to_json(json, snapshot);
  }
  json.end_array();
}

}  // namespace gpustrata::answers
