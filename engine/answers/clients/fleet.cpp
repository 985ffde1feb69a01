#include "engine/answers/clients/fleet.h"

#include <cmath>
#include <optional>

#include "engine/base/base64.h"

namespace gpustrata::answers {

using model::Fleet;
using model::FleetColumn;

namespace {

constexpr double kExact = 9007199254740992;  // 2^53

void number_to_json(JsonWriter& json, double value) {
  if (std::isnan(value)) return json.null();
  if (value == std::trunc(value) && std::abs(value) <= kExact) return json.value(static_cast<int64_t>(value));
  json.value(value);
}

// Numbers and texts of a fleet.
class Rows {
 public:
  Rows(Members& m, const Fleet& fleet) : m_(m), fleet_(fleet) {}

  // May be null where it is not known.
  void known(As as, Name name, double value, bool may_be_null = true) {
    m_.written(
        as, name, [&](JsonWriter& json) { number_to_json(json, value); }, may_be_null);
  }
  void count(Name name, double value) { known(As::count, name, value, false); }
  [[nodiscard]] std::optional<std::string_view> view(StringId id) const {
    return id.is_none() ? std::nullopt : std::optional(fleet_.strings.view(id));
  }
  void text(Name name, StringId id) {
    m_.text(name, [&] { return view(id); });
  }
  void row(Name name, int32_t value) { m_.count(name, value < 0 ? std::nullopt : std::optional(value)); }
  void rows(Name name, model::RowRange range) {
    m_.values(
        As::count, name,
        [&] {
          return fleet_.rows.span().subspan(static_cast<size_t>(range.first),
                                            static_cast<size_t>(range.count));
        },
        [](int32_t row) { return row; });
  }

