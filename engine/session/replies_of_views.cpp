#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/analysis/steps/marks.h"
#include "engine/answers/details/timeline_view.h"
#include "engine/answers/filters/filter_completion.h"
#include "engine/answers/live/block_groups.h"
#include "engine/answers/steps/marks.h"
#include "engine/base/utf8.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

namespace {

[[nodiscard]] Result<size_t> pixels_of(int32_t width, int32_t height) {
  const size_t pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
  if (pixels > View::kMostPixels)
    return fail(ErrorCode::limit_exceeded, -1, "a picture of {} pixels is too large", pixels);
  return pixels;
}

[[nodiscard]] GroupsWanted groups_of(const Asked& asked) {
  return {asked.arguments.word<analysis::GroupBy>("by"), asked.arguments.text("filter")};
}

}  // namespace

Error in_units(std::string_view text, Error error) {
  if (error.offset >= 0) error.offset = utf8::units_before(text, static_cast<size_t>(error.offset));
  return error;
}

Status picture(Asked& asked) {
  const auto columns = asked.arguments.columns("columns");
  const auto rows = asked.arguments.rows("rows");
  const auto count = pixels_of(columns.count, rows.count);
  if (!count) return tl::unexpected(count.error());
  const auto pixels = asked.answer.pixels("pixels", *count);
  if (!pixels) return tl::unexpected(pixels.error());
  const Look look = asked.arguments.look("look");
  if (Status drawn = asked.arguments.flag("groups") ? asked.view->draw_groups(columns, rows, look, *pixels)
                                                    : asked.view->draw(columns, rows, look, *pixels);
      !drawn)
    return drawn;
  answers::to_columns(asked.json(), asked.answer, answers::PaintedPicture{asked.view->curves(columns)});
  return {};
}

Status labels(Asked& asked) {
  const auto columns = asked.arguments.columns("columns");
  const auto rows = asked.arguments.rows("rows");
  if (const auto count = pixels_of(columns.count, rows.count); !count) return tl::unexpected(count.error());
  const auto labels = asked.view->labels(columns, rows, std::max(1, asked.arguments.integer("leastColumns")),
                                         std::max(1, asked.arguments.integer("leastRows")));
  if (!labels) return tl::unexpected(labels.error());
  answers::list_to_json(asked.json(), *labels, asked.session.recording());
  return {};
}

Status highest(Asked& asked) {
  asked.json().value(asked.view->highest_level(asked.arguments.columns("columns")));
  return {};
}

Status probe(Asked& asked) {
  const auto pick =
      asked.view->pick(asked.arguments.word<replay::Axis>("axis"), asked.arguments.whole("column"),
                       asked.arguments.whole("width"), asked.arguments.real("bytes"));
  std::optional<analysis::BandDetails> details;
  if (pick && pick->rank >= 0 && pick->rank != asked.arguments.integer("known")) {
    auto found = asked.view->details(pick->rank);
    if (!found) return tl::unexpected(found.error());
    details.emplace(std::move(*found));
  }
  answers::to_json(asked.json(), answers::Probe{asked.session.recording(), pick, details});
  return {};
}

Status group_places(Asked& asked) {
  const auto columns = asked.arguments.columns("columns");
  const auto rows = asked.arguments.rows("rows");
  if (const auto count = pixels_of(columns.count, rows.count); !count) return tl::unexpected(count.error());
  const auto places = asked.view->group_places(columns, rows, groups_of(asked),
                                               std::max(1, asked.arguments.integer("leastColumns")),
                                               std::max(1, asked.arguments.integer("leastRows")));
  if (!places) return tl::unexpected(places.error());
  answers::list_to_json(asked.json(), *places);
  return {};
}

Status group_probe(Asked& asked) {
  const auto pick = asked.view->pick_group(groups_of(asked), asked.arguments.word<replay::Axis>("axis"),
                                           asked.arguments.whole("column"), asked.arguments.whole("width"),
                                           asked.arguments.real("bytes"));
  if (!pick) return tl::unexpected(pick.error());
  answers::to_json(asked.json(), *pick);
  return {};
}

Status group_outline(Asked& asked) {
  const auto edges = asked.view->group_outline(groups_of(asked), asked.arguments.integer("kind"),
                                               asked.arguments.columns("columns"));
  if (!edges) return tl::unexpected(edges.error());
  answers::to_columns(asked.json(), asked.answer, answers::BandEdges{edges->lower, edges->upper});
  return {};
}

Status block(Asked& asked) {
  const int32_t rank = asked.arguments.integer("rank");
  const auto details = asked.view->details(rank);
  if (!details) return tl::unexpected(details.error());
  answers::to_json(asked.json(),
                   answers::PlacedBand{asked.session.recording(), *details,
                                       asked.view->place(rank, asked.arguments.word<replay::Axis>("axis"))});
  return {};
}

Status outline(Asked& asked) {
  const View::Edges edges =
      asked.view->outline(asked.arguments.integer("rank"), asked.arguments.columns("columns"));
  answers::to_columns(asked.json(), asked.answer, answers::BandEdges{edges.lower, edges.upper});
  return {};
}

Status position(Asked& asked) {
  const auto axis = asked.arguments.word<replay::Axis>("axis");
  std::vector<int64_t> positions;
  for (const int32_t event : asked.arguments.integers("events"))
    positions.push_back(asked.view->position(axis, event));
  answers::to_json(asked.json(), positions);
  return {};
}

Status filter(Asked& asked) {
  const std::string_view text = asked.arguments.text("text");
  const auto found = asked.view->filtered(text);
  if (!found) return tl::unexpected(in_units(text, found.error()));
  const Filtered* const filtered = *found;
  answers::to_json(asked.json(), answers::FilterMatches{filtered ? &filtered->matches : nullptr,
                                                        filtered ? filtered->at_peak : 0});
  return {};
}

Status match(Asked& asked) {
  const auto found = asked.view->filtered(asked.arguments.text("filter"));
  if (!found) return tl::unexpected(found.error());
  const auto index = static_cast<size_t>(asked.arguments.integer("index"));
  const bool there = *found != nullptr && index < (*found)->matches.ranks.size();
  asked.json().value(there ? (*found)->matches.ranks[index] : -1);
  return {};
}

Status complete(Asked& asked) {
  const std::string_view text = asked.arguments.text("text");
  const size_t cursor = utf8::bytes_before(text, static_cast<size_t>(asked.arguments.integer("cursor")));
  auto found = asked.view->complete(text, cursor);
  if (!found) return tl::unexpected(found.error());
  found->from = static_cast<size_t>(utf8::units_before(text, found->from));
  answers::to_json(asked.json(), *found);
  return {};
}

Status kinds(Asked& asked) {
  const auto groups = asked.view->kinds(asked.arguments.word<analysis::GroupBy>("by"));
  if (!groups) return tl::unexpected(groups.error());
  answers::to_json(asked.json(), asked.session.recording(), **groups);
  return {};
}

Status shares(Asked& asked) {
  const auto shares = asked.view->shares(asked.arguments.word<analysis::GroupBy>("by"),
                                         asked.arguments.integer("event"), asked.arguments.text("filter"));
  if (!shares) return tl::unexpected(shares.error());
  answers::to_json(asked.json(), *shares);
  return {};
}

Status marks(Asked& asked) {
  const Device& device = asked.view->device();
  const auto marks = analysis::find_marks(device.recording(), device.part(), device.rows());
  if (!marks) return tl::unexpected(marks.error());
  answers::to_json(asked.json(), device.recording(), *marks);
  return {};
}

}  // namespace gpustrata::session::reply
