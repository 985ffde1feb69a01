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

[[nodiscard]] Stacking stacking_of(const Asked& asked) {
  if (!asked.arguments.has("by")) return std::nullopt;
  return asked.arguments.word<analysis::GroupBy>("by");
}

Status picture(Asked& asked) {
  const auto columns = asked.arguments.columns("columns");
  const auto rows = asked.arguments.rows("rows");
  const auto count = pixels_of(columns.count, rows.count);
  if (!count) return tl::unexpected(count.error());
  const auto pixels = asked.answer.pixels("pixels", *count);
  if (!pixels) return tl::unexpected(pixels.error());
  const Look look = asked.arguments.look("look");
  if (Status drawn = asked.view->draw(columns, rows, look, stacking_of(asked), *pixels); !drawn) return drawn;
  answers::to_columns(asked.json(), asked.answer,
                      answers::PaintedPicture{asked.view->timeline().curves(columns)});
  return {};
}

Status labels(Asked& asked) {
  const auto columns = asked.arguments.columns("columns");
  const auto rows = asked.arguments.rows("rows");
  if (const auto count = pixels_of(columns.count, rows.count); !count) return tl::unexpected(count.error());
  const auto labels = asked.view->labels(columns, rows, stacking_of(asked),
                                         std::max(1, asked.arguments.integer("leastColumns")),
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
  const Stacking stacking = stacking_of(asked);
  const double bytes = asked.arguments.real("bytes");
  const auto pick =
      asked.view->pick(asked.arguments.word<replay::Axis>("axis"), asked.arguments.whole("column"),
                       asked.arguments.whole("width"), bytes, stacking);
  if (!pick) return tl::unexpected(pick.error());
  std::optional<analysis::BandDetails> details;
  std::optional<analysis::GroupPick> group;
  if (*pick && (*pick)->rank >= 0) {
    if ((*pick)->rank != asked.arguments.integer("known")) {
      auto found = asked.view->details((*pick)->rank);
      if (!found) return tl::unexpected(found.error());
      details.emplace(std::move(*found));
    }
    auto kind = asked.view->pick_group(**pick, bytes, stacking, asked.arguments.text("filter"));
    if (!kind) return tl::unexpected(kind.error());
    group = *kind;
  }
  answers::to_json(asked.json(), answers::Probe{asked.session.recording(), *pick, details, group});
  return {};
}

Status group_outline(Asked& asked) {
  const auto edges =
      asked.view->group_outline(asked.arguments.word<analysis::GroupBy>("by"),
                                asked.arguments.integer("kind"), asked.arguments.columns("columns"));
  if (!edges) return tl::unexpected(edges.error());
  answers::to_columns(asked.json(), asked.answer, answers::BandEdges{edges->lower, edges->upper});
  return {};
}

Status block(Asked& asked) {
  const int32_t rank = asked.arguments.integer("rank");
  const auto details = asked.view->details(rank);
  if (!details) return tl::unexpected(details.error());
  const auto place = asked.view->place(rank, asked.arguments.word<replay::Axis>("axis"), stacking_of(asked));
  if (!place) return tl::unexpected(place.error());
  answers::to_json(asked.json(), answers::PlacedBand{asked.session.recording(), *details, *place});
  return {};
}

Status outline(Asked& asked) {
  const auto edges = asked.view->outline(asked.arguments.integer("rank"), stacking_of(asked),
                                         asked.arguments.columns("columns"));
  if (!edges) return tl::unexpected(edges.error());
  answers::to_columns(asked.json(), asked.answer, answers::BandEdges{edges->lower, edges->upper});
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

// clang-format off
constexpr Question kOfViews[] = {
    // Pixels of the bands, and the curves above them. `by`, here and below: stacked by group, those of each kind together; else in the
    // order of allocation.
    {"picture", Of::view, "columns: Columns, rows: Rows, look: Look, by?: ColourBy", "PictureAnswer", picture},
    // Room for words in the bands of that picture, at least so many columns wide and rows high.
    {"labels", Of::view, "columns: Columns, rows: Rows, by?: ColourBy, leastColumns: Pixels, leastRows: Pixels", "BandLabel[]", labels},
    // Highest level in the columns.
    {"highest", Of::view, "columns: Columns", "Bytes", highest},
    // What a point of the picture shows, and all about it unless it is the band `known`. By group its kind, too, and what the filter
    // means of that.
    {"probe", Of::view, "axis: Axis, column: Whole, width: Width, bytes: Real, known: RankOrNone, by?: ColourBy, filter?: Text", "ProbeAnswer", probe},
    // Of all of a kind, stacked by group. `kind`: a number of `kinds`, or their number for what pools keep unused.
    {"groupOutline", Of::view, "by: ColourBy, kind: Count, columns: Columns", "Edges", group_outline},
    // All that is known of a band, and where it lies.
    {"block", Of::view, "rank: Rank, axis: Axis, by?: ColourBy", "BlockAnswer", block},
    {"outline", Of::view, "rank: Rank, by?: ColourBy, columns: Columns", "Edges", outline},
    // Of events on the axis.
    {"position", Of::view, "axis: Axis, events: Event[]", "AxisUnits[]", position},
    // How many blocks a filter means (engine/analysis/filters/filter_syntax.h); refused with the place of what is
    // wrong: offset = UTF-16 units of `text`.
    {"filter", Of::view, "text: Text", "FilterAnswer", filter},
    // The rank of the match `index`, -1 = there is none.
    {"match", Of::view, "filter: Text, index: Count", "Rank", match},
    // What could stand at the cursor, a number of UTF-16 units as `from` in the answer.
    {"complete", Of::view, "text: Text, cursor: Count", "Completions", complete},
    {"kinds", Of::view, "by: ColourBy", "Kinds", kinds},
    {"shares", Of::view, "by: ColourBy, event: Event, filter: Text", "Shares", shares},
    // Regions and markers of the program.
    {"marks", Of::view, "", "Marks", marks},
};
// clang-format on

}  // namespace

std::span<const Question> of_views() { return kOfViews; }

}  // namespace gpustrata::session::reply
