// What of a fleet matters, in sentences, the most important first; each names its rows.
//
// One finding for each kind and run (of outliers and drift: for each fact and direction): a job where everything is odd is
// told in a few lines, too.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/units.h"
#include "engine/fleet/fleet_rows.h"
#include "engine/fleet/queries.h"

namespace gpustrata::fleet {

using model::FleetFinding;
using model::FleetKind;

namespace {

constexpr size_t kMostRows = 1000;  // that a finding names
constexpr size_t kMostFindingStacks = 5;
constexpr size_t kMostNamed = 3;  // rows in a sentence
constexpr double kUneven = 0.05;  // of the largest: ranks of a tensor-parallel group are alike
constexpr double kUnevenStages =
    0.2;  // stages of a pipeline hold different layers, but should not differ that much
constexpr double kRunDrift = 0.01;  // of the peak before

[[nodiscard]] std::string bytes_text(double bytes) {
  if (!std::isfinite(bytes)) return "an unknown size";
  const double whole = std::clamp(std::round(bytes), -9e18, 9e18);
  return (whole < 0 ? "-" : "") + size_text(static_cast<int64_t>(std::abs(whole)));
}

[[nodiscard]] std::string_view fact_text(std::string_view fact) {
  if (fact == "peak_requested") return "peak";
  if (fact == "peak_reserved") return "reserved memory";
  if (fact == "end_requested") return "memory at the end";
  return "memory at the start";
}

// A finding that is being put together.
struct Draft {
  FleetKind kind = FleetKind::coverage;
  std::string run, title, text;
  bool bad = true;
  std::vector<int32_t> rows;  // at most kMostRows
  size_t more_rows = 0;
  std::vector<model::FleetFindingStack> stacks;
};

// What is remarkable about a row.
struct What {
  std::string fact;
  bool is_above = true;  // of its peers, or of itself before
};

class Findings {
 public:
  explicit Findings(FleetRows& rows) : rows_(rows), fleet_(rows.fleet) {
    rank_ = fleet_.column("rank");
    device_ = fleet_.column("device");
    file_ = fleet_.column("file");
    double ranks = 0;
    for (const model::FleetCoverage& run : fleet_.coverage) ranks += run.ranks;
    thing_ = ranks == static_cast<double>(fleet_.row_count) ? "rank" : "row";
  }

  [[nodiscard]] Status find() {
    using Step = Status (Findings::*)();
    for (const Step step :
         {&Findings::out_of_memory, &Findings::outliers, &Findings::leaks, &Findings::other_outliers,
          &Findings::stragglers, &Findings::drift, &Findings::runs, &Findings::groups, &Findings::coverage}) {
      if (Status done = (this->*step)(); !done) return done;
    }
    return {};
  }

 private:
  // "rank 3", "rank 3 (device 1)", "model.pickle"
  [[nodiscard]] std::string row_text(int32_t row) const {
    if (row < 0) return "a rank";
    const double rank = rank_->numbers[static_cast<size_t>(row)],
                 device = device_->numbers[static_cast<size_t>(row)];
    std::string text = std::isfinite(rank)
                           ? fmt::format("rank {}", std::llround(rank))
                           : std::string(fleet_.strings.view(file_->texts[static_cast<size_t>(row)]));
    if (std::isfinite(device) && device != 0) text += fmt::format(" (device {})", std::llround(device));
    return text;
  }
  // "rank 3, rank 7 and rank 9", "rank 3, rank 7, rank 9 and 12 more"
  [[nodiscard]] std::string rows_text(const std::vector<int32_t>& rows, size_t more) const {
    std::string text;
    const size_t named = rows.size() <= kMostNamed + 1 ? rows.size() : kMostNamed;
    for (size_t i = 0; i < named; ++i) {
      if (i > 0) text += i + 1 == rows.size() ? " and " : ", ";
      text += row_text(rows[i]);
    }
    if (named < rows.size())
      text += fmt::format(" and {} more", count_text(static_cast<int64_t>(rows.size() - named + more)));
    return text;
  }
  // Names of files stay as they are.
  [[nodiscard]] static std::string capital(std::string text) {
    if (text.starts_with("rank ")) text[0] = 'R';
    return text;
  }
  [[nodiscard]] std::string in_run(std::string_view run) const {
    return fleet_.coverage.size() < 2 ? "" : fmt::format(" in run \"{}\"", run);
  }

