#include "engine/analysis/ops/op_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "engine/analysis/ops/range_sums.h"
#include "engine/base/memory_refused.h"
#include "engine/base/saturating.h"
#include "engine/io/readers/trace/trace_matching.h"
#include "engine/replay/address_table.h"

namespace gpustrata::analysis {

using trace::Action;

namespace {

// Devices times spans: a file that invents a thousand devices for a million ops gets the first ones.
constexpr int64_t kMostWork = int64_t{1} << 30;

// The first place in times[from, end) that is not before `time`, for questions that mostly come in order.
[[nodiscard]] size_t first_from(std::span<const int64_t> times, size_t from, size_t end, int64_t time) {
  size_t step = 1;
  size_t low = from;
  while (low < end && times[low] < time) {
    from = low + 1;
    low += step;
    step *= 2;
  }
  return static_cast<size_t>(std::lower_bound(times.begin() + static_cast<ptrdiff_t>(from),
                                              times.begin() + static_cast<ptrdiff_t>(std::min(low, end)),
                                              time) -
                             times.begin());
}

// The first moment after it.
[[nodiscard]] int64_t end_of(const model::SpanTable& spans, int32_t row) {
  return saturated_sum(spans.start[row], std::max<int64_t>(spans.duration[row], 1));
}

// Sums before they are cut to 64 bits.
struct Sums {
  OpRow row;
  WideSum net = 0, self = 0, gross = 0, at_peak = 0, at_return = 0, peak = 0;
};

class DeviceSums {
 public:
  // `who_shares`: number of the threads or processes, by thread.
  DeviceSums(const model::Recording& recording, const model::Part& part, const model::DeviceTrace& trace,
             const OpGroups& groups, const Column<int32_t>& who_shares, int32_t sharers)
      : rec_(recording),
        part_(part),
        trace_(trace),
        groups_(groups),
        who_shares_(who_shares),
        sharers_(sharers) {}

  [[nodiscard]] bool run(OpDevice& device, OpScope scope) {
    return collect(device) && find_lives(device) && order_records() && find_owners(scope) && sum_ops() &&
           (!device.has_addresses || sum_at_return()) && sum_owned(device) && look_at_all_instances() &&
           hand_over(device);
  }

 private:
  [[nodiscard]] static int64_t counted(OpDevice& device, WideSum sum) {
    const int64_t cut = narrow(sum);
    device.sums_cut += cut == sum ? 0 : 1;
    return cut;
  }

  [[nodiscard]] bool collect(OpDevice& device) {
    const model::EventTable& events = rec_.events;
    const model::RecordTable& records = rec_.records;
    bool has_base = false;
    WideSum net = 0;
    for (int32_t i = 0; i < trace_.events.count; ++i) {
      const auto event = static_cast<size_t>(trace_.events.first + i);
      const int32_t record = trace_.first_record + i;
      if (events.action[event] == Action::oom) continue;
      const bool is_free = events.action[event] != Action::alloc;
      const int64_t bytes = is_free ? -events.size[event] : events.size[event];
      if (!bytes_.push_back(bytes) || !times_.push_back(events.time[event]) || !rows_.push_back(record))
        return false;
      device.allocs += bytes > 0 ? 1 : 0;
      device.frees += bytes < 0 ? 1 : 0;
      net += bytes;
      if (!has_base && records.total_allocated[record] != model::kUnknownSize) {
        device.base = saturated_difference(records.total_allocated[record], bytes);
        has_base = true;
      }
    }
    device.records = static_cast<int64_t>(bytes_.size());
    device.net = counted(device, net);
    base_ = device.base;
    WideSum level = base_, peak = level;
    for (size_t i = 0; i < bytes_.size(); ++i) {
      level += bytes_[i];
      if (!levels_.push_back(level)) return false;
      if (level > peak) {
        peak = level;
        peak_at_ = static_cast<int32_t>(i);
      }
    }
    device.peak = counted(device, peak);
    return highest_level_.build(levels_.span());
  }

