#include "engine/analysis/ops/profiler_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "engine/analysis/ops/range_sums.h"
#include "engine/base/memory_refused.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

using model::SpanKind;

namespace {

constexpr std::array<std::string_view, 8> kLeftOut = {"[memory]",
                                                      "[OutOfMemory]",
                                                      "profiler::_record_function_enter",
                                                      "profiler::_record_function_enter_new",
                                                      "profiler::_record_function_exit",
                                                      "aten::is_leaf",
                                                      "aten::output_nr",
                                                      "aten::_version"};
constexpr std::string_view kStep = "ProfilerStep#";

struct Record {
  int64_t time;  // nanoseconds since 1970
  int64_t cpu;
  int64_t device;
};

// The double nearest to ns / 1000: PyTorch's float microseconds.
[[nodiscard]] double microseconds(int64_t ns) {
  const double about = static_cast<double>(ns) / 1000.0;
  // Doubles of this size are multiples of 2^-10 or coarser, or far from any doubt.
  constexpr double kExact = 1024.0;
  double best = about;
  const auto distance = [&](double candidate) {
    const auto scaled = static_cast<__int128>(candidate * kExact) * 1000;
    const __int128 gap = scaled - static_cast<__int128>(ns) * 1024;
    return gap < 0 ? -gap : gap;
  };
  if (std::abs(about) < 1e12) return about;
  for (const double candidate : {std::nextafter(about, 0.0), std::nextafter(about, INFINITY)}) {
    if (distance(candidate) < distance(best)) best = candidate;
  }
  return best;
}

// What an end of an interval is once it was microseconds: the first and the last nanosecond that are not outside.
[[nodiscard]] int64_t whole(double ns) {
  constexpr double kMost = 9.2e18;
  return static_cast<int64_t>(std::clamp(ns, -kMost, kMost));
}
[[nodiscard]] int64_t first_inside(int64_t ns) { return whole(std::ceil(microseconds(ns) * 1000.0)); }
[[nodiscard]] int64_t last_inside(int64_t ns) { return whole(std::floor(microseconds(ns) * 1000.0)); }

[[nodiscard]] bool has_name(const model::Part& part, std::string_view name) {
  return part.name == name || part.name.ends_with(std::string("/") + std::string(name));
}

class Maker {
 public:
  Maker(const model::Recording& recording, bool by_shapes) : rec_(recording), by_shapes_(by_shapes) {}

  [[nodiscard]] Result<ProfilerTable> run() {
    if (!collect_records() || !collect_spans() || !find_parents() || !add_rows() || !add_unheld()) {
      return not_enough_memory(rec_.budget, "for the profiler's table");
    }
    return std::move(found_);
  }

 private:
  struct Held {
    WideSum cpu = 0, device = 0;
  };

  [[nodiscard]] bool collect_records() {
    for (const model::Part& part : rec_.parts) {
      const bool is_cpu = has_name(part, "cpu") || has_name(part, "mkldnn") || has_name(part, "ideep");
      const bool is_device =
          has_name(part, "cuda") || has_name(part, "hip") || has_name(part, "privateuseone");
      for (const model::DeviceTrace& trace : part.traces) {
        if (trace.first_record < 0) continue;
        for (int32_t row = trace.events.first; row < trace.events.end(); ++row) {
          const trace::Action action = rec_.events.action[row];
          if (action == trace::Action::oom) continue;
          const int64_t size = rec_.events.size[row];
          const int64_t bytes = action == trace::Action::alloc ? size : -size;
          const int64_t time = saturated_sum(part.clock.base_ns, rec_.events.time[row]);
          if (!records_.push_back({time, is_cpu ? bytes : 0, is_device ? bytes : 0})) return false;
        }
      }
    }
    std::sort(records_.data(), records_.data() + records_.size(),
              [](const Record& a, const Record& b) { return a.time < b.time; });
    for (const Record& record : records_) {
      if (!cpu_.add(record.cpu) || !device_.add(record.device)) return false;
    }
    return held_.resize(records_.size() + 1, 0);
  }

  [[nodiscard]] size_t first_record_from(int64_t time) const {
    const auto* found =
        std::lower_bound(records_.begin(), records_.end(), time,
                         [](const Record& record, int64_t wanted) { return record.time < wanted; });
    return static_cast<size_t>(found - records_.begin());
  }

  [[nodiscard]] static bool is_on_host(SpanKind kind) { return is_op(kind) || kind == SpanKind::runtime; }

