#include "capture/python/native/snapshot_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "capture/python/native/stack_table.h"
#include "capture/python/native/table_builder.h"
#include "engine/analysis/block_attributes.h"
#include "engine/replay/device.h"

namespace memstrata::python {

namespace {

using model::Part;
using model::Recording;

constexpr std::array<std::string_view, 4> kBlockStates{"active_allocated", "active_pending_free", "inactive",
                                                       "unknown"};
constexpr std::array<std::string_view, 3> kSegmentTypes{"unknown", "small", "large"};

// The devices that are asked for.
[[nodiscard]] Result<std::vector<int32_t>> devices_of(const Recording& recording, const Part& part,
                                                      std::optional<int32_t> device) {
  std::vector<int32_t> devices = part.devices(recording.segments);
  if (!device) return devices;
  const bool is_there = *device == replay::kHostDevice
                            ? part.has_host
                            : std::binary_search(devices.begin(), devices.end(), *device);
  if (!is_there) {
    std::string known;
    for (const int32_t one : devices) known += fmt::format("{}{}", known.empty() ? "" : ", ", one);
    if (part.has_host) known += known.empty() ? "host" : ", host";
    return fail(ErrorCode::wrong_usage, -1, "There is no device {} in this snapshot. Devices: {}.",
                *device == replay::kHostDevice ? "host" : fmt::format("{}", *device),
                known.empty() ? "none" : known);
  }
  return std::vector<int32_t>{*device};
}

void add_events(TableBuilder& table, const Part& part, int32_t device) {
  const Recording& recording = table.recording();
  const auto& events = recording.events;
  const Rows rows{device == replay::kHostDevice ? part.host_events : part.events_of(device)};
  std::vector<std::string_view> actions;
  const size_t known = static_cast<size_t>(trace::Action::first_unknown);
  for (size_t i = 0; i < known + recording.unknown_actions.size(); ++i)
    actions.push_back(recording.action_name(static_cast<trace::Action>(i)));

  table.begin_batch(rows.count());
  Array action = actions.size() <= 128 ? table.rows_of(events.action, rows)
                                       : table.made<int16_t>(rows.count(), [&](size_t i) {
                                           return static_cast<int16_t>(events.action[rows[i]]);
                                         });
  action.dictionary.push_back(table.texts(actions));
  table.add(TableBuilder::dictionary_field("action", actions.size() <= 128 ? "c" : "s", false),
            std::move(action));
  table.add_addresses("address", events.address, rows);
  table.add_int64("size", events.size, rows);
  table.add_times("time_us", events.time, rows, part);
  table.add_streams("stream", events.stream, rows);
  table.add_ids("stack", events.stack, rows);
  table.add_constant("device", device, rows.count());
  table.add_pools("pool", events.pool, rows);
  table.add_texts("compile_context", events.context, rows);
  table.add_texts("user_metadata", events.metadata, rows);
  table.end_batch();
}

// Rows of SegmentTable of one device. False: no memory.
[[nodiscard]] bool find_segments(const Recording& recording, const Part& part, int32_t device,
                                 Column<int32_t>& found) {
  if (device == replay::kHostDevice) {
    for (int32_t row = part.host_segments.first; row < part.host_segments.end(); ++row) {
      if (!found.push_back(row)) return false;
    }
    return true;
  }
  for (int32_t row = part.segments.first; row < part.segments.end(); ++row) {
    if (recording.segments.device[row] == device && !found.push_back(row)) return false;
  }
  return true;
}

void add_segments(TableBuilder& table, const Part& part, int32_t device) {
  const Recording& recording = table.recording();
  const auto& segments = recording.segments;
  Column<int32_t> found(recording.budget);
  if (!find_segments(recording, part, device, found)) return (void)table.refuse();
  if (found.empty()) return;
  const Rows rows{{}, found.span()};
  table.begin_batch(rows.count());
  table.add_addresses("address", segments.address, rows);
  table.add_int64("total_size", segments.total_size, rows);
  table.add_known("allocated_size", segments.allocated_size, rows, model::kUnknownSize);
  table.add_known("active_size", segments.active_size, rows, model::kUnknownSize);
  table.add_known("requested_size", segments.requested_size, rows, model::kUnknownSize);
  table.add_streams("stream", segments.stream, rows);
  table.add_words("segment_type", segments.type, rows, kSegmentTypes, 0);
  table.add_pools("pool", segments.pool, rows);
  // Bits, as Arrow keeps truth.
  Column<uint8_t> bits(recording.budget);
  if (!bits.resize((rows.count() + 7) / 8, uint8_t{0})) return (void)table.refuse();
  for (size_t i = 0; i < rows.count(); ++i) {
    if (segments.expandable[rows[i]] == model::Tristate::yes)
      bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | (1U << (i % 8)));
  }
  Array expandable = TableBuilder::flat(rows.count(), table.keep(std::move(bits)));
  table.set_nulls(expandable,
                  [&](size_t i) { return segments.expandable[rows[i]] == model::Tristate::unknown; });
  table.add({"is_expandable", "b", true, {}, {}}, std::move(expandable));
  table.add_ids("stack", segments.stack, rows);
  table.add_constant("device", device, rows.count());
  table.add_texts("user_metadata", segments.metadata, rows);
  table.end_batch();
}

// `segments_before`: rows of the table of segments that belong to other devices.
void add_blocks(TableBuilder& table, const Part& part, int32_t device, int32_t& segments_before) {
  const Recording& recording = table.recording();
  const auto& blocks = recording.blocks;
  Column<int32_t> segments(recording.budget), found(recording.budget), segment_of(recording.budget);
  if (!find_segments(recording, part, device, segments)) return (void)table.refuse();
  for (const int32_t segment : segments) {
    const model::RowRange range = recording.segments.blocks[segment];
    for (int32_t row = range.first; row < range.end(); ++row) {
      if (!found.push_back(row) || !segment_of.push_back(segments_before)) return (void)table.refuse();
    }
    ++segments_before;
  }
  if (found.empty()) return;
  bool follow = true;
  for (size_t i = 1; i < found.size() && follow; ++i) follow = found[i] == found[i - 1] + 1;
  const Rows rows = follow ? Rows{{found[0], static_cast<int32_t>(found.size())}} : Rows{{}, found.span()};
  table.begin_batch(rows.count());
  table.add_addresses("address", blocks.address, rows);
  table.add_int64("size", blocks.size, rows);
  table.add_known("requested_size", blocks.requested_size, rows, model::kUnknownSize);
  table.add_words("state", blocks.state, rows, kBlockStates);
  table.add_ids("stack", blocks.stack, rows);
  table.add({"segment", "i", false, {}, {}},
            TableBuilder::flat(rows.count(), table.keep(std::move(segment_of))));
  table.add_constant("device", device, rows.count());
  table.add_texts("user_metadata", blocks.metadata, rows);
  table.end_batch();
}

[[nodiscard]] Status add_lives(TableBuilder& table, const Part& part, int32_t device) {
  const Recording& recording = table.recording();
  auto opened = replay::Device::open(recording, part, device);
  if (!opened) return tl::unexpected(opened.error());
  const std::shared_ptr<replay::Device> kept = std::move(*opened);
  table.keep(kept);
  const replay::BlockLives& lives = kept->lives;
  auto attributes = analysis::block_attributes(recording, kept->part, lives);
  if (!attributes) return tl::unexpected(attributes.error());

  const Rows rows{{0, lives.count()}};
  const int32_t never = lives.events.count;
  const auto event_time = [&](const Column<int32_t>& event, const char* name) {
    // A block from the start, or one that stays, has no such event.
    const auto is_none = [&](size_t i) { return event[i] < 0 || event[i] >= never; };
    const auto time = [&](size_t i) {
      return is_none(i) || !part.has_clock
                 ? std::nullopt
                 : lives.clock.microseconds(recording.events.time[lives.events.first + event[i]]);
    };
    Array array = table.made<int64_t>(rows.count(), [&](size_t i) { return time(i).value_or(0); });
    table.set_nulls(array, [&](size_t i) { return !time(i); });
    table.add({name, "l", true, {}, {}}, std::move(array));
  };
  table.begin_batch(rows.count());
  table.add({"address", "L", false, {}, {}}, table.made<uint64_t>(rows.count(), [&](size_t i) {
    return lives.address(recording, static_cast<int32_t>(i));
  }));
  table.add_int64("size", lives.size, rows);
  Array born = table.rows_of(lives.born, rows);
  table.set_nulls(born, [&](size_t i) { return lives.born[i] < 0; });
  table.add({"alloc_event", "i", true, {}, {}}, std::move(born));
  Array freed = table.rows_of(lives.freed, rows);
  table.set_nulls(freed, [&](size_t i) { return lives.freed[i] >= never; });
  table.add({"free_event", "i", true, {}, {}}, std::move(freed));
  event_time(lives.born, "alloc_time_us");
  event_time(lives.freed, "free_time_us");
  table.add_streams("stream", attributes->stream, rows);
  table.add({"version", "I", false, {}, {}}, table.rows_of(lives.version, rows));
  table.add_pools("pool", attributes->pool, rows);
  table.add_ids("stack", attributes->stack, rows);
  table.add_constant("device", device, rows.count());
  table.keep(std::make_shared<analysis::BlockAttributes>(std::move(*attributes)));
  table.end_batch();
  return {};
}

}  // namespace