  [[nodiscard]] uint64_t address(size_t record) const {
    return rec_.events.address[trace_.events.first + (rows_[record] - trace_.first_record)];
  }

  // Which alloc a free gives back, and what is alive at the peak: allocated before it, and not freed up to it.
  [[nodiscard]] bool find_lives(OpDevice& device) {
    const auto count = static_cast<int32_t>(bytes_.size());
    if (!alloc_of_.resize(bytes_.size(), -1) || !is_alive_.resize(bytes_.size(), 0)) return false;
    replay::AddressTable allocs(rec_.budget), frees(rec_.budget);
    for (int32_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      if (bytes_[i] == 0) continue;
      if (io::traces::is_made_up(address(at))) device.has_addresses = false;
      auto* entry = allocs.find_or_add(address(at));
      if (entry == nullptr) return false;
      alloc_of_[at] = entry->open == replay::AddressTable::kNotOpen ? -1 : entry->open;
      entry->open = bytes_[i] < 0 ? replay::AddressTable::kNotOpen : i;
    }
    for (int32_t i = count - 1; i >= 0; --i) {
      const auto at = static_cast<size_t>(i);
      if (bytes_[i] == 0 || (bytes_[i] > 0 && i > peak_at_) || io::traces::is_made_up(address(at))) continue;
      auto* entry = frees.find_or_add(address(at));
      if (entry == nullptr) return false;
      if (bytes_[i] < 0) {
        entry->open = i;
      } else {
        is_alive_[at] = entry->open == replay::AddressTable::kNotOpen || entry->open > peak_at_ ? 1 : 0;
      }
    }
    return true;
  }

  [[nodiscard]] int32_t sharer_of(size_t record) const {
    return who_shares_[rec_.records.thread[rows_[record]]];
  }

  // Records of each thread or process side by side, in order of time.
  [[nodiscard]] bool order_records() {
    const size_t count = bytes_.size();
    if (!starts_.resize(static_cast<size_t>(sharers_) + 1, 0) || !order_.resize(count, 0) ||
        !shared_times_.reserve(count) || !net_.reserve(count) || !gross_.reserve(count) ||
        !alive_.reserve(count)) {
      return false;
    }
    for (size_t i = 0; i < count; ++i) ++starts_[sharer_of(i) + 1];
    for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    Column<uint32_t> next(rec_.budget);
    if (!next.append(starts_.span())) return false;
    for (size_t i = 0; i < count; ++i) order_[next[sharer_of(i)]++] = static_cast<uint32_t>(i);
    for (const uint32_t i : order_) {
      const int64_t bytes = bytes_[i];
      if (!shared_times_.push_back(times_[i]) || !net_.add(bytes) ||
          !gross_.add(std::max<int64_t>(bytes, 0)) || !alive_.add(is_alive_[i] != 0 ? bytes : 0)) {
        return false;
      }
    }
    return highest_net_.build(net_.sums());
  }

