#include "engine/fleet/reduce.h"

#include "engine/fleet/fleet_rows.h"
#include "engine/fleet/queries.h"

namespace gpustrata::fleet {

using model::FleetColumn;
using model::FleetUnit;

namespace {

struct ColumnOf {
  std::string_view name, title;
  FleetUnit unit;
};
constexpr ColumnOf kColumns[] = {
    {"run", "Run", FleetUnit::text},
    {"rank", "Rank", FleetUnit::count},
    {"host", "Host", FleetUnit::text},
    {"device", "Device", FleetUnit::count},
    {"file", "File", FleetUnit::text},
    {"peak_requested", "Peak", FleetUnit::bytes},
    {"peak_reserved", "Peak reserved", FleetUnit::bytes},
    {"start_requested", "At the start", FleetUnit::bytes},
    {"end_requested", "At the end", FleetUnit::bytes},
    {"end_reserved", "Reserved at the end", FleetUnit::bytes},
    {"ooms", "Out of memory", FleetUnit::count},
    {"oom_us", "First out of memory at", FleetUnit::us},
    {"oom_requested", "Asked for then", FleetUnit::bytes},
    {"oom_device_free", "Free on the device then", FleetUnit::bytes},
    {"leaks", "Leaking stacks", FleetUnit::count},
    {"leak_bytes", "Leaked", FleetUnit::bytes},
    {"fragmentation", "Fragmentation", FleetUnit::share},
    {"held_back", "Held back", FleetUnit::bytes},
    {"cached", "Cached", FleetUnit::bytes},
    {"step_count", "Steps", FleetUnit::count},
    {"events", "Events", FleetUnit::count},
    {"first_us", "First event", FleetUnit::us},
    {"last_us", "Last event", FleetUnit::us},
    {"snapshot", "Snapshot", FleetUnit::text},
    {"format", "Form", FleetUnit::text},
    {"input_bytes", "File size", FleetUnit::bytes},
    {"damaged", "Damaged", FleetUnit::count},
    {"diagnostics", "Repaired or lost", FleetUnit::count},
};

constexpr size_t kMostStacks = 200;

}  // namespace

Status FleetRows::each(std::string_view sql, const std::function<bool(Statement&)>& take) {
  auto statement = facts.database().prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  for (;;) {
    const auto row = statement->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
    if (!take(*statement)) return no_memory();
  }
}

Status add_columns(FleetRows& rows) {
  model::Fleet& fleet = rows.fleet;
  for (const ColumnOf& one : kColumns) {
    FleetColumn& column = fleet.columns.emplace_back(fleet.budget);
    column.name = rows.text(one.name);
    column.title = rows.text(one.title);
    column.unit = one.unit;
    if (column.name.is_none() || column.title.is_none()) return no_memory();
  }
  if (!rows.row_of.resize(static_cast<size_t>(rows.facts.lines()), -1)) return no_memory();
  return rows.each("SELECT * FROM facts ORDER BY place", [&](Statement& line) {
    for (size_t i = 0; i < fleet.columns.size(); ++i) {
      const int from = line.column(kColumns[i].name);
      FleetColumn& column = fleet.columns[i];
      if (column.unit == FleetUnit::text) {
        const StringId text = rows.text(line.text(from));
        if (text.is_none() || !column.texts.push_back(text)) return false;
      } else if (!column.numbers.push_back(line.number(from))) {
        return false;
      }
    }
    rows.row_of[static_cast<size_t>(line.integer(line.column("id")))] = fleet.row_count++;
    return true;
  });
}

Status add_stacks(FleetRows& rows) {
  return rows.each(query("stack_shares"), [&](Statement& one) {
    if (rows.fleet.stacks.size() == kMostStacks) return true;
    model::FleetStack stack;
    stack.run = rows.text(one.text(0));
    stack.stack = rows.text(one.text(1));
    stack.who = rows.text(one.text(2));
    stack.rows = one.number(3);
    stack.total = one.number(4);
    stack.share = one.number(5);
    stack.median = one.number(6);
    stack.most = one.number(7);
    stack.most_row = rows.row(one.integer(8));
    return rows.fleet.stacks.push_back(stack);
  });
}

Status add_groups(FleetRows& rows) {
  model::Fleet& fleet = rows.fleet;
  Status done = rows.each(query("groups"), [&](Statement& one) {
    model::FleetGroup group;
    group.run = rows.text(one.text(0));
    group.kind = rows.text(one.text(1));
    group.name = rows.text(one.text(2));
    group.rows = one.number(3);
    group.median_peak = one.number(4);
    group.least_peak = one.number(5);
    group.most_peak = one.number(6);
    group.most_row = rows.row(one.integer(7));
    group.ooms = one.number(8);
    return fleet.groups.push_back(group);
  });
  if (!done) return done;
  // The rows of each, in the order of the groups.
  size_t at = 0;
  return rows.each(
      "SELECT DISTINCT facts.run, groups.kind, groups.name, facts.id, facts.place FROM groups JOIN facts ON "
      "facts.rank = groups.rank AND (groups.run = '' OR groups.run = facts.run) "
      "ORDER BY facts.run, groups.kind, LENGTH(groups.name), groups.name, facts.place",
      [&](Statement& one) {
        const auto is_of = [&](const model::FleetGroup& group) {
          return fleet.strings.view(group.run) == one.text(0) &&
                 fleet.strings.view(group.kind) == one.text(1) &&
                 fleet.strings.view(group.name) == one.text(2);
        };
        while (at < fleet.groups.size() && !is_of(fleet.groups[at])) ++at;
        if (at == fleet.groups.size()) return true;
        model::RowRange& range = fleet.groups[at].rows_of;
        if (range.count == 0) range.first = static_cast<int32_t>(fleet.rows.size());
        ++range.count;
        return fleet.rows.push_back(rows.row(one.integer(3)));
      });
}

Status reduce(FactTable& facts, std::string_view title, model::Fleet& fleet) {
  FleetRows rows(facts, fleet);
  fleet.title = rows.text(title);
  if (fleet.title.is_none()) return no_memory();
  for (const auto add : {add_columns, add_curves, add_coverage, add_groups, add_stacks, add_findings}) {
    if (Status done = add(rows); !done) return done;
  }
  return {};
}

}  // namespace gpustrata::fleet
