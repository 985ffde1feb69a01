#include "engine/answers/ops/attached_ops.h"

#include <fmt/core.h>

#include "engine/answers/text/text_out.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

namespace {

// "3.2 s", whole milliseconds below 10 s.
[[nodiscard]] std::string time_between(int64_t from_ns, int64_t to_ns) {
  const double seconds = (static_cast<double>(to_ns) - static_cast<double>(from_ns)) / 1e9;
  if (seconds < 10) return fmt::format("{} ms", static_cast<int64_t>(seconds * 1000));
  return fmt::format("{} s", static_cast<int64_t>(seconds));
}

}  // namespace

void describe(Members& m, const replay::AttachedOps& attached) {
  m.count("allocations", attached.allocations);
  m.count({"by_record", "Found by the trace's own record of the allocation."}, attached.by_record);
  m.count({"by_time", "Found by the clock."}, attached.by_time);
  m.count("on_several_threads", attached.on_several_threads);
  m.count("in_no_op", attached.in_no_op);
  m.count({"outside", "Before or after the trace."}, attached.outside);
  m.count("without_time", attached.without_time);
}

std::string to_text(const replay::AttachedOps& attached) {
  const int64_t named = attached.by_record + attached.by_time;
  std::string text = fmt::format(
      "{} of {} allocations have an op of the trace: {} by its memory records, {} by time", count_text(named),
      count_text(attached.allocations), count_text(attached.by_record), count_text(attached.by_time));
  const auto add = [&](int64_t count, std::string_view why) {
    if (count > 0) text += fmt::format("; {} {}", count_text(count), why);
  };
  add(attached.on_several_threads, "while ops ran on several threads");
  add(attached.in_no_op, "while no op ran");
  add(attached.outside, "before or after the trace");
  add(attached.without_time, "without a time");
  text += ".\n";
  if (named > 0 || !attached.first_allocation_ns || !attached.first_op_ns || !attached.last_op_ns)
    return text;
  const int64_t first = *attached.first_allocation_ns, last = attached.last_allocation_ns.value_or(first);
  if (last < *attached.first_op_ns)
    text += fmt::format("The snapshot ends {} before the trace begins.",
                        time_between(last, *attached.first_op_ns));
  if (first > *attached.last_op_ns)
    text += fmt::format("The snapshot begins {} after the trace ends.",
                        time_between(*attached.last_op_ns, first));
  if (last < *attached.first_op_ns || first > *attached.last_op_ns)
    text +=
        " If they are of one run, say with --offset how many microseconds to add to the snapshot's times.\n";
  return text;
}

}  // namespace gpustrata::answers
