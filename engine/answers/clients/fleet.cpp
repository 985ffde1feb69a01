#include "engine/answers/clients/fleet.h"

#include <cmath>
#include <span>

#include "engine/base/base64.h"

namespace gpustrata::answers {

using model::Fleet;
using model::FleetColumn;

namespace {

[[nodiscard]] std::string_view name_of(model::FleetUnit unit) {
  return model::kFleetUnits[static_cast<size_t>(unit)];
}
[[nodiscard]] std::string_view name_of(model::FleetKind kind) {
  return model::kFleetKinds[static_cast<size_t>(kind)];
}

constexpr double kExact = 9007199254740992;  // 2^53

// Writes objects whose members are numbers and texts of a fleet.
class Rows {
 public:
  Rows(JsonWriter& json, const Fleet& fleet) : json_(json), fleet_(fleet) {}

  void number(double value) {
    if (std::isnan(value)) return json_.null();
    if (value == std::trunc(value) && std::abs(value) <= kExact)
      return json_.value(static_cast<int64_t>(value));
    json_.value(value);
  }
  void number(std::string_view name, double value) {
    json_.key(name);
    number(value);
  }
  void text(StringId id) {
    if (id.is_none()) return json_.null();
    json_.value(fleet_.strings.view(id));
  }
  void text(std::string_view name, StringId id) {
    json_.key(name);
    text(id);
  }
  void row(std::string_view name, int32_t value) { number(name, value < 0 ? model::kNoNumber : value); }
  void rows(std::string_view name, model::RowRange range) {
    json_.key(name);
    json_.begin_array();
    for (int32_t i = range.first; i < range.end(); ++i) json_.value(fleet_.rows[i]);
    json_.end_array();
  }
  template <typename Of, typename Write>
  void list(std::string_view name, std::span<const Of> items, const Write& write) {
    json_.key(name);
    json_.begin_array();
    for (const Of& item : items) {
      json_.begin_object();
      write(item);
      json_.end_object();
    }
    json_.end_array();
  }

 private:
  JsonWriter& json_;
  const Fleet& fleet_;
};

void coverage_to_json(Rows& rows, const Fleet& fleet) {
  rows.list("coverage", fleet.coverage.span(), [&](const model::FleetCoverage& one) {
    rows.text("run", one.run);
    rows.number("rows", one.rows);
    rows.number("ranks", one.ranks);
    rows.number("lowest_rank", one.lowest_rank);
    rows.number("highest_rank", one.highest_rank);
    rows.number("world_size", one.world_size);
    rows.number("duplicates", one.duplicates);
    rows.number("without_rank", one.without_rank);
    rows.number("damaged", one.damaged);
    rows.number("without_times", one.without_times);
    rows.number("first_us", one.first_us);
    rows.number("last_us", one.last_us);
    rows.text("missing", one.missing);
  });
}

void columns_to_json(JsonWriter& json, Rows& rows, const Fleet& fleet) {
  rows.list("columns", std::span<const FleetColumn>(fleet.columns), [&](const FleetColumn& column) {
    rows.text("name", column.name);
    rows.text("title", column.title);
    json.member("unit", name_of(column.unit));
    json.key("values");
    json.begin_array();
    for (const double value : column.numbers) rows.number(value);
    for (const StringId text : column.texts) rows.text(text);
    json.end_array();
  });
}

void groups_to_json(Rows& rows, const Fleet& fleet) {
  rows.list("groups", fleet.groups.span(), [&](const model::FleetGroup& group) {
    rows.text("run", group.run);
    rows.text("kind", group.kind);
    rows.text("name", group.name);
    rows.number("rows", group.rows);
    rows.number("median_peak", group.median_peak);
    rows.number("least_peak", group.least_peak);
    rows.number("most_peak", group.most_peak);
    rows.row("most_row", group.most_row);
    rows.number("ooms", group.ooms);
    rows.rows("rows_of", group.rows_of);
  });
}

void curves_to_json(JsonWriter& json, Rows& rows, const model::FleetCurves& curves) {
  json.key("curves");
  json.begin_object();
  json.member("clock", curves.common_clock ? "common" : "each");
  rows.number("from_us", curves.from_us);
  rows.number("to_us", curves.to_us);
  json.member("buckets", model::kFleetBuckets);
  rows.number("scale", curves.scale);
  json.member("allocated", base64_of(curves.allocated.span()));
  json.member("reserved", base64_of(curves.reserved.span()));
  json.end_object();
}

void findings_to_json(JsonWriter& json, Rows& rows, const Fleet& fleet) {
  rows.list("findings", fleet.findings.span(), [&](const model::FleetFinding& finding) {
    json.member("kind", name_of(finding.kind));
    rows.text("title", finding.title);
    rows.text("text", finding.text);
    rows.rows("rows", finding.rows);
    const auto stacks = fleet.finding_stacks.span().subspan(static_cast<size_t>(finding.stacks.first),
                                                            static_cast<size_t>(finding.stacks.count));
    rows.list("stacks", stacks, [&](const model::FleetFindingStack& stack) {
      rows.text("stack", stack.stack);
      rows.text("who", stack.who);
      rows.number("value", stack.value);
      rows.number("median", stack.median);
    });
    json.member("bad", finding.bad);
  });
}

void stacks_to_json(Rows& rows, const Fleet& fleet) {
  rows.list("stacks", fleet.stacks.span(), [&](const model::FleetStack& stack) {
    rows.text("run", stack.run);
    rows.text("stack", stack.stack);
    rows.text("who", stack.who);
    rows.number("rows", stack.rows);
    rows.number("total", stack.total);
    rows.number("share", stack.share);
    rows.number("median", stack.median);
    rows.number("most", stack.most);
    rows.row("most_row", stack.most_row);
  });
}

}  // namespace

void to_json(JsonWriter& json, const Fleet& fleet) {
  Rows rows(json, fleet);
  json.begin_object();
  json.member("gpustrata_fleet", model::kFleetVersion);
  rows.text("title", fleet.title);
  coverage_to_json(rows, fleet);
  json.key("says");
  json.begin_array();
  for (const StringId sentence : fleet.says) rows.text(sentence);
  json.end_array();
  rows.list("unreadable", fleet.unreadable.span(), [&](const model::FleetUnreadable& one) {
    rows.text("file", one.file);
    rows.text("message", one.message);
  });
  rows.number("unreadable_count", fleet.unreadable_count);
  columns_to_json(json, rows, fleet);
  groups_to_json(rows, fleet);
  curves_to_json(json, rows, fleet.curves);
  findings_to_json(json, rows, fleet);
  stacks_to_json(rows, fleet);
  json.end_object();
}

}  // namespace gpustrata::answers