  [[nodiscard]] Status add(const Draft& draft) {
    FleetFinding finding;
    finding.kind = draft.kind;
    finding.title = rows_.text(capital(draft.title));
    finding.text = rows_.text(capital(draft.text));
    finding.bad = draft.bad;
    finding.rows.first = static_cast<int32_t>(fleet_.rows.size());
    for (const int32_t row : draft.rows) {
      if (row < 0 || finding.rows.count == static_cast<int32_t>(kMostRows)) continue;
      if (!fleet_.rows.push_back(row)) return no_memory();
      ++finding.rows.count;
    }
    finding.stacks.first = static_cast<int32_t>(fleet_.finding_stacks.size());
    for (const model::FleetFindingStack& stack : draft.stacks) {
      if (!fleet_.finding_stacks.push_back(stack)) return no_memory();
      ++finding.stacks.count;
    }
    if (finding.title.is_none() || finding.text.is_none() || !fleet_.findings.push_back(finding))
      return no_memory();
    return {};
  }
  [[nodiscard]] Status add_all(const std::vector<Draft>& drafts) {
    for (const Draft& draft : drafts) {
      if (Status done = add(draft); !done) return done;
    }
    return {};
  }

  [[nodiscard]] Status out_of_memory() {
    std::map<std::string, Draft> drafts;
    Status done = rows_.each(query("first_oom"), [&](Statement& one) {
      const int32_t row = rows_.row(one.integer(1));
      Draft draft;
      draft.kind = FleetKind::oom;
      draft.rows = {row};
      const std::string run(one.text(0));
      const bool is_sure = one.integer(11) < 2 || !are_of_other_clocks();
      draft.title =
          fmt::format("{} ran out of memory{}{}", row_text(row), is_sure ? " first" : "", in_run(run));
      draft.text = fmt::format("It asked for {}", bytes_text(one.number(5)));
      if (!one.text(8).empty()) draft.text += fmt::format(" at {}", one.text(8));
      if (!one.is_null(6))
        draft.text += fmt::format(", with {} free on the device", bytes_text(one.number(6)));
      if (!one.is_null(9)) draft.text += fmt::format(". Its peak is {}", bytes_text(one.number(9)));
      if (!one.is_null(9) && !one.is_null(10))
        draft.text +=
            fmt::format(", the median of the others{} {}",
                        one.integer(12) > 0 ? " of its pipeline stage" : "", bytes_text(one.number(10)));
      draft.text += one.integer(11) > 1
                        ? fmt::format(". {} ran out of memory in all.", counted(one.integer(11), thing_))
                        : ". No other recording shows one.";
      if (!is_sure) draft.text += " Their clocks have no moment in common, so which was first is not sure.";
      drafts[run] = std::move(draft);
      return true;
    });
    if (!done) return done;
    done = rows_.each(query("first_oom_stacks"), [&](Statement& one) {
      Draft& draft = drafts[std::string(one.text(0))];
      if (draft.stacks.size() == kMostFindingStacks || !(one.number(6) > 0)) return true;
      if (draft.stacks.empty())
        draft.text +=
            fmt::format(" Most above the others: {}, {} more.",
                        one.text(3).empty() ? "an unnamed stack" : one.text(3), bytes_text(one.number(6)));
      draft.stacks.push_back(
          {rows_.text(one.text(2)), rows_.text(one.text(3)), one.number(4), one.number(5)});
      return true;
    });
    if (!done) return done;
    for (const auto& [run, draft] : drafts) {
      if (Status added = add(draft); !added) return added;
    }
    return {};
  }

