#include <optional>
#include <string>
#include <vector>

#include "engine/analysis/report/contents.h"
#include "engine/analysis/report/summary.h"
#include "engine/answers/clients/fleet.h"
#include "engine/answers/details/timeline_view.h"
#include "engine/answers/report/contents.h"
#include "engine/answers/report/summary.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

namespace {

Status contents(Asked& asked) {
  answers::to_json(asked.json(), analysis::find_contents(asked.session.recording()),
                   asked.session.content_hash());
  return {};
}

Status first(Asked& asked) {
  const analysis::Contents contents = analysis::find_contents(asked.session.recording());
  const std::string hash = asked.session.content_hash();
  const auto& shown = contents.first_shown;
  if (!shown) {
    answers::to_json(asked.json(), answers::FirstLook{contents, hash, std::nullopt});
    return {};
  }
  const auto id = asked.session.open_view(shown->part, shown->device, Bands::blocks);
  if (!id) return tl::unexpected(id.error());
  const View& view = *asked.session.view(*id);
  answers::to_json(
      asked.json(),
      answers::FirstLook{contents, hash,
                         answers::OpenedView{*id, view.info(), analysis::findings(view.diagnostics())}});
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

// clang-format off
constexpr Question kOfFiles[] = {
    // What is in the file, what reading it found out, and what tells it from others.
    {"contents", Of::file, "", "Contents", contents},
    // What a file opens with: its contents, and an open view of what is shown first.
    {"first", Of::file, "", "FirstLook", first},
    // The object of `gpustrata summary --json`, `file` being the name in it. Replays every device.
    {"summary", Of::file, "file: Text", "Summary", summary},
    // Of all devices of all snapshots but pinned host memory. Replays every one that no view shows.
    {"peaks", Of::file, "", "DevicePeak[][]", peaks},
    // The text that `gpustrata fleet -o` wrote, of a part that is many ranks, as the file has it.
    {"fleet", Of::file, "fleet: Count", "FleetText", fleet},
    // Opens a view. Views of one device share what they can. `only`: of what a filter means, stacked from zero as if the rest
    // had never been; refused as `filter`, and among pools.
    {"open", Of::file, "snapshot: Count, device: Device, bands: Bands, only?: Text", "OpenedView", open},
    // The view is gone; its number is never used again.
    {"release", Of::view, "", "null", release},
};
// clang-format on

}  // namespace

std::span<const Question> of_files() { return kOfFiles; }

}  // namespace gpustrata::session::reply
