#include "engine/model/recording.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace gpustrata::model {

namespace {

// Ids are int16; the last one stands for all that find no room.
constexpr size_t kMaxIds = static_cast<size_t>(std::numeric_limits<int16_t>::max()) + 1;

// False if memory for the permutation is refused.
[[nodiscard]] bool sort_extras(ExtraTable& extras, Budget& budget) {
  const size_t rows = extras.size_rows();
  const auto place = [&](size_t i) { return std::tuple(extras.owner[i], extras.row[i]); };
  bool sorted = true;
  for (size_t i = 1; i < rows && sorted; ++i) sorted = place(i - 1) <= place(i);
  if (sorted) return true;

  Column<uint32_t> order(budget);
  if (!order.resize(rows, 0)) return false;
  for (size_t i = 0; i < rows; ++i) order[i] = static_cast<uint32_t>(i);
  // The index as last key keeps the order of keys in the file, and std::sort needs no memory.
  std::sort(order.data(), order.data() + rows,
            [&](uint32_t a, uint32_t b) { return std::tuple(place(a), a) < std::tuple(place(b), b); });
  return extras.reorder(0, order.span());
}

// What there is in the rows of a part. Usually the first row of each kind tells; `rows_left` is for files
// where none does and that name the same rows again and again.
class CapabilityFinder {
 public:
  CapabilityFinder(const Recording& recording, int64_t rows_left)
      : rec_(recording), category_(recording.strings.find("category")), rows_left_(rows_left) {}

  [[nodiscard]] Capabilities of(const Part& part) {
    const EventTable& e = rec_.events;
    const BlockTable& b = rec_.blocks;
    const SegmentTable& s = rec_.segments;
    const auto has_frames = [&](StackId stack) { return !stack.is_none() && rec_.stacks.leaf(stack) >= 0; };
    Capabilities found;
    const auto look_at_events = [&](RowRange events) {
      found.events = found.events || events.count > 0;
      found.times = found.times || any_value(events, e.time, [](int64_t time) { return time != kNoTime; });
      found.stacks = found.stacks || any(events, [&](int32_t row) { return has_frames(e.stack[row]); });
      found.pools = found.pools || any_value(events, e.pool, [](PoolId pool) { return !pool.is_none(); });
    };
    const auto look_at_segments = [&](RowRange segments) {
      found.final_state = found.final_state || segments.count > 0;
      found.pools = found.pools || any(segments, [&](int32_t row) { return !s.pool[row].is_none(); });
      found.stacks = found.stacks || any(segments, [&](int32_t segment) {
                       return any(s.blocks[segment], [&](int32_t row) { return has_frames(b.stack[row]); });
                     });
    };
    for (const DeviceTrace& trace : part.traces) look_at_events(trace.events);
    look_at_events(part.host_events);
    look_at_segments(part.segments);
    look_at_segments(part.host_segments);
    found.profiled = part.kind == PartKind::trace;
    found.settings = !part.settings_json.is_none();
    found.annotations = part.annotations.count > 0;
    found.spans = part.spans.count > 0;
    found.fleet = part.fleet >= 0;
    found.categories = has_categories(part);
    const auto has_times = [&](int32_t series) {
      return any(rec_.series.points[series], [&](int32_t row) { return rec_.points.time[row] != kNoTime; });
    };
    found.series = part.series.count > 0;
    found.times = found.times || (part.has_clock && any(part.series, has_times));
    return found;
  }

 private:
  template <typename Test>
  [[nodiscard]] bool any(RowRange rows, const Test& test) {
    for (int32_t row = rows.first; row < rows.end() && rows_left_ > 0; ++row, --rows_left_) {
      if (test(row)) return true;
    }
    return false;
  }
  // The same of a column; what is all one value is looked at once.
  template <typename T, typename Test>
  [[nodiscard]] bool any_value(RowRange rows, const PackedColumn<T>& column, const Test& test) {
    for (int64_t row = rows.first; row < rows.end() && rows_left_ > 0; --rows_left_) {
      if (test(column[row])) return true;
      row = static_cast<int64_t>(column.same_to(row));
    }
    return false;
  }
  [[nodiscard]] bool has_categories(const Part& part) {
    if (category_.is_none()) return false;
    const auto is_within = [](RowRange rows, int32_t row) { return row >= rows.first && row < rows.end(); };
    const ExtraTable& x = rec_.extras;
    return any({0, static_cast<int32_t>(x.size_rows())}, [&](int32_t i) {
      if (x.owner[i] != Owner::event || x.key[i] != category_) return false;
      rows_left_ -= static_cast<int64_t>(part.traces.size());
      return is_within(part.host_events, x.row[i]) ||
             std::any_of(part.traces.begin(), part.traces.end(),
                         [&](const DeviceTrace& trace) { return is_within(trace.events, x.row[i]); });
    });
  }