  // The rows of a run that a SELECT lists, in its order, those together of which the same is said: `what` is that, and `says`
  // tells of the first. A row that is told as too high, or too low, is not told so again of another fact.
  template <typename Says>
  [[nodiscard]] Status listed(std::string_view sql, FleetKind kind, int run_column, int id_column,
                              const std::function<What(Statement&)>& what, const Says& says) {
    std::vector<Draft> drafts;
    std::map<std::tuple<std::string, std::string, bool>, size_t> number_of;
    std::set<std::pair<int32_t, bool>> told;
    Status done = rows_.each(sql, [&](Statement& one) {
      const std::string run(one.text(run_column));
      const int32_t row = rows_.row(one.integer(id_column));
      const What said = what(one);
      if (!told.emplace(row, said.is_above).second) return true;
      const auto [found, is_new] =
          number_of.emplace(std::tuple(run, said.fact, said.is_above), drafts.size());
      if (is_new) {
        drafts.emplace_back().kind = kind;
        drafts.back().run = run;
        says(one, run, row, drafts.back());
      }
      std::vector<int32_t>& rows = drafts[found->second].rows;
      if (rows.size() < kMostRows) {
        rows.push_back(row);
      } else {
        ++drafts[found->second].more_rows;
      }
      return true;
    });
    if (!done) return done;
    for (Draft& draft : drafts) {
      if (draft.rows.size() < 2) continue;
      const std::vector<int32_t> others(draft.rows.begin() + 1, draft.rows.end());
      draft.text += fmt::format(" Likewise {}.", rows_text(others, draft.more_rows));
    }
    // The farthest of each run first: what else is far comes behind leaks.
    std::set<std::string> runs;
    for (const Draft& draft : drafts) {
      if (kind == FleetKind::outlier && !runs.insert(draft.run).second) {
        other_outliers_.push_back(draft);
      } else if (Status added = add(draft); !added) {
        return added;
      }
    }
    return {};
  }
  [[nodiscard]] Status other_outliers() { return add_all(other_outliers_); }

  [[nodiscard]] Status outliers() {
    const auto what = [](Statement& one) {
      return What{std::string(one.text(0)), one.number(5) > one.number(6)};
    };
    return listed(query("outliers"), FleetKind::outlier, 2, 1, what,
                  [&](Statement& one, const std::string& run, int32_t row, Draft& draft) {
                    const double value = one.number(5), median = one.number(6);
                    draft.title = fmt::format("{} is far from the others{}", row_text(row), in_run(run));
                    draft.text =
                        fmt::format("Its {} is {}, {} {} the median of {} like it ({}).",
                                    fact_text(one.text(0)), bytes_text(value),
                                    bytes_text(std::abs(value - median)), value > median ? "above" : "below",
                                    counted(one.integer(9), thing_), bytes_text(median));
                  });
  }

  [[nodiscard]] Status stragglers() {
    return listed(
        query("stragglers"), FleetKind::fragmentation, 1, 0,
        [](Statement&) {
          return What{"", true};
        },
        [&](Statement& one, const std::string& run, int32_t row, Draft& draft) {
          draft.title = fmt::format("{} is more fragmented than the others{}", row_text(row), in_run(run));
          draft.text = fmt::format(
              "{:.1f} % of what it reserved is in pieces that cannot go back, the largest of them apart; the median is "
              "{:.1f} %. In all {} are held back.",
              100 * one.number(4), 100 * one.number(6), bytes_text(one.number(5)));
        });
  }

  [[nodiscard]] Status drift() {
    return listed(
        query("drift_steps"), FleetKind::drift, 1, 0,
        [](Statement& one) {
          return What{"", one.number(7) > 0};
        },
        [&](Statement& one, const std::string& run, int32_t row, Draft& draft) {
          const double change = one.number(7);
          draft.title = fmt::format("The peaks of {} are {} in its last steps than in its first{}",
                                    row_text(row), change > 0 ? "higher" : "lower", in_run(run));
          draft.text =
              fmt::format("From {} in the first third of {} steps to {} in the last.",
                          bytes_text(one.number(5)), count_text(one.integer(4)), bytes_text(one.number(6)));
          draft.bad = change > 0;
        });
  }

