// What the facts have and have not, in numbers and in sentences: nothing is left out in silence.
#include <fmt/core.h>

#include <cmath>
#include <map>
#include <string>

#include "engine/base/units.h"
#include "engine/fleet/fleet_rows.h"
#include "engine/fleet/queries.h"

namespace gpustrata::fleet {

namespace {

constexpr size_t kMostGaps = 20;  // that are written out

// "3, 7 to 9", by run.
[[nodiscard]] Result<std::map<std::string, std::string>> missing_ranks(FleetRows& rows) {
  std::map<std::string, std::string> missing;
  std::map<std::string, size_t> gaps;
  Status done = rows.each(query("missing"), [&](Statement& gap) {
    const std::string run(gap.text(0));
    std::string& text = missing[run];
    const size_t number = gaps[run]++;
    if (number == kMostGaps) text += ", and more";
    if (number >= kMostGaps) return true;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}", gap.integer(1));
    if (gap.integer(2) > gap.integer(1)) text += fmt::format(" to {}", gap.integer(2));
    return true;
  });
  if (!done) return tl::unexpected(done.error());
  return missing;
}

[[nodiscard]] std::string of_run(const model::Fleet& fleet, const model::FleetCoverage& run) {
  return fleet.coverage.size() < 2 ? "" : fmt::format("Run \"{}\": ", fleet.strings.view(run.run));
}

[[nodiscard]] int64_t whole(double number) { return std::isfinite(number) ? std::llround(number) : 0; }

[[nodiscard]] bool say(FleetRows& rows, const std::string& sentence) {
  const StringId text = rows.text(sentence);
  return !text.is_none() && rows.fleet.says.push_back(text);
}

[[nodiscard]] bool say_of_run(FleetRows& rows, const model::FleetCoverage& run) {
  const std::string begin = of_run(rows.fleet, run);
  bool said = true;
  const auto add = [&](double count, std::string sentence) {
    if (count > 0) said = said && say(rows, begin + std::move(sentence));
  };
  const std::string_view missing = rows.fleet.strings.view(run.missing);
  add(missing.empty() ? 0 : 1, fmt::format("No facts of these ranks: {}.", missing));
  add(run.duplicates,
      fmt::format("{} of a rank and device that others tell of, too: left out. If they are of another run, "
                  "a folder run=NAME or --run says so.",
                  counted(whole(run.duplicates), "line")));
  add(run.without_rank, fmt::format("{} without a rank: neither the file's name nor anything in it tells.",
                                    counted(whole(run.without_rank), "row")));
  add(run.damaged, fmt::format("{} of a file that ended early or was damaged: compared with no other.",
                               counted(whole(run.damaged), "row")));
  add(run.without_times, fmt::format("{} without times.", counted(whole(run.without_times), "row")));
  return said;
}

// Files of different forms are named: a job writes one.
[[nodiscard]] Status say_forms(FleetRows& rows) {
  std::string text;
  int64_t forms = 0;
  Status done =
      rows.each("SELECT format, COUNT(*) AS number FROM facts GROUP BY format ORDER BY number DESC, format",
                [&](Statement& form) {
                  if (++forms <= 8)
                    text += fmt::format("{}{} {}", forms > 1 ? ", " : "", count_text(form.integer(1)),
                                        form.text(0).empty() ? "unknown" : form.text(0));
                  return true;
                });
  if (!done) return done;
  if (forms > 1 && !say(rows, fmt::format("Files of different forms: {}.", text))) return no_memory();
  return {};
}

}  // namespace

std::string not_read_text(const NotReadCount& count) {
  std::string text;
  if (count.files > 0) text = counted(count.files, "file");
  if (count.files > 0 && count.lines > 0) text += " and ";
  if (count.lines > 0)
    text += fmt::format(
        "{} of {}", counted(count.lines, "line"),
        count.files_of_lines == 1 ? "a file of facts" : count_text(count.files_of_lines) + " files of facts");
  return text.empty() ? text : text + " could not be read";
}

Status add_coverage(FleetRows& rows) {
  model::Fleet& fleet = rows.fleet;
  for (const NotRead& one : rows.facts.not_read()) {
    const model::FleetUnreadable file{rows.text(one.file), rows.text(one.message)};
    if (!fleet.unreadable.push_back(file)) return no_memory();
  }
  const NotReadCount& count = rows.facts.not_read_count();
  fleet.unreadable_count = static_cast<double>(count.files + count.lines);
  const auto missing = missing_ranks(rows);
  if (!missing) return tl::unexpected(missing.error());
  Status done = rows.each(query("coverage"), [&](Statement& line) {
    model::FleetCoverage run;
    run.run = rows.text(line.text(0));
    double* const numbers[] = {&run.rows,          &run.ranks,      &run.lowest_rank,  &run.highest_rank,
                               &run.world_size,    &run.duplicates, &run.without_rank, &run.damaged,
                               &run.without_times, &run.first_us,   &run.last_us};
    int column = 1;
    for (double* const number : numbers) *number = line.number(column++);
    const auto found = missing->find(std::string(line.text(0)));
    run.missing = rows.text(found == missing->end() ? std::string_view() : std::string_view(found->second));
    return fleet.coverage.push_back(run);
  });
  if (!done) return done;
  const std::string not_read = not_read_text(count);
  if (!not_read.empty() && !say(rows, not_read + ".")) return no_memory();
  for (const model::FleetCoverage& run : fleet.coverage) {
    if (!say_of_run(rows, run)) return no_memory();
  }
  if (done = say_forms(rows); !done) return done;
  if (!fleet.curves.common_clock && fleet.row_count > 1 &&
      !say(
          rows,
          "The clocks of the ranks have no moment in common: in the picture each runs from its own beginning."))
    return no_memory();
  return {};
}

}  // namespace gpustrata::fleet