 private:
  Members& m_;
  const Fleet& fleet_;
};

void describe_coverage(Members& m, Rows& rows, const Fleet& fleet) {
  m.list({"coverage", "What a run has, and has not."}, fleet.coverage, [&](const model::FleetCoverage& one) {
    rows.text("run", one.run);
    rows.count("rows", one.rows);
    rows.count("ranks", one.ranks);
    rows.known(As::count, "lowest_rank", one.lowest_rank);
    rows.known(As::count, "highest_rank", one.highest_rank);
    rows.known(As::count, {"world_size", "The largest that is said."}, one.world_size);
    rows.count({"duplicates", "Lines that are left out."}, one.duplicates);
    rows.count("without_rank", one.without_rank);
    rows.count("damaged", one.damaged);
    rows.count("without_times", one.without_times);
    rows.known(As::microseconds, "first_us", one.first_us);
    rows.known(As::microseconds, "last_us", one.last_us);
    rows.text({"missing", "Ranks: `3, 7 to 9`."}, one.missing);
  });
}

void describe_columns(Members& m, Rows& rows, const Fleet& fleet) {
  const auto write_values = [&](JsonWriter& json, const FleetColumn& column) {
    json.begin_array();
    for (const double value : column.numbers) number_to_json(json, value);
    for (const StringId text : column.texts) json.value(rows.view(text));
    json.end_array();
  };
  m.list({"columns", "Of the rows, by run, rank, host, file, snapshot and device."}, fleet.columns,
         [&](const FleetColumn& column) {
           rows.text("name", column.name);
           rows.text("title", column.title);
           m.word("unit", model::kFleetUnits, column.unit);
           m.written(As::any, {"values", "Numbers or texts, one for each row; null: not known."},
                     [&](JsonWriter& json) { write_values(json, column); });
         });
}

void describe_groups(Members& m, Rows& rows, const Fleet& fleet) {
  m.list({"groups", "Groups of ranks against each other."}, fleet.groups,
         [&](const model::FleetGroup& group) {
           rows.text("run", group.run);
           rows.text("kind", group.kind);
           rows.text("name", group.name);
           rows.count("rows", group.rows);
           rows.known(As::number, "median_peak", group.median_peak);
           rows.known(As::number, "least_peak", group.least_peak);
           rows.known(As::number, "most_peak", group.most_peak);
           rows.row("most_row", group.most_row);
           rows.count({"ooms", "Rows that ran out of memory."}, group.ooms);
           rows.rows("rows_of", group.rows_of);
         });
}

constexpr std::string_view kClocks[] = {"each", "common"};

void describe_curves(Members& m, Rows& rows, const model::FleetCurves& curves) {
  m.object({"curves", "Base64 of rows x buckets bytes, row after row; 255 is `scale` bytes."}, [&] {
    m.word({"clock", "`each`: each row runs from its own beginning, which is 0."}, kClocks,
           kClocks[curves.common_clock ? 1 : 0]);
    rows.known(As::microseconds, "from_us", curves.from_us);
    rows.known(As::microseconds, "to_us", curves.to_us);
    m.count("buckets", model::kFleetBuckets);
    rows.known(As::number, "scale", curves.scale, false);
    m.text("allocated", [&] { return base64_of(curves.allocated.span()); });
    m.text("reserved", [&] { return base64_of(curves.reserved.span()); });
  });
}

void describe_findings(Members& m, Rows& rows, const Fleet& fleet) {
  const auto stacks_of = [&](const model::FleetFinding& finding) {
    return fleet.finding_stacks.span().subspan(static_cast<size_t>(finding.stacks.first),
                                               static_cast<size_t>(finding.stacks.count));
  };
  m.list({"findings", "The most important first."}, fleet.findings, [&](const model::FleetFinding& finding) {
    m.word("kind", model::kFleetKinds, finding.kind);
    rows.text("title", finding.title);
    rows.text("text", finding.text);
    rows.rows("rows", finding.rows);
    m.list(
        "stacks", [&] { return stacks_of(finding); },
        [&](const model::FleetFindingStack& stack) {
          rows.text("stack", stack.stack);
          rows.text("who", stack.who);
          rows.known(As::number, "value", stack.value);
          rows.known(As::number, "median", stack.median);
        });
    m.flag({"bad", "It should not be."}, finding.bad);
  });
}

void describe_stacks(Members& m, Rows& rows, const Fleet& fleet) {
  m.list({"stacks", "At the peaks, the largest of all runs first."}, fleet.stacks,
         [&](const model::FleetStack& stack) {
           rows.text("run", stack.run);
           rows.text("stack", stack.stack);
           rows.text("who", stack.who);
           rows.count("rows", stack.rows);
           rows.known(As::number, "total", stack.total, false);
           rows.known(As::share, {"share", "Of all peaks of the run."}, stack.share);
           rows.known(As::number, {"median", "Of the rows that have it."}, stack.median);
           rows.known(As::number, "most", stack.most);
           rows.row("most_row", stack.most_row);
         });
}

}  // namespace

void describe(Members& m, const Fleet& fleet) {
  Rows rows(m, fleet);
  m.line({"fleet --json", "A thousand ranks, reduced."});
  m.count({"gpustrata_fleet", "The version."}, model::kFleetVersion);
  rows.text("title", fleet.title);
  describe_coverage(m, rows, fleet);
  m.values(As::text, {"says", "What is not as it should be, in sentences."}, fleet.says,
           [&](StringId sentence) { return rows.view(sentence); });
  m.list({"unreadable", "Files, or lines of one; at most 1,000."}, fleet.unreadable,
         [&](const model::FleetUnreadable& one) {
           rows.text("file", one.file);
           rows.text("message", one.message);
         });
  rows.count({"unreadable_count", "Of all."}, fleet.unreadable_count);
  describe_columns(m, rows, fleet);
  describe_groups(m, rows, fleet);
  describe_curves(m, rows, fleet.curves);
  describe_findings(m, rows, fleet);
  describe_stacks(m, rows, fleet);
}

void describe(Members& m, const FleetText& fleet) {
  m.is("FleetText");
  m.column(As::any, {"text", "The JSON that `gpustrata fleet -o` wrote."}, fleet.text);
}

}  // namespace gpustrata::answers
