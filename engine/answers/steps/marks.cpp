#include "engine/answers/steps/marks.h"

#include <string>

#include "engine/answers/text/bounded.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using trace::Action;

namespace {

constexpr std::string_view kMarkers[] = {"oom", "snapshot", "annotate"};

[[nodiscard]] std::string text_of(const model::Recording& recording, const analysis::Marker& marker) {
  if (marker.action == Action::oom) return "out of memory: " + size_text(marker.size) + " requested";
  if (marker.action == Action::snapshot) return "snapshot taken";
  return in_list(recording.strings.view(marker.text));
}

}  // namespace

void describe(Members& m, const model::Recording& recording, const analysis::Marks& marks) {
  m.is("Marks");
  m.list("regions", marks.regions, [&](const analysis::MarkedRegion& region) {
    m.text("name", [&] { return in_list(recording.strings.view(region.name)); });
    m.count("from_event", region.from_event);
    m.count({"to_event", "The number of events = the end of the recording."}, region.to_event);
    m.microseconds("from_us", region.from_us);
    m.microseconds("to_us", region.to_us);
    m.count("depth", region.depth);
    m.flag({"cut_start", "It began before the first event."}, region.cut_start);
    m.flag({"cut_end", "It lasts beyond its end."}, region.cut_end);
    m.bytes("allocated_bytes", region.allocated_bytes);
    m.count("allocations", region.allocations);
  });
  m.count("regions_left_out", marks.regions_left_out);
  m.list("markers", marks.markers, [&](const analysis::Marker& marker) {
    m.word("kind", kMarkers, trace::name_of(marker.action));
    m.count("event", marker.event);
    m.microseconds("time_us", marker.time_us);
    m.text("text", [&] { return text_of(recording, marker); });
  });
  m.count("markers_left_out", marks.markers_left_out);
}

}  // namespace gpustrata::answers
