#include <utility>
#include <vector>

#include "engine/analysis/report/contents.h"
#include "engine/analysis/report/summary.h"
#include "engine/answers/clients/fleet.h"
#include "engine/answers/details/timeline_view.h"
#include "engine/answers/report/contents.h"
#include "engine/answers/report/summary.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

Status contents(Asked& asked) {
  answers::to_json(asked.json(), analysis::find_contents(asked.session.recording()),
                   asked.session.content_hash());
  return {};
}

Status summary(Asked& asked) {
  const auto found = analysis::summarize(asked.session.recording());
  if (!found) return tl::unexpected(found.error());
  answers::to_json(asked.json(), *found, asked.arguments.text("file"));
  return {};
}

Status peaks(Asked& asked) {
  const model::Recording& recording = asked.session.recording();
  std::vector<std::vector<analysis::DevicePeak>> peaks(recording.parts.size());
  for (size_t i = 0; i < peaks.size(); ++i) {
    for (const int32_t device : recording.parts[i].devices(recording.segments)) {
      const auto opened = asked.session.device(static_cast<int32_t>(i), device);
      if (!opened) return tl::unexpected(opened.error());
      peaks[i].push_back({device, (*opened)->lives().peak_level});
    }
  }
  answers::to_json(asked.json(), peaks);
  return {};
}

Status fleet(Asked& asked) {
  const auto& fleets = asked.session.recording().fleets;
  const auto number = static_cast<size_t>(asked.arguments.integer("fleet"));
  if (number >= fleets.size())
    return fail(ErrorCode::wrong_usage, -1, "there is no fleet {} in this file", number);
  answers::to_columns(asked.json(), asked.answer, answers::FleetText{fleets[number].span()});
  return {};
}

Status open(Asked& asked) {
  const auto id =
      asked.session.open_view(asked.arguments.integer("snapshot"), asked.arguments.integer("device"),
                              asked.arguments.word<Bands>("bands"), asked.arguments.text("only"));
  if (!id) return tl::unexpected(in_units(asked.arguments.text("only"), id.error()));
  const View& view = *asked.session.view(*id);
  answers::to_json(asked.json(),
                   answers::OpenedView{*id, view.info(), analysis::findings(view.diagnostics())});
  return {};
}

Status release(Asked& asked) {
  asked.session.release(asked.view_id);
  return {};
}

}  // namespace gpustrata::session::reply