  // Leaks of some rows only; then those that all have.
  [[nodiscard]] Status leaks() {
    std::map<std::pair<bool, std::string>, Draft> drafts;
    std::map<std::pair<bool, std::string>, double> live;
    std::map<std::pair<std::string, std::string>, std::pair<bool, std::string>> draft_of;  // run, stack
    Status done = rows_.each(query("leaks"), [&](Statement& one) {
      const std::string run(one.text(0));
      const int64_t leaking = one.integer(3), of_rows = one.integer(4);
      const std::pair<bool, std::string> key(2 * leaking > of_rows, run);  // most ranks leak it
      Draft& draft = drafts[key];
      live[key] += one.number(5);
      draft_of[{run, std::string(one.text(1))}] = key;
      if (draft.stacks.size() == kMostFindingStacks) return true;
      if (draft.stacks.empty()) {
        const int32_t row = rows_.row(one.integer(8));
        draft.kind = FleetKind::leak;
        draft.rows = {row};
        const std::string who = one.text(2).empty() ? "a stack without a name" : std::string(one.text(2));
        draft.title = key.first ? fmt::format("{} leaks on {} of {}{}", who, count_text(leaking),
                                              counted(of_rows, thing_), in_run(run))
                                : fmt::format("{} leaks{}", row_text(row), in_run(run));
        draft.text = fmt::format("{} keeps {} more in every step, {} at the end; {} of {} do.", who,
                                 bytes_text(one.number(7)), bytes_text(one.number(6)), count_text(leaking),
                                 counted(of_rows, thing_));
      }
      model::FleetFindingStack stack;
      stack.stack = rows_.text(one.text(1));
      stack.who = rows_.text(one.text(2));
      stack.value = one.number(6);
      draft.stacks.push_back(stack);
      return true;
    });
    if (!done) return done;
    done = rows_.each(
        "SELECT facts.run, leak_stacks.stack, facts.id FROM leak_stacks JOIN facts ON facts.id = leak_stacks.id "
        "WHERE leak_stacks.stack IS NOT NULL ORDER BY facts.leak_bytes DESC, facts.place",
        [&](Statement& one) {
          const auto found = draft_of.find({std::string(one.text(0)), std::string(one.text(1))});
          if (found == draft_of.end()) return true;
          std::vector<int32_t>& rows = drafts[found->second].rows;
          const int32_t row = rows_.row(one.integer(2));
          if (rows.size() < kMostRows && std::find(rows.begin(), rows.end(), row) == rows.end())
            rows.push_back(row);
          return true;
        });
    if (!done) return done;
    for (const auto& [key, draft] : drafts) {
      if (Status added = add(draft); !added) return added;
    }
    return {};
  }

  [[nodiscard]] Status runs() {
    return rows_.each(query("drift_runs"), [&](Statement& one) {
      const double share = one.number(6), change = one.number(5);
      if (!(std::abs(share) >= kRunDrift)) return true;
      Draft draft;
      draft.kind = FleetKind::run;
      draft.bad = change > 0;
      draft.rows = {rows_.row(one.integer(8))};
      draft.title =
          fmt::format("Run \"{}\" peaks {} \"{}\"", one.text(0), change > 0 ? "above" : "below", one.text(1));
      draft.text = fmt::format("By {} ({:+.1f} %) in the median of {}: {} against {}. Most at {}: {}.",
                               bytes_text(std::abs(change)), 100 * share, counted(one.integer(2), thing_),
                               bytes_text(one.number(3)), bytes_text(one.number(4)),
                               row_text(draft.rows.front()), bytes_text(one.number(7)));
      return static_cast<bool>(add(draft));
    });
  }

