// calls_bench FILE [TIMES=5]: the questions of flame graph, table, range, memory and shares, as a session answers them, in
// milliseconds of processor time (median). Every answer is checked: parts add up to the level that the timeline has.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

#include "engine/analysis/calls/call_tree_layout.h"
#include "engine/session/session.h"

namespace {

using namespace gpustrata;
using analysis::BlocksOf;
using analysis::WeightBy;

[[nodiscard]] bool read_file(session::Session& session, const char* path) {
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  bool good = true;
  for (;;) {
    const auto room = session.writable();
    const size_t bytes = std::fread(room.data(), 1, room.size(), file);
    if (bytes == 0) break;
    good = good && session.commit(bytes).has_value();
  }
  std::fclose(file);
  return good && session.finish().has_value();
}

// Median of `times` runs; each must say that its answer is right.
template <typename Work>
[[nodiscard]] bool measure(std::string_view name, int times, bool& is_first, Work work) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    const std::clock_t start = std::clock();
    const bool right = work(i);
    all.push_back(static_cast<double>(std::clock() - start) * (1e3 / CLOCKS_PER_SEC));
    if (!right) {
      fmt::print(stderr, "wrong: {}\n", name);
      return false;
    }
  }
  std::nth_element(all.begin(), all.begin() + times / 2, all.end());
  fmt::print("{}\"{}\":{:.3f}", is_first ? "{" : ",", name, all[static_cast<size_t>(times) / 2]);
  is_first = false;
  return true;
}

[[nodiscard]] bool run(session::View& view, const model::Recording& recording, int times) {
  const int32_t last = view.event_count() - 1, peak = view.peak_event();
  const auto level = [&](int32_t event) {
    return static_cast<double>(view.device().lives().level_after(event));
  };
  const auto tree = [&](BlocksOf of, WeightBy by, int32_t from, int32_t to, bool inverted) {
    session::TreeWanted wanted;
    wanted.asked.weights = {of, by, from, to};
    wanted.asked.inverted = inverted;
    return view.calls(wanted);
  };
  bool is_first = true, good = true;
  // Another event each time: nothing is kept from the one before.
  const auto near = [&](int32_t event, int i) { return std::max(event - i, 0); };
  good = good && measure("first", 1, is_first, [&](int) {
           return tree(BlocksOf::moment, WeightBy::bytes, -1, last, false).has_value();
         });
  for (const bool inverted : {false, true}) {
    good = good && measure(inverted ? "moment_inverted" : "moment", times, is_first, [&](int i) {
             const int32_t event = near(peak, i + 1);
             const auto found = tree(BlocksOf::moment, WeightBy::bytes, -1, event, inverted);
             if (!found) return false;
             const auto layout = analysis::lay_out(recording, found->tree, {{}, 1600, 200});
             return layout.has_value() && found->tree.root().width == level(event);
           });
  }
  good = good && measure("range", times, is_first, [&](int i) {
           const auto all = tree(BlocksOf::allocated, WeightBy::bytes, near(last / 3, i), last, false);
           if (!all) return false;
           const auto totals = analysis::find_range_totals(view.device().lives(), near(last / 3, i), last);
           return all->tree.root().width ==
                  static_cast<double>(totals.kept.bytes) + static_cast<double>(totals.passed.bytes);
         });
  good = good && measure("difference", times, is_first, [&](int i) {
           const int32_t from = near(last / 2, i);
           const auto found = tree(BlocksOf::difference, WeightBy::bytes, from, peak, false);
           if (!found) return false;
           const auto& root = found->tree.root();
           return root.grew - (root.width - root.grew) == level(peak) - level(from);
         });
  good = good && measure("table", times, is_first, [&](int i) {
           session::TreeWanted wanted;
           wanted.asked.weights = {BlocksOf::moment, WeightBy::bytes, -1, near(peak, i)};
           const auto rows = view.call_rows(wanted, {});
           double self = 0;
           for (const analysis::FrameRow& row : *rows) self += row.self;
           return rows.has_value() && self == level(near(peak, i));
         });
  for (const auto& [name, by] : {std::pair{"holders_by_line", analysis::By::line},
                                 {"holders_by_module", analysis::By::module},
                                 {"holders_by_category", analysis::By::category}}) {
    const auto ask = [&](int32_t event) {
      const auto found = view.holders({by, event, {}, {}});
      return found.has_value() && static_cast<double>(found->found.sums.bytes()) == level(event);
    };
    good = good && measure(fmt::format("{}_first", name), 1, is_first, [&](int) { return ask(peak); });
    good = good && measure(name, times, is_first, [&](int i) { return ask(near(peak, i)); });
  }
  for (const auto& [name, by] : {std::pair{"shares_by_stack", analysis::GroupBy::stack},
                                 {"shares_by_size", analysis::GroupBy::size}}) {
    const auto ask = [&](int32_t event) {
      const auto found = view.shares(by, event, {});
      if (!found) return false;
      int64_t bytes = 0;
      for (const auto& kind : found->kinds) bytes += kind.bytes;
      return static_cast<double>(bytes) == level(event);
    };
    good = good && measure(fmt::format("{}_first", name), 1, is_first, [&](int) { return ask(peak); });
    good = good && measure(name, times, is_first, [&](int i) { return ask(near(peak, i)); });
    good = good && measure(fmt::format("{}_anywhere", name), times, is_first, [&](int i) {
             return ask(static_cast<int32_t>(int64_t{last} * (i + 1) / (times + 1)));
           });
  }
  fmt::print(",\"events\":{},\"blocks\":{},\"stacks\":{}}}\n", view.event_count(), view.rank_count(),
             recording.stacks.size());
  return good;
}

}  // namespace

int main(int count, char** arguments) {
  const int times = count > 2 ? std::max(std::atoi(arguments[2]), 1) : 5;
  session::Session session(int64_t{3} << 30);
  if (count < 2 || !read_file(session, arguments[1])) return 1;
  const auto opened = session.open_view(0, 0, session::Bands::blocks);
  return opened && run(*session.view(*opened), session.recording(), times) ? 0 : 1;
}
