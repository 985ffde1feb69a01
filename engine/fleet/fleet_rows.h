// What the parts of a reduction share: the fleet that grows, and which row of it a line became.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/fleet/fact_table.h"
#include "engine/model/fleet.h"

namespace gpustrata::fleet {

struct FleetRows {
  FactTable& facts;
  model::Fleet& fleet;
  Column<int32_t> row_of;  // per id of a line: its row, -1 = left out as a duplicate

  FleetRows(FactTable& facts_, model::Fleet& fleet_) : facts(facts_), fleet(fleet_), row_of(fleet_.budget) {}

  // -1 for what is no id.
  [[nodiscard]] int32_t row(int64_t id) const {
    return id >= 0 && id < static_cast<int64_t>(row_of.size()) ? row_of[id] : -1;
  }
  // Every row of a SELECT. `take` says whether memory sufficed. Error: limit_exceeded.
  [[nodiscard]] Status each(std::string_view sql, const std::function<bool(Statement&)>& take);
  // None: no text.
  [[nodiscard]] StringId text(std::string_view text) { return fleet.strings.intern(text); }
};

[[nodiscard]] inline tl::unexpected<Error> no_memory() {
  return fail(ErrorCode::limit_exceeded, -1, "The facts of so many ranks do not fit into memory.");
}

// "2 files and 3 lines of 1 file of facts could not be read"; empty if all could.
[[nodiscard]] std::string not_read_text(const NotReadCount& count);

// Members of the fleet, each by its own part of the SQL; the columns come first. Error: limit_exceeded.
[[nodiscard]] Status add_columns(FleetRows& rows);
[[nodiscard]] Status add_curves(FleetRows& rows);
[[nodiscard]] Status add_coverage(FleetRows& rows);
[[nodiscard]] Status add_groups(FleetRows& rows);
[[nodiscard]] Status add_stacks(FleetRows& rows);
[[nodiscard]] Status add_findings(FleetRows& rows);

}  // namespace gpustrata::fleet