  const Recording& rec_;
  StringId category_;
  int64_t rows_left_;
};

}  // namespace

Recording::Recording(Budget& shared) : budget(shared), strings(shared) {
  (void)stream_of(0);
  (void)pool_of({0, 0});
}

// Here once, and compiled for size.
Recording::~Recording() = default;

std::string_view Recording::action_name(trace::Action action) const {
  if (action < trace::Action::first_unknown) return trace::name_of(action);
  const size_t index = static_cast<size_t>(action) - static_cast<size_t>(trace::Action::first_unknown);
  return index < unknown_actions.size() ? strings.view(unknown_actions[index]) : std::string_view{};
}

RowRange Recording::extras_of(Owner owner, int32_t row) const {
  const auto wanted = std::tuple(owner, row);
  const auto first_not_before = [&](auto is_before) {
    size_t low = 0, high = extras.size_rows();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (is_before(std::tuple(extras.owner[middle], extras.row[middle]))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return static_cast<int32_t>(low);
  };
  const int32_t first = first_not_before([&](auto place) { return place < wanted; });
  const int32_t end = first_not_before([&](auto place) { return place <= wanted; });
  return {first, end - first};
}

StreamId Recording::stream_of(int64_t handle) {
  if (const auto known = stream_ids_.find(handle); known != stream_ids_.end()) return StreamId{known->second};
  if (streams.size() == kMaxIds) {
    diagnostics.add(Diag::too_many_streams);
    return StreamId{kMaxIds - 1};
  }
  const StreamId id{streams.size()};
  streams.push_back(handle);
  stream_ids_.emplace(handle, id.value);
  return id;
}

PoolId Recording::pool_of(Pool pool) {
  if (const auto known = pool_ids_.find(pool); known != pool_ids_.end()) return PoolId{known->second};
  if (pools.size() == kMaxIds) {
    diagnostics.add(Diag::too_many_pools);
    return PoolId{kMaxIds - 1};
  }
  const PoolId id{pools.size()};
  pools.push_back(pool);
  pool_ids_.emplace(pool, id.value);
  return id;
}

template <typename Self, typename Function>
void Recording::each_table(Self& self, const Function& function) {
  function(self.events);
  function(self.blocks);
  function(self.history);
  function(self.segments);
  function(self.annotations);
  function(self.series);
  function(self.points);
  function(self.extras);
  function(self.spans);
  function(self.threads);
  function(self.records);
}

int64_t Recording::rows_to_look_at() const {
  return kMaxLookedAt + kMaxRepeats * static_cast<int64_t>(events.size_rows() + segments.size_rows());
}

void Recording::find_capabilities() {
  CapabilityFinder finder(*this, rows_to_look_at());
  for (Part& part : parts) part.capabilities = finder.of(part);
}

void Recording::limit_devices() {
  size_t devices_left = kMaxDevices;
  int64_t rows_left = rows_to_look_at();
  for (Part& part : parts) {
    part.most_devices = 0;
    rows_left -= part.segments.count;
    if (rows_left < 0) {
      diagnostics.add(Diag::too_many_devices);  // one at least: finding out how many is too much, too
      continue;
    }
    part.most_devices = std::numeric_limits<size_t>::max();
    const std::vector<int32_t> found = part.devices(segments);
    part.most_devices = 0;
    for (const int32_t device : found) {
      rows_left -= int64_t{part.events_of(device).count} + part.segments.count;
      if (devices_left == 0 || rows_left < 0) break;
      --devices_left;
      ++part.most_devices;
    }
    const size_t left_out = found.size() - part.most_devices;
    if (left_out > 0) diagnostics.add_many(Diag::too_many_devices, static_cast<int64_t>(left_out));
  }
}

void Recording::seal() {
  if (!sort_extras(extras, budget)) {
    diagnostics.add(Diag::budget_exhausted, -1, "no memory to sort the unknown fields, they were left out");
    extras.clear();
  }
  limit_devices();
  find_capabilities();
  each_table(*this, [](auto& table) { table.seal(); });
}

Recording::Mark Recording::mark() const {
  Mark mark;
  each_table(*this, [&](const auto& table) { mark.rows.push_back(table.size_rows()); });
  mark.parts = parts.size();
  mark.strings = strings.mark();
  mark.diagnostics = diagnostics;
  return mark;
}

void Recording::seal_last_part() {
  parts.back().capabilities = CapabilityFinder(*this, rows_to_look_at()).of(parts.back());
  each_table(*this, [](auto& table) { table.seal(); });
}

void Recording::back_to(const Mark& mark) {
  size_t number = 0;
  each_table(*this, [&](auto& table) {
    table.truncate(mark.rows[number++]);
    table.seal();
  });
  parts.resize(mark.parts);
  strings.back_to(mark.strings);
  diagnostics = mark.diagnostics;
}

}  // namespace gpustrata::model