  // Per record, the op that holds it and started last; by thread the reader knows.
  [[nodiscard]] bool find_owners(OpScope scope) {
    if (!owners_.resize(bytes_.size(), -1)) return false;
    if (scope == OpScope::thread) {
      for (size_t i = 0; i < rows_.size(); ++i) owners_[i] = rec_.records.op[rows_[i]];
      return true;
    }
    const model::SpanTable& spans = rec_.spans;
    Column<int32_t> ops(rec_.budget), open(rec_.budget);
    for (int32_t row = part_.spans.first; row < part_.spans.end(); ++row) {
      if (is_op(spans.kind[row]) && spans.duration[row] >= 0 && !ops.push_back(row)) return false;
    }
    std::sort(ops.data(), ops.data() + ops.size(), [&](int32_t a, int32_t b) {
      return std::tuple(who_shares_[spans.thread[a]], spans.start[a], -spans.duration[a], a) <
             std::tuple(who_shares_[spans.thread[b]], spans.start[b], -spans.duration[b], b);
    });
    size_t op = 0;
    for (int32_t sharer = 0; sharer < sharers_; ++sharer) {
      open.clear();
      const auto is_of_it = [&] { return op < ops.size() && who_shares_[spans.thread[ops[op]]] == sharer; };
      for (uint32_t i = starts_[sharer]; i < starts_[sharer + 1]; ++i) {
        for (; is_of_it() && spans.start[ops[op]] <= shared_times_[i]; ++op) {
          if (!open.push_back(ops[op])) return false;
        }
        while (!open.empty() && end_of(spans, open.back()) <= shared_times_[i]) open.pop_back();
        if (!open.empty()) owners_[order_[i]] = open.back();
      }
      while (is_of_it()) ++op;
    }
    return true;
  }

  // Row of sums_, made when it is first asked for; -1: memory was refused.
  [[nodiscard]] int32_t sums_of(int32_t group) {
    int32_t& at = sums_of_group_[group];
    if (at >= 0) return at;
    Sums sums;
    sums.row.group = group;
    sums.row.abs_peak = std::numeric_limits<int64_t>::min();  // one instance at least has a level
    if (!sums_.push_back(sums)) return -1;
    return at = static_cast<int32_t>(sums_.size() - 1);
  }

  [[nodiscard]] bool sum_ops() {
    const model::SpanTable& spans = rec_.spans;
    if (!sums_of_group_.resize(static_cast<size_t>(groups_.count()), -1)) return false;
    size_t from = 0;
    for (int32_t row = part_.spans.first; row < part_.spans.end(); ++row) {
      const int32_t sharer = who_shares_[spans.thread[row]];
      // Spans of a thread come in order of their start.
      if (row == part_.spans.first || spans.thread[row] != spans.thread[row - 1]) from = starts_[sharer];
      if (!is_op(spans.kind[row]) || spans.duration[row] < 0) continue;
      const size_t end_of_records = starts_[sharer + 1];
      const size_t first = from = first_from(shared_times_.span(), from, end_of_records, spans.start[row]);
      const size_t end = first_from(shared_times_.span(), first, end_of_records, end_of(spans, row));
      if (first == end) continue;
      const int32_t at = sums_of(groups_.of(row));
      if (at < 0) return false;
      Sums& sums = sums_[at];
      sums.net += net_.sum(first, end);
      sums.gross += gross_.sum(first, end);
      sums.at_peak += alive_.sum(first, end);
      if (gross_.sum(first, end) > 0 && !holding_.push_back({row, at, first, end})) return false;
      const WideSum peak = highest_net_.highest(first + 1, end + 1) - net_.sums()[first];
      if (peak > sums.peak || sums.row.peak_span < 0) sums.row.peak_span = row;
      sums.peak = std::max(sums.peak, peak);
    }
    return true;
  }

  // Instances in the order of their ends, and frees by time: what was given back until then is taken from what was
  // allocated. Sums of given back bytes by place are a binary indexed tree.
  [[nodiscard]] bool sum_at_return() {
    Column<uint32_t> place(rec_.budget);  // among the records of its thread or process
    Column<WideSum> given_back(rec_.budget);
    const size_t count = bytes_.size();
    if (!place.resize(count, 0) || !given_back.resize(count + 1, 0)) return false;
    for (size_t i = 0; i < count; ++i) place[order_[i]] = static_cast<uint32_t>(i);
    const auto before = [&](size_t end) {
      WideSum sum = 0;
      for (; end > 0; end &= end - 1) sum += given_back[end];
      return sum;
    };
    std::sort(holding_.data(), holding_.data() + holding_.size(), [&](const Holding& a, const Holding& b) {
      return end_of(rec_.spans, a.row) < end_of(rec_.spans, b.row);
    });
    size_t next = 0;
    for (const Holding& one : holding_) {
      const int64_t end = end_of(rec_.spans, one.row);
      for (; next < count && times_[next] < end; ++next) {
        if (alloc_of_[next] < 0) continue;
        const auto of = static_cast<size_t>(alloc_of_[next]);
        for (size_t at = place[of] + size_t{1}; at <= count; at += at & (~at + 1))
          given_back[at] += bytes_[of];
      }
      sums_[one.sums].at_return += gross_.sum(one.first, one.end) - (before(one.end) - before(one.first));
    }
    return true;
  }

