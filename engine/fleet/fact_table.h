// Lines of facts (README.md) as tables, ready for the SQL.
//
// A line that is not what it should be is not half taken: it is counted, with why. O(bytes of the line) each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/fleet/database.h"

namespace gpustrata::fleet {

inline constexpr size_t kFactCurveColumns = 256;  // of a line
inline constexpr size_t kLongestFactLine = size_t{64} << 20;

// What the curve of a line says; all 0 if it has none.
struct FactCurve {
  int64_t from_us = 0, to_us = 0;
  bool timed = false;
  std::array<int64_t, kFactCurveColumns> allocated, reserved;

  [[nodiscard]] bool operator==(const FactCurve&) const = default;
};

// Where a line of facts lies, and what it is taken to say where it says nothing.
struct LinePlace {
  std::string file;
  int64_t line = 0;  // from 1
  std::string run, host;
  std::optional<int64_t> rank;
};

// A file, or a line of one, that is not among the facts.
struct NotRead {
  std::string file, message;
};
struct NotReadCount {
  int64_t files = 0, lines = 0, files_of_lines = 0;
};

class FactTable {
 public:
  // `most_bytes` is what the database may take, `budget` gets the curves. Error: limit_exceeded.
  [[nodiscard]] static Result<FactTable> open(int64_t most_bytes, Budget& budget);

  // One line of facts, or the line of a file that could not be read. Lines of a file follow each other. Error:
  // limit_exceeded; whatever else is wrong with it is in not_read().
  [[nodiscard]] Status add_line(std::string_view line, const LinePlace& place);
  // That a file, not a line of it, could not be read.
  void add_failure(const std::string& file, std::string message);
  // An empty run means all. Of a kind that is added so, what lines say of their groups does not count.
  [[nodiscard]] Status add_group(std::string_view run, int64_t rank, std::string_view kind,
                                 std::string_view name);
  // The tables `facts`, from facts.sql, and `groups`, whole. Then no more lines.
  [[nodiscard]] Status seal();

  [[nodiscard]] int64_t lines() const { return static_cast<int64_t>(curve_of_.size()); }
  [[nodiscard]] const FactCurve& curve(int64_t id) const { return curves_[curve_of_[id]]; }
  [[nodiscard]] const std::vector<NotRead>& not_read() const { return not_read_; }
  [[nodiscard]] const NotReadCount& not_read_count() const { return not_read_count_; }
  [[nodiscard]] Database& database() { return database_; }

  static constexpr size_t kMostNotRead = 1000;  // that are named

 private:
  FactTable(Database&& database, Budget& budget)
      : database_(std::move(database)), curves_(budget), curve_of_(budget) {}
  // False: it tells of a file that could not be read. Error: why the line is none.
  [[nodiscard]] Result<bool> take(std::string_view line, int64_t id, FactCurve& curve,
                                  const LinePlace& place);
  void add_not_read(const std::string& file, std::string message);
  // False: no memory for it.
  [[nodiscard]] bool keep(const FactCurve& curve);
  [[nodiscard]] Status take_curve(std::string_view text, FactCurve& curve);

  Database database_;
  Statement members_, insert_line_, insert_peak_, insert_leak_, insert_step_, insert_stack_, insert_group_,
      numbers_, group_;
  Column<FactCurve> curves_;  // each once: lines that repeat others share theirs
  Column<int32_t> curve_of_;  // by line
  std::unordered_map<uint64_t, int32_t> curve_by_hash_;
  std::vector<NotRead> not_read_;
  NotReadCount not_read_count_;
  std::string last_file_of_lines_;
};

}  // namespace gpustrata::fleet