  // Rows of SpanTable that are events of the profiler on the host, and what they hold.
  [[nodiscard]] bool collect_spans() {
    for (const model::Part& part : rec_.parts) {
      const bool is_known =
          std::any_of(seen_.begin(), seen_.end(), [&](model::RowRange r) { return r == part.spans; });
      if (part.kind != model::PartKind::trace || is_known) continue;
      seen_.push_back(part.spans);
      for (int32_t row = part.spans.first; row < part.spans.end(); ++row) {
        if (!is_on_host(rec_.spans.kind[row]) || !spans_.push_back(row)) {
          if (is_on_host(rec_.spans.kind[row])) return false;
          continue;
        }
        if (!parent_.push_back(-1) || !children_.push_back(0) || !totals_of(row, part.clock.base_ns))
          return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool totals_of(int32_t row, int64_t base) {
    const int64_t start = saturated_sum(base, rec_.spans.start[row]);
    const int64_t end = saturated_sum(start, std::max<int64_t>(rec_.spans.duration[row], 0));
    Held held;
    if (!records_.empty()) {
      const size_t first = first_record_from(first_inside(start));
      const size_t behind = std::max(first, first_record_from(saturated_sum(last_inside(end), 1)));
      held = {cpu_.sum(first, behind), device_.sum(first, behind)};
      ++held_[first];
      --held_[behind];
    }
    return totals_.push_back(held);
  }

  [[nodiscard]] int64_t end_of(int32_t row) const {
    return saturated_sum(rec_.spans.start[row], std::max<int64_t>(rec_.spans.duration[row], 0));
  }

  // Indices of spans_, which are in order of thread and start.
  [[nodiscard]] bool find_parents() {
    Column<int32_t> open(rec_.budget);
    for (int32_t i = 0; i < static_cast<int32_t>(spans_.size()); ++i) {
      const int32_t row = spans_[i];
      if (i > 0 && rec_.spans.thread[row] != rec_.spans.thread[spans_[i - 1]]) open.clear();
      const auto holds = [&](int32_t other) {
        return rec_.spans.start[row] < end_of(spans_[other]) && end_of(row) <= end_of(spans_[other]);
      };
      while (!open.empty() && !holds(open.back())) open.pop_back();
      if (!open.empty()) {
        parent_[i] = open.back();
        ++children_[open.back()];
      }
      if (!open.push_back(i)) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_left_out(std::string_view name) const {
    return std::find(kLeftOut.begin(), kLeftOut.end(), name) != kLeftOut.end();
  }

  [[nodiscard]] int32_t row_of(int32_t span) {
    const std::string_view name = rec_.strings.view(rec_.spans.name[span]);
    ProfilerRow row;
    row.name = rec_.spans.name[span];
    row.is_annotation = rec_.spans.kind[span] == SpanKind::annotation;
    row.is_step = name.starts_with(kStep);
    if (by_shapes_) row.shapes = rec_.spans.shapes[span];
    const int32_t kind = (row.is_annotation ? 1 : 0) + (row.is_step ? 2 : 0);
    const int32_t key = keys_.intern({row.is_step ? -1 : row.name.value, kind});
    const int32_t id = key < 0 ? -1 : shapes_.intern({key, row.shapes.value});
    if (id == static_cast<int32_t>(found_.rows.size()) && !found_.rows.push_back(row)) return -1;
    return id;
  }

  [[nodiscard]] bool add_rows() {
    Column<uint8_t> merged(rec_.budget);
    if (!merged.resize(spans_.size(), 0)) return false;
    Column<Held> self(rec_.budget);
    if (!self.append(totals_.span())) return false;
    for (int32_t i = 0; i < static_cast<int32_t>(spans_.size()); ++i) {
      // Parents come first: one that was merged away stands for its own parent.
      if (parent_[i] >= 0 && merged[parent_[i]] != 0) parent_[i] = parent_[parent_[i]];
      const int32_t parent = parent_[i];
      if (parent >= 0 && children_[parent] == 1 &&
          rec_.spans.name[spans_[parent]] == rec_.spans.name[spans_[i]]) {
        merged[i] = 1;
        children_[parent] = children_[i];
      }
    }
    for (size_t i = 0; i < spans_.size(); ++i) {
      if (merged[i] != 0 || parent_[i] < 0) continue;
      self[parent_[i]].cpu -= totals_[i].cpu;
      self[parent_[i]].device -= totals_[i].device;
    }
    for (size_t i = 0; i < spans_.size(); ++i) {
      if (merged[i] != 0 || is_left_out(rec_.strings.view(rec_.spans.name[spans_[i]]))) continue;
      const int32_t at = row_of(spans_[i]);
      if (at < 0) return false;
      ProfilerRow& row = found_.rows[at];
      ++row.calls;
      add_saturated(row.cpu, narrow(totals_[i].cpu));
      add_saturated(row.device, narrow(totals_[i].device));
      add_saturated(row.self_cpu, narrow(self[i].cpu));
      add_saturated(row.self_device, narrow(self[i].device));
      found_.shows_devices = found_.shows_devices || self[i].device > 0;
    }
    return true;
  }

  [[nodiscard]] bool add_unheld() {
    ProfilerRow row;
    int64_t open = 0;
    for (size_t i = 0; i < records_.size(); ++i) {
      open += held_[i];
      if (open > 0) continue;
      ++row.calls;
      add_saturated(row.cpu, records_[i].cpu);
      add_saturated(row.device, records_[i].device);
      found_.shows_devices = found_.shows_devices || records_[i].device > 0;
    }
    row.self_cpu = row.cpu;
    row.self_device = row.device;
    return row.calls == 0 || found_.rows.push_back(row);
  }

  const model::Recording& rec_;
  bool by_shapes_;
  ProfilerTable found_{rec_.budget};
  Column<Record> records_{rec_.budget};
  RangeSums cpu_{rec_.budget}, device_{rec_.budget};
  Column<int32_t> held_{rec_.budget};  // changes of how many spans hold a record
  std::vector<model::RowRange> seen_;
  Column<int32_t> spans_{rec_.budget}, parent_{rec_.budget}, children_{rec_.budget};
  Column<Held> totals_{rec_.budget};
  PairIds keys_{rec_.budget}, shapes_{rec_.budget};
};

}  // namespace

Result<ProfilerTable> find_profiler_table(const model::Recording& recording, bool by_shapes) {
  return Maker(recording, by_shapes).run();
}

}  // namespace gpustrata::analysis