  [[nodiscard]] int32_t group_of_owner(int32_t record) const {
    const int32_t owner = record < 0 ? -1 : owners_[record];
    return owner < 0 ? -1 : groups_.of(owner);
  }

  [[nodiscard]] bool sum_owned(OpDevice& device) {
    PairIds pairs(rec_.budget);  // who freed, who had allocated
    Column<WideSum> freed(rec_.budget);
    WideSum unowned = 0;
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const int32_t group = group_of_owner(static_cast<int32_t>(i));
      if (group < 0) {
        unowned += bytes_[i];
        continue;
      }
      const int32_t at = sums_of(group);
      if (at < 0) return false;
      sums_[at].self += bytes_[i];
      if (bytes_[i] >= 0) continue;
      const int32_t source = group_of_owner(alloc_of_[i]);
      if (source == group) continue;
      const int32_t pair = pairs.intern({at, source});
      if (pair < 0 || (pair == static_cast<int32_t>(freed.size()) && !freed.push_back(0))) return false;
      freed[pair] -= bytes_[i];
    }
    device.unowned = counted(device, unowned);
    for (int32_t pair = 0; pair < pairs.count(); ++pair) {
      Sums& sums = sums_[pairs[pair].first];
      const int64_t bytes = narrow(freed[pair]);
      if (sums.self >= 0 || bytes <= sums.row.freed_bytes) continue;
      sums.row.freed_bytes = bytes;
      sums.row.freed_group = pairs[pair].second;
    }
    return true;
  }

  [[nodiscard]] bool look_at_all_instances() {
    const model::SpanTable& spans = rec_.spans;
    size_t from = 0;
    for (int32_t row = part_.spans.first; row < part_.spans.end(); ++row) {
      if (row == part_.spans.first || spans.thread[row] != spans.thread[row - 1]) from = 0;
      if (!is_op(spans.kind[row])) continue;
      const int32_t at = sums_of_group_[groups_.of(row)];
      if (at < 0) continue;
      OpRow& found = sums_[at].row;
      ++found.calls;
      if (spans.duration[row] < 0) continue;
      from = first_from(times_.span(), from, times_.size(), spans.start[row]);
      const size_t end = first_from(times_.span(), from, times_.size(), end_of(spans, row));
      WideSum level = from == 0 ? WideSum{base_} : levels_[from - 1];
      if (from < end) level = std::max(level, highest_level_.highest(from, end));
      found.abs_peak = std::max(found.abs_peak, narrow(level));
    }
    return true;
  }

  [[nodiscard]] bool hand_over(OpDevice& device) {
    if (!device.rows.reserve(sums_.size())) return false;
    for (const Sums& sums : sums_) {
      OpRow row = sums.row;
      row.net = counted(device, sums.net);
      row.self = counted(device, sums.self);
      row.gross = counted(device, sums.gross);
      row.freed = counted(device, sums.gross - sums.net);
      row.peak = counted(device, sums.peak);
      row.at_peak = counted(device, sums.at_peak);
      row.at_return = counted(device, sums.at_return);
      if (!device.rows.push_back(row)) return false;
    }
    return true;
  }

  const model::Recording& rec_;
  const model::Part& part_;
  const model::DeviceTrace& trace_;
  const OpGroups& groups_;
  const Column<int32_t>& who_shares_;
  int32_t sharers_;

