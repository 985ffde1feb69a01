#include "engine/analysis/series/operator_compare.h"

#include <algorithm>
#include <string>

#include "engine/analysis/series/series_points.h"
#include "engine/base/saturating.h"
#include "engine/base/string_pool.h"

namespace gpustrata::analysis {

using model::RowRange;

namespace {

// Calls of one operator in one module, in the order of their run.
class Calls {
 public:
  explicit Calls(Budget& budget)
      : keys_(budget), first_(budget), last_(budget), next_(budget), count_(budget) {}

  // False: the budget refuses.
  [[nodiscard]] bool add(const OperatorName& name, int32_t call) {
    const auto key = key_of(name);
    if (!key) return false;
    if (key->index() == first_.size()) {
      if (!first_.push_back(-1) || !last_.push_back(-1) || !count_.push_back(0)) return false;
    }
    if (!next_.push_back(-1)) return false;
    (last_[*key] < 0 ? first_[*key] : next_[last_[*key]]) = call;
    last_[*key] = call;
    return true;
  }
  struct Taken {
    int32_t call = -1;  // -1 = there is none more
    int32_t ordinal = 0;
  };
  // The next call of that name. None: the budget refuses.
  [[nodiscard]] std::optional<Taken> take(const OperatorName& name) {
    const auto key = key_of(name);
    if (!key) return std::nullopt;
    if (key->index() == first_.size()) {
      if (!first_.push_back(-1) || !last_.push_back(-1) || !count_.push_back(0)) return std::nullopt;
    }
    const int32_t call = first_[*key];
    if (call >= 0) first_[*key] = next_[call];
    return Taken{call, count_[*key]++};
  }

 private:
  [[nodiscard]] std::optional<StringId> key_of(const OperatorName& name) {
    text_.assign(name.module);
    text_ += '\0';
    text_ += name.op;
    const StringId id = keys_.intern(text_);
    return id.is_none() ? std::nullopt : std::optional(id);
  }

  std::string text_;
  StringPool keys_;
  Column<int32_t> first_, last_;  // by key
  Column<int32_t> next_;          // by call
  Column<int32_t> count_;         // by key: taken so far
};

// One run: its operators by number of call.
struct Run {
  explicit Run(const OperatorRun& of)
      : recording(of.recording),
        rows(points_of(of.recording, find_series(of.recording, of.part, "allocated"))) {}

  [[nodiscard]] OperatorName name(int32_t call) const {
    return parse_operator(recording.strings.view(recording.points.label[rows.first + call]));
  }
  [[nodiscard]] int64_t op(int32_t call) const { return recording.points.time[rows.first + call]; }
  // Generated; 0 of the first.
  [[nodiscard]] int64_t bytes(int32_t call) const {
    if (call == 0) return 0;
    const model::PointTable& points = recording.points;
    return saturated_difference(points.value[rows.first + call], points.value[rows.first + call - 1]);
  }
  [[nodiscard]] int64_t peak() const {
    int64_t highest = 0;
    for (int32_t row = rows.first; row < rows.end(); ++row)
      highest = std::max(highest, recording.points.value[row]);
    return highest;
  }

  const model::Recording& recording;
  RowRange rows;
};

[[nodiscard]] tl::unexpected<Error> no_memory() {
  return fail(ErrorCode::limit_exceeded, -1, "The operators of both runs do not fit into memory.");
}

[[nodiscard]] bool add_module(OperatorComparison& comparison, StringPool& known, const Run& run, int32_t call,
                              int64_t BeforeAfter::*side) {
  const std::string_view module = run.name(call).module;
  const StringId id = known.intern(module);
  if (id.is_none()) return false;
  if (id.index() == comparison.modules.size() && !comparison.modules.push_back({module, {}, {}}))
    return false;
  ModuleChange& change = comparison.modules[id];
  ++(change.ops.*side);
  add_saturated(change.bytes.*side, run.bytes(call));
  return true;
}

}  // namespace

Result<OperatorComparison> compare_operators(const OperatorRun& before_run, const OperatorRun& after_run,
                                             size_t most) {
  const Run before(before_run), after(after_run);
  Budget& budget = after.recording.budget;
  OperatorComparison comparison(budget);
  comparison.ops = {before.rows.count, after.rows.count};
  comparison.peak = {before.peak(), after.peak()};
  Calls calls(budget);
  StringPool modules(budget);
  Column<char> is_matched(budget);
  if (!is_matched.resize(static_cast<size_t>(before.rows.count), 0)) return no_memory();
  for (int32_t call = 0; call < before.rows.count; ++call) {
    if (!calls.add(before.name(call), call) ||
        !add_module(comparison, modules, before, call, &BeforeAfter::before))
      return no_memory();
  }
  const auto add = [&](const OperatorChange& change) {
    comparison.changed += change.bytes.growth() == 0 ? 0 : 1;
    return change.bytes.growth() == 0 || comparison.changes.push_back(change);
  };
  for (int32_t call = 0; call < after.rows.count; ++call) {
    const OperatorName name = after.name(call);
    const auto taken = calls.take(name);
    if (!taken || !add_module(comparison, modules, after, call, &BeforeAfter::after)) return no_memory();
    OperatorChange change{name, taken->ordinal, -1, after.op(call), {0, after.bytes(call)}};
    if (taken->call >= 0) {
      ++comparison.matched;
      is_matched[taken->call] = 1;
      change.op_before = before.op(taken->call);
      change.bytes.before = before.bytes(taken->call);
    } else {
      ++comparison.only_after;
    }
    if (!add(change)) return no_memory();
  }
  // What is left of BEFORE has the ordinals behind those that were taken.
  for (int32_t call = 0; call < before.rows.count; ++call) {
    if (is_matched[call] != 0) continue;
    ++comparison.only_before;
    const OperatorName name = before.name(call);
    const auto taken = calls.take(name);
    if (!taken) return no_memory();
    if (!add({name, taken->ordinal, before.op(call), -1, {before.bytes(call), 0}})) return no_memory();
  }
  std::sort(comparison.changes.data(), comparison.changes.data() + comparison.changes.size(),
            [](const OperatorChange& a, const OperatorChange& b) {
              if (a.bytes.growth() != b.bytes.growth()) return a.bytes.growth() > b.bytes.growth();
              return a.op_after != b.op_after ? a.op_after < b.op_after : a.op_before < b.op_before;
            });
  comparison.changes.truncate(most);
  std::sort(comparison.modules.data(), comparison.modules.data() + comparison.modules.size(),
            [](const ModuleChange& a, const ModuleChange& b) {
              if (a.bytes.growth() != b.bytes.growth()) return a.bytes.growth() > b.bytes.growth();
              return a.module < b.module;
            });
  return comparison;
}

}  // namespace gpustrata::analysis
