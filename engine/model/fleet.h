// Fleet: a thousand ranks in one file, what `gpustrata fleet -o` writes and the page reads ("The reduced file" in
// engine/fleet/README.md, which says what everything means).
//
// A *row* is a rank's snapshot of a device: an index into `values` of each column and into both curves. Numbers are
// doubles (bytes, microseconds and counts are whole and exact below 2^53), kNoNumber where the file has null. Texts are
// ids into `strings`. Everything that grows with the ranks is a column, charged to the budget.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/string_pool.h"
#include "engine/model/tables.h"

namespace gpustrata::model {

inline constexpr int kFleetVersion = 1;        // `gpustrata_fleet`
inline constexpr int32_t kFleetBuckets = 128;  // bytes of a row in a curve
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

enum class FleetUnit : uint8_t { bytes, count, us, share, text };
inline constexpr std::array<std::string_view, 5> kFleetUnits = {"bytes", "count", "us", "share", "text"};

// What a finding is about.
enum class FleetKind : uint8_t { oom, outlier, leak, fragmentation, drift, run, group, coverage };
inline constexpr std::array<std::string_view, 8> kFleetKinds = {"oom",   "outlier", "leak",  "fragmentation",
                                                                "drift", "run",     "group", "coverage"};

// A fact of all rows.
struct FleetColumn {
  explicit FleetColumn(Budget& budget) : numbers(budget), texts(budget) {}

  StringId name{}, title{};
  FleetUnit unit = FleetUnit::text;
  Column<double> numbers;  // empty if texts
  Column<StringId> texts;  // of FleetUnit::text; none = null
};

// What a run has, and has not.
struct FleetCoverage {
  StringId run{};
  double rows = 0, ranks = 0;
  double lowest_rank = kNoNumber, highest_rank = kNoNumber, world_size = kNoNumber;
  double duplicates = 0, without_rank = 0, damaged = 0, without_times = 0;
  double first_us = kNoNumber, last_us = kNoNumber;
  StringId missing{};  // "3, 7 to 9"
};

struct FleetUnreadable {
  StringId file{}, message{};
};

// Ranks that belong together: tensor parallel, a pipeline stage, ...
struct FleetGroup {
  StringId run{}, kind{}, name{};
  double rows = 0, median_peak = kNoNumber, least_peak = kNoNumber, most_peak = kNoNumber;
  int32_t most_row = -1;
  double ooms = 0;
  RowRange rows_of{};  // of Fleet::rows
};

struct FleetFinding {
  FleetKind kind = FleetKind::coverage;
  StringId title{}, text{};
  RowRange rows{};    // of Fleet::rows
  RowRange stacks{};  // of Fleet::finding_stacks
  bool bad = false;   // something that should not be
};

struct FleetFindingStack {
  StringId stack{}, who{};
  double value = kNoNumber, median = kNoNumber;  // bytes
};

// A stack at the peaks of a run.
struct FleetStack {
  StringId run{}, stack{}, who{};
  double rows = 0, total = 0, share = kNoNumber, median = kNoNumber, most = kNoNumber;
  int32_t most_row = -1;
};

// Rows x kFleetBuckets each, row after row: the most of a bucket of time, 255 = `scale` bytes, 0 = nothing.
struct FleetCurves {
  explicit FleetCurves(Budget& budget) : allocated(budget), reserved(budget) {}

  bool common_clock = true;  // false: each row runs from its own beginning, which is 0
  double from_us = kNoNumber, to_us = kNoNumber;
  double scale = 0;
  Column<uint8_t> allocated, reserved;
};

struct Fleet {
  explicit Fleet(Budget& shared) : budget(shared) {}
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // The column of that name; null if there is none.
  [[nodiscard]] const FleetColumn* column(std::string_view name) const {
    for (const FleetColumn& one : columns) {
      if (strings.view(one.name) == name) return &one;
    }
    return nullptr;
  }

  Budget& budget;
  StringPool strings{budget};
  StringId title{};
  int32_t row_count = 0;
  Column<FleetCoverage> coverage{budget};
  Column<StringId> says{budget};
  Column<FleetUnreadable> unreadable{budget};
  double unreadable_count = 0;
  std::vector<FleetColumn> columns;  // row_count values each
  Column<FleetGroup> groups{budget};
  FleetCurves curves{budget};
  Column<FleetFinding> findings{budget};  // the most important first
  Column<FleetFindingStack> finding_stacks{budget};
  Column<FleetStack> stacks{budget};
  Column<int32_t> rows{budget};  // rows that groups and findings name, range after range
};

}  // namespace gpustrata::model