  // Per record, in order of time.
  Column<int64_t> bytes_{rec_.budget}, times_{rec_.budget};
  Column<int32_t> rows_{rec_.budget};  // of RecordTable
  Column<WideSum> levels_{rec_.budget};
  // the record whose memory this one frees, or takes the address of; -1 = none
  Column<int32_t> alloc_of_{rec_.budget};
  Column<uint8_t> is_alive_{rec_.budget};  // of an alloc: at the peak
  int64_t base_ = 0;
  int32_t peak_at_ = -1;  // record after which the device is at its peak; -1 = before the first

  // Per record, by thread or process.
  Column<uint32_t> order_{rec_.budget}, starts_{rec_.budget};
  Column<int64_t> shared_times_{rec_.budget};
  RangeSums net_{rec_.budget}, gross_{rec_.budget}, alive_{rec_.budget};
  // Instances that allocate: row of SpanTable and of sums_, and places of its records.
  struct Holding {
    int32_t row, sums;
    size_t first, end;
  };
  Column<Holding> holding_{rec_.budget};
  RangeHighest highest_net_{rec_.budget}, highest_level_{rec_.budget};

  Column<Sums> sums_{rec_.budget};
  Column<int32_t> sums_of_group_{rec_.budget};
  Column<int32_t> owners_{rec_.budget};  // row of SpanTable by record
};

// Threads by themselves, or processes by their threads.
[[nodiscard]] bool number_sharers(const model::Recording& recording, OpScope scope,
                                  Column<int32_t>& of_thread, int32_t& count) {
  const model::ThreadTable& threads = recording.threads;
  PairIds processes(recording.budget);
  count = 0;
  for (size_t i = 0; i < threads.size_rows(); ++i) {
    const int32_t id =
        scope == OpScope::thread ? static_cast<int32_t>(i) : processes.intern({threads.process[i].value, 0});
    if (id < 0 || !of_thread.push_back(id)) return false;
    count = std::max(count, id + 1);
  }
  return true;
}

[[nodiscard]] auto too_little_for_ops(const model::Recording& recording) {
  return not_enough_memory(recording.budget, "for the table of ops");
}

}  // namespace

std::string device_name(const model::Part& part, int32_t ordinal) {
  const bool is_host = part.name == "cpu" || part.name.ends_with("/cpu");
  return is_host ? part.name : fmt::format("{}:{}", part.name, ordinal);
}

Result<OpTable> find_op_memory(const model::Recording& recording, OpBy by, OpScope scope,
                               const std::string& device) {
  OpTable table(recording, by);
  Column<int32_t> who_shares(recording.budget);
  int32_t sharers = 0;
  if (!table.groups.build({0, static_cast<int32_t>(recording.spans.size_rows())}) ||
      !number_sharers(recording, scope, who_shares, sharers)) {
    return too_little_for_ops(recording);
  }
  int64_t work = 0;
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    const model::Part& part = recording.parts[i];
    for (const model::DeviceTrace& trace : part.traces) {
      if (trace.first_record < 0) continue;
      OpDevice found(recording.budget);
      found.name = device_name(part, trace.device);
      found.part = static_cast<int32_t>(i);
      found.ordinal = trace.device;
      if (!device.empty() && device != found.name) continue;
      work += int64_t{part.spans.count} + trace.events.count + sharers + table.groups.count();
      if (work > kMostWork) {
        ++table.devices_left_out;
        continue;
      }
      if (!DeviceSums(recording, part, trace, table.groups, who_shares, sharers).run(found, scope))
        return too_little_for_ops(recording);
      if (found.records == 0) continue;  // it only ran out of memory
      table.sums_cut += found.sums_cut;
      table.devices.push_back(std::move(found));
    }
  }
  return table;
}

}  // namespace gpustrata::analysis
