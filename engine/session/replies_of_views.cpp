#include <algorithm>

#include "engine/analysis/marks.h"
#include "engine/analysis/overview.h"
#include "engine/answers/block_groups.h"
#include "engine/answers/marks.h"
#include "engine/answers/overview.h"
#include "engine/base/utf8.h"
#include "engine/session/replies.h"

namespace memstrata::session::reply {

namespace {

[[nodiscard]] Result<size_t> pixels_of(int32_t width, int32_t height) {
  const size_t pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
  if (pixels > View::kMostPixels)
    return fail(ErrorCode::limit_exceeded, -1, "a picture of {} pixels is too large", pixels);
  return pixels;
}

void write_place(JsonWriter& json, const Place& place) {
  json.begin_object();
  json.member("from", place.from);
  json.member("to", place.to);
  json.member("offset", place.offset);
  json.member("size", place.size);
  json.end_object();
}

void write_share(JsonWriter& json, const analysis::Share& share) {
  json.begin_object();
  json.member("bytes", share.bytes);
  json.member("blocks", share.blocks);
  json.end_object();
}

void write_pick(JsonWriter& json, const Pick& pick) {
  json.begin_object();
  json.member("event", pick.event);
  json.member("time_us", pick.time_us);
  json.member("level", pick.level);
  json.member("allocated", pick.allocated);
  json.member("reserved", pick.reserved);
  json.member("rank", pick.rank);
  if (pick.rank >= 0) {
    json.member("name", pick.name);
    json.member("size", pick.size);
    if (pick.active) json.member("active", *pick.active);
  }
  json.end_object();
}

}  // namespace

Status picture(Asked& asked) {
  const auto columns = asked.arguments.columns("columns");
  const auto rows = asked.arguments.rows("rows");
  const auto count = pixels_of(columns.count, rows.count);
  if (!count) return tl::unexpected(count.error());
  const auto pixels = asked.answer.pixels("pixels", *count);
  if (!pixels) return tl::unexpected(pixels.error());
  if (Status drawn = asked.view->draw(columns, rows, asked.arguments.look("look"), *pixels); !drawn)
    return drawn;
  asked.json.begin_object();
  asked.json.key("curves");
  asked.json.begin_object();
  asked.json.end_object();
  asked.json.end_object();
  const replay::Curves curves = asked.view->curves(columns);
  AnswerFrame& answer = asked.answer;
  Status written = answer.column("curves.event", curves.event);
  if (written) written = answer.column("curves.highest", curves.highest);
  if (written) written = answer.column("curves.lowest", curves.lowest);
  if (written) written = answer.column("curves.allocated", curves.allocated);
  if (written) written = answer.column("curves.reserved", curves.reserved);
  return written;
}

Status labels(Asked& asked) {
  const auto columns = asked.arguments.columns("columns");
  const auto rows = asked.arguments.rows("rows");
  if (const auto count = pixels_of(columns.count, rows.count); !count) return tl::unexpected(count.error());
  const auto labels = asked.view->labels(columns, rows, std::max(1, asked.arguments.integer("leastColumns")),
                                         std::max(1, asked.arguments.integer("leastRows")));
  if (!labels) return tl::unexpected(labels.error());
  JsonWriter& json = asked.json;
  json.begin_array();
  for (const Label& label : *labels) {
    json.begin_object();
    json.member("rank", label.rank);
    json.member("size", label.size);
    if (!label.name.empty()) json.member("name", label.name);
    json.member("function", label.function);
    json.member("place", label.place);
    json.member("x0", label.x0);
    json.member("x1", label.x1);
    json.member("y0", label.y0);
    json.member("y1", label.y1);
    json.end_object();
  }
  json.end_array();
  return {};
}

Status highest(Asked& asked) {
  asked.json.value(asked.view->highest_level(asked.arguments.columns("columns")));
  return {};
}

Status probe(Asked& asked) {
  const auto pick =
      asked.view->pick(asked.arguments.word<replay::Axis>("axis"), asked.arguments.whole("column"),
                       asked.arguments.whole("width"), asked.arguments.real("bytes"));
  JsonWriter& json = asked.json;
  json.begin_object();
  json.key("pick");
  if (!pick) {
    json.null();
  } else {
    write_pick(json, *pick);
  }
  if (pick && pick->rank >= 0 && pick->rank != asked.arguments.integer("known")) {
    json.key("details");
    if (Status written = asked.view->write_details(json, pick->rank); !written) return written;
  }
  json.end_object();
  return {};
}

Status block(Asked& asked) {
  const int32_t rank = asked.arguments.integer("rank");
  JsonWriter& json = asked.json;
  json.begin_object();
  json.key("details");
  if (Status written = asked.view->write_details(json, rank); !written) return written;
  json.key("place");
  write_place(json, asked.view->place(rank, asked.arguments.word<replay::Axis>("axis")));
  json.end_object();
  return {};
}

Status outline(Asked& asked) {
  const View::Edges edges =
      asked.view->outline(asked.arguments.integer("rank"), asked.arguments.columns("columns"));
  asked.json.begin_object();
  asked.json.end_object();
  if (Status written = asked.answer.column("lower", edges.lower); !written) return written;
  return asked.answer.column("upper", edges.upper);
}

Status position(Asked& asked) {
  const auto axis = asked.arguments.word<replay::Axis>("axis");
  asked.json.begin_array();
  for (const int32_t event : asked.arguments.integers("events"))
    asked.json.value(asked.view->position(axis, event));
  asked.json.end_array();
  return {};
}

Status filter(Asked& asked) {
  const std::string_view text = asked.arguments.text("text");
  const auto found = asked.view->filtered(text);
  if (!found) {
    Error error = found.error();
    if (error.offset >= 0) error.offset = utf8::units_before(text, static_cast<size_t>(error.offset));
    return tl::unexpected(std::move(error));
  }
  const Filtered* const filtered = *found;
  JsonWriter& json = asked.json;
  json.begin_object();
  json.member("count", filtered ? static_cast<int64_t>(filtered->matches.ranks.size()) : 0);
  json.member("bytes", filtered ? filtered->matches.bytes : 0);
  json.member("at_peak", filtered ? filtered->at_peak : 0);
  json.member("first", filtered && !filtered->matches.ranks.empty() ? filtered->matches.ranks[0] : -1);
  json.end_object();
  return {};
}

Status match(Asked& asked) {
  const auto found = asked.view->filtered(asked.arguments.text("filter"));
  if (!found) return tl::unexpected(found.error());
  const auto index = static_cast<size_t>(asked.arguments.integer("index"));
  const bool there = *found != nullptr && index < (*found)->matches.ranks.size();
  asked.json.value(there ? (*found)->matches.ranks[index] : -1);
  return {};
}

Status complete(Asked& asked) {
  const std::string_view text = asked.arguments.text("text");
  const size_t cursor = utf8::bytes_before(text, static_cast<size_t>(asked.arguments.integer("cursor")));
  const auto found = asked.view->complete(text, cursor);
  if (!found) return tl::unexpected(found.error());
  JsonWriter& json = asked.json;
  json.begin_object();
  json.member("from", utf8::units_before(text, found->from));
  json.key("items");
  json.begin_array();
  for (const analysis::Completion& item : found->items) {
    json.begin_object();
    json.member("text", item.text);
    json.member("says", item.says);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return {};
}

Status kinds(Asked& asked) {
  const auto groups = asked.view->kinds(asked.arguments.word<analysis::GroupBy>("by"));
  if (!groups) return tl::unexpected(groups.error());
  answers::to_json(asked.json, asked.session.recording(), **groups);
  return {};
}

Status shares(Asked& asked) {
  const auto shares = asked.view->shares(asked.arguments.word<analysis::GroupBy>("by"),
                                         asked.arguments.integer("event"), asked.arguments.text("filter"));
  if (!shares) return tl::unexpected(shares.error());
  JsonWriter& json = asked.json;
  json.begin_object();
  json.member("event", shares->event);
  json.member("level", shares->level);
  json.key("kinds");
  json.begin_array();
  for (const analysis::Share& share : shares->kinds) write_share(json, share);
  json.end_array();
  if (shares->unused) json.member("unused", *shares->unused);
  json.key("matched");
  if (shares->matched) {
    write_share(json, *shares->matched);
  } else {
    json.null();
  }
  json.end_object();
  return {};
}

Status marks(Asked& asked) {
  const Device& device = asked.view->device();
  const auto marks = analysis::find_marks(device.recording(), device.part(), device.replayed().rows);
  if (!marks) return tl::unexpected(marks.error());
  answers::to_json(asked.json, device.recording(), *marks);
  return {};
}

Status overview(Asked& asked) {
  const Device& device = asked.view->device();
  const auto found = analysis::find_overview(device.recording(), device.part(), device.lives());
  if (!found) return tl::unexpected(found.error());
  answers::to_json(asked.json, device.recording(), *found);
  return {};
}

}  // namespace memstrata::session::reply
