#include "engine/model/recording.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <tuple>

namespace memstrata::model {

namespace {

// Ids are int16; the last one stands for all that find no room.
constexpr size_t kMaxIds = static_cast<size_t>(std::numeric_limits<int16_t>::max()) + 1;

template <typename... Ts>
void seal_columns([[maybe_unused]] size_t rows, Column<Ts>&... columns) {
  assert(((columns.size() == rows) && ...));
  (columns.shrink_to_fit(), ...);
}

template <typename T>
void permute(Column<T>& column, std::span<const uint32_t> order, Column<T>& scratch) {
  for (size_t i = 0; i < order.size(); ++i) scratch[i] = column[order[i]];
  std::swap(column, scratch);
}

// False if memory for the permutation is refused, or if there are more rows than row numbers.
[[nodiscard]] bool sort_extras(ExtraTable& extras, Budget& budget) {
  const size_t rows = extras.size_rows();
  if (rows > static_cast<size_t>(std::numeric_limits<int32_t>::max())) return false;
  const auto place = [&](size_t i) { return std::tuple(extras.owner[i], extras.row[i]); };
  bool sorted = true;
  for (size_t i = 1; i < rows && sorted; ++i) sorted = place(i - 1) <= place(i);
  if (sorted) return true;

  Column<uint32_t> order(budget);
  Column<Owner> owners(budget);
  Column<int32_t> numbers(budget);
  Column<StringId> texts(budget);
  if (!order.resize(rows, 0) || !owners.resize(rows, Owner::part) || !numbers.resize(rows, 0) ||
      !texts.resize(rows, StringId{})) {
    return false;
  }
  for (size_t i = 0; i < rows; ++i) order[i] = static_cast<uint32_t>(i);
  // The index as last key keeps the order of keys in the file, and std::sort needs no memory.
  std::sort(order.data(), order.data() + rows,
            [&](uint32_t a, uint32_t b) { return std::tuple(place(a), a) < std::tuple(place(b), b); });
  permute(extras.owner, order.span(), owners);
  permute(extras.row, order.span(), numbers);
  permute(extras.key, order.span(), texts);
  permute(extras.value, order.span(), texts);
  return true;
}

// Ordinals with segments or events, ascending. The memory is bounded by the runs of equal devices.
[[nodiscard]] std::vector<int32_t> all_devices(const Part& part, const SegmentTable& segments) {
  std::vector<int32_t> found;
  for (int32_t row = part.segments.first; row < part.segments.end(); ++row) {
    const int32_t device = segments.device[static_cast<size_t>(row)];
    if (found.empty() || found.back() != device) found.push_back(device);
  }
  for (const DeviceTrace& trace : part.traces) {
    if (trace.events.count > 0) found.push_back(trace.device);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

std::vector<int32_t> Part::devices(const SegmentTable& table) const {
  if (most_devices == 0) return {};
  std::vector<int32_t> found = all_devices(*this, table);
  if (found.size() > most_devices) found.resize(most_devices);
  return found;
}

RowRange Part::events_of(int32_t device) const {
  const auto trace = std::lower_bound(traces.begin(), traces.end(), device,
                                      [](const DeviceTrace& a, int32_t b) { return a.device < b; });
  return trace != traces.end() && trace->device == device ? trace->events : RowRange{};
}

Recording::Recording(Budget& shared)
    : budget(shared),
      strings(shared),
      frames(shared),
      stacks(shared),
      events(shared),
      blocks(shared),
      history(shared),
      segments(shared),
      annotations(shared),
      extras(shared) {
  (void)stream_of(0);
  (void)pool_of({0, 0});
}

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

void Recording::limit_devices() {
  size_t devices_left = kMaxDevices;
  int64_t rows_left =
      kMaxLookedAt + kMaxRepeats * static_cast<int64_t>(events.size_rows() + segments.size_rows());
  for (Part& part : parts) {
    part.most_devices = 0;
    rows_left -= part.segments.count;
    if (rows_left < 0) {
      diagnostics.add(Diag::too_many_devices);  // one at least: finding out how many is too much, too
      continue;
    }
    const std::vector<int32_t> found = all_devices(part, segments);
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
    extras.owner.clear();
    extras.row.clear();
    extras.key.clear();
    extras.value.clear();
  }
  limit_devices();
  EventTable& e = events;
  seal_columns(e.size_rows(), e.action, e.address, e.size, e.time_us, e.stack, e.context, e.metadata,
               e.stream, e.pool);
  BlockTable& b = blocks;
  seal_columns(b.size_rows(), b.address, b.size, b.requested_size, b.state, b.stack, b.metadata, b.history);
  seal_columns(history.size_rows(), history.address, history.real_size, history.stack);
  SegmentTable& s = segments;
  seal_columns(s.size_rows(), s.device, s.address, s.total_size, s.allocated_size, s.active_size,
               s.requested_size, s.stream, s.pool, s.type, s.expandable, s.stack, s.metadata, s.blocks);
  AnnotationTable& a = annotations;
  seal_columns(a.size_rows(), a.name, a.stage, a.device, a.time_us);
  seal_columns(extras.size_rows(), extras.owner, extras.row, extras.key, extras.value);
}

}  // namespace memstrata::model