Result<std::shared_ptr<const Table>> make_table(const Recording& recording, std::shared_ptr<const void> keeps,
                                                TableKind kind, int32_t snapshot,
                                                std::optional<int32_t> device) {
  auto table = std::make_shared<Table>(std::move(keeps));
  TableBuilder builder(recording, table);
  if (kind == TableKind::stacks) {
    add_stacks(builder);
  } else {
    if (snapshot < 0 || static_cast<size_t>(snapshot) >= recording.parts.size())
      return fail(ErrorCode::wrong_usage, -1, "There is no snapshot {} in this file; it has {}.", snapshot,
                  recording.parts.size());
    const Part& part = recording.parts[static_cast<size_t>(snapshot)];
    const auto devices = devices_of(recording, part, device);
    if (!devices) return tl::unexpected(devices.error());
    int32_t segments_before = 0;
    for (const int32_t one : *devices) {
      if (kind == TableKind::events) add_events(builder, part, one);
      if (kind == TableKind::segments) add_segments(builder, part, one);
      if (kind == TableKind::blocks) add_blocks(builder, part, one, segments_before);
      if (kind == TableKind::lives) {
        if (const Status added = add_lives(builder, part, one); !added) return tl::unexpected(added.error());
      }
    }
  }
  builder.finish();
  if (builder.failed())
    return fail(ErrorCode::limit_exceeded, -1,
                "This table does not fit into memory: {} bytes would be needed.", recording.budget.needed());
  return table;
}

}  // namespace memstrata::python