  [[nodiscard]] Status groups() {
    std::map<std::string, std::vector<size_t>> stages;  // of a run: its groups of kind pp
    for (size_t i = 0; i < fleet_.groups.size(); ++i) {
      const model::FleetGroup group = fleet_.groups[i];
      const std::string kind(fleet_.strings.view(group.kind)), run(fleet_.strings.view(group.run));
      if (kind == "pp") stages[run].push_back(i);
      if (kind != "tp" || !(group.most_peak - group.least_peak > kUneven * group.most_peak)) continue;
      Draft draft;
      draft.kind = FleetKind::group;
      draft.title =
          fmt::format("Tensor-parallel group {} is uneven{}", fleet_.strings.view(group.name), in_run(run));
      draft.text =
          fmt::format("Peaks from {} to {} ({}), where equal ones are expected.",
                      bytes_text(group.least_peak), bytes_text(group.most_peak), row_text(group.most_row));
      draft.rows = {group.most_row};
      if (Status done = add(draft); !done) return done;
    }
    for (const auto& [run, numbers] : stages) {
      const auto by_median = [&](size_t one, size_t other) {
        return fleet_.groups[one].median_peak < fleet_.groups[other].median_peak;
      };
      const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end(), by_median);
      const model::FleetGroup low = fleet_.groups[*least], high = fleet_.groups[*most];
      if (!(high.median_peak - low.median_peak > kUnevenStages * high.median_peak)) continue;
      Draft draft;
      draft.kind = FleetKind::group;
      draft.bad = false;
      draft.title = fmt::format("Pipeline stages hold different amounts{}", in_run(run));
      draft.text = fmt::format("The median peak of stage {} is {}, that of stage {} {}.",
                               fleet_.strings.view(high.name), bytes_text(high.median_peak),
                               fleet_.strings.view(low.name), bytes_text(low.median_peak));
      draft.rows = {high.most_row, low.most_row};
      if (Status done = add(draft); !done) return done;
    }
    return {};
  }

  // Of one run; of several the clocks are those of other days.
  [[nodiscard]] bool are_of_other_clocks() const {
    return !fleet_.curves.common_clock && fleet_.coverage.size() == 1 &&
           !(fleet_.coverage[0].without_times > 0);
  }
  // Rows of files that ended early or were damaged.
  [[nodiscard]] Status damaged_files() {
    std::map<std::string, Draft> drafts;
    Status done = rows_.each("SELECT run, id FROM facts WHERE damaged ORDER BY place", [&](Statement& one) {
      Draft& draft = drafts[std::string(one.text(0))];
      if (draft.rows.size() == kMostRows)
        ++draft.more_rows;
      else
        draft.rows.push_back(rows_.row(one.integer(1)));
      return true;
    });
    if (!done) return done;
    for (auto& [run, draft] : drafts) {
      draft.kind = FleetKind::coverage;
      draft.title = fmt::format("Damaged: {}{}", rows_text(draft.rows, draft.more_rows), in_run(run));
      draft.text =
          "The file ended early or was damaged, so no number of it is whole: it is not compared with the others, and "
          "may have run out of memory, too.";
      if (Status added = add(draft); !added) return added;
    }
    return {};
  }

  [[nodiscard]] Status coverage() {
    if (Status done = damaged_files(); !done) return done;
    for (const model::FleetCoverage& run : fleet_.coverage) {
      const std::string_view missing = fleet_.strings.view(run.missing);
      if (missing.empty()) continue;
      Draft draft;
      draft.kind = FleetKind::coverage;
      draft.title = fmt::format("Ranks are missing{}", in_run(fleet_.strings.view(run.run)));
      draft.text = fmt::format("No facts of {}. What they did is not known.", missing);
      if (Status done = add(draft); !done) return done;
    }
    if (fleet_.unreadable_count < 1) return {};
    Draft draft;
    draft.kind = FleetKind::coverage;
    draft.title = not_read_text(rows_.facts.not_read_count());
    draft.text = "What they would have said is not in any number here.";
    if (!fleet_.unreadable.empty())
      draft.text += fmt::format(" The first: {}: {}", fleet_.strings.view(fleet_.unreadable[size_t{0}].file),
                                fleet_.strings.view(fleet_.unreadable[size_t{0}].message));
    return add(draft);
  }

  FleetRows& rows_;
  model::Fleet& fleet_;
  const model::FleetColumn* rank_ = nullptr;
  const model::FleetColumn* device_ = nullptr;
  const model::FleetColumn* file_ = nullptr;
  std::vector<Draft> other_outliers_;
  std::string_view thing_;  // what a row is: a rank, if each has one of its own
};

}  // namespace

Status add_findings(FleetRows& rows) { return Findings(rows).find(); }

}  // namespace gpustrata::fleet
