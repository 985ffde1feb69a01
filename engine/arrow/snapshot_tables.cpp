#include "engine/arrow/snapshot_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/device/device.h"
#include "engine/arrow/stack_rows.h"
#include "engine/io/writers/snapshot_shape.h"

namespace gpustrata::arrow {

namespace {

using model::Part;
using model::Recording;

constexpr std::array<std::string_view, 3> kSegmentTypes{"unknown", "small", "large"};

// The devices that are asked for.
[[nodiscard]] Result<std::vector<int32_t>> devices_of(const Recording& recording, const Part& part,
                                                      const TableChoice& choice) {
  std::vector<int32_t> devices = part.devices(recording.segments);
  if (!choice.device) {
    if (choice.with_host && part.has_host) devices.push_back(replay::kHostDevice);
    return devices;
  }
  const bool is_there = *choice.device == replay::kHostDevice
                            ? part.has_host
                            : std::binary_search(devices.begin(), devices.end(), *choice.device);
  if (!is_there) {
    std::string known;
    for (const int32_t one : devices) known += fmt::format("{}{}", known.empty() ? "" : ", ", one);
    if (part.has_host) known += known.empty() ? "host" : ", host";
    return fail(ErrorCode::wrong_usage, -1, "There is no device {} in this snapshot. Devices: {}.",
                *choice.device == replay::kHostDevice ? "host" : fmt::format("{}", *choice.device),
                known.empty() ? "none" : known);
  }
  return std::vector<int32_t>{*choice.device};
}

class RowsOfKind {
 public:
  explicit RowsOfKind(TableBuilder& table) : table_(table) {}
  virtual ~RowsOfKind() = default;
  // The rows of one device. Error: limit_exceeded; what stops the table stops it alone.
  [[nodiscard]] virtual Status add(const Part& part, int32_t device) = 0;

 protected:
  TableBuilder& table_;
};

class EventRows final : public RowsOfKind {
 public:
  explicit EventRows(TableBuilder& table)
      : RowsOfKind(table),
        names_(names_of(table.recording())),
        actions_(table.words(names_)),
        pools_(table.pool_names()),
        contexts_(table.counted_texts()),
        metadata_(table.counted_texts()) {}

  [[nodiscard]] Status add(const Part& part, int32_t device) override {
    const Rows all{device == replay::kHostDevice ? part.host_events : part.events_of(device)};
    table_.in_pieces(all.count(),
                     [&](size_t first, size_t count) { add(part, device, all.part(first, count)); });
    return {};
  }

 private:
  [[nodiscard]] static std::vector<std::string_view> names_of(const Recording& recording) {
    std::vector<std::string_view> names;
    const size_t known = static_cast<size_t>(trace::Action::first_unknown);
    for (size_t i = 0; i < known + recording.unknown_actions.size(); ++i)
      names.push_back(recording.action_name(static_cast<trace::Action>(i)));
    return names;
  }
  void add(const Part& part, int32_t device, const Rows& rows) {
    const auto& events = table_.recording().events;
    const bool are_bytes = names_.size() <= 128;
    table_.begin_batch(rows.count());
    Array action =
        are_bytes ? table_.rows_of(events.action, rows) : table_.made<int16_t>(rows.count(), [&](size_t i) {
          return static_cast<int16_t>(events.action[rows[i]]);
        });
    table_.add({"action", are_bytes ? "c" : "s", false, {}, actions_}, std::move(action));
    table_.add_addresses("address", events.address, rows);
    table_.add_int64("size", events.size, rows);
    table_.add_times("time_us", events.time, rows, part);
    table_.add_streams("stream", events.stream, rows);
    table_.add_ids("stack", events.stack, rows);
    table_.add_constant("device", device, rows.count());
    table_.add_pools("pool", events.pool, rows, pools_);
    table_.add_texts("compile_context", events.context, rows, contexts_);
    table_.add_texts("user_metadata", events.metadata, rows, metadata_);
    table_.end_batch();
  }

  std::vector<std::string_view> names_;
  int32_t actions_, pools_, contexts_, metadata_;
};

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

class SegmentRows final : public RowsOfKind {
 public:
  explicit SegmentRows(TableBuilder& table)
      : RowsOfKind(table),
        types_(table.words(kSegmentTypes)),
        pools_(table.pool_names()),
        metadata_(table.counted_texts()) {}

  [[nodiscard]] Status add(const Part& part, int32_t device) override {
    Column<int32_t> found(table_.recording().budget);
    if (!find_segments(table_.recording(), part, device, found)) table_.refuse();
    const Rows all{{}, found.span()};
    table_.in_pieces(all.count(), [&](size_t first, size_t count) { add(device, all.part(first, count)); });
    return {};
  }

 private:
  void add(int32_t device, const Rows& rows) {
    const auto& segments = table_.recording().segments;
    table_.begin_batch(rows.count());
    table_.add_addresses("address", segments.address, rows);
    table_.add_int64("total_size", segments.total_size, rows);
    table_.add_known("allocated_size", segments.allocated_size, rows, model::kUnknownSize);
    table_.add_known("active_size", segments.active_size, rows, model::kUnknownSize);
    table_.add_known("requested_size", segments.requested_size, rows, model::kUnknownSize);
    table_.add_streams("stream", segments.stream, rows);
    table_.add_words("segment_type", segments.type, rows, types_, 0);
    table_.add_pools("pool", segments.pool, rows, pools_);
    const auto is = [&](model::Tristate state) {
      return [&, state](size_t i) { return segments.expandable[rows[i]] == state; };
    };
    Array expandable = TableBuilder::flat(rows.count(), table_.bits(rows.count(), is(model::Tristate::yes)));
    table_.set_nulls(expandable, is(model::Tristate::unknown));
    table_.add({"is_expandable", "b", true}, std::move(expandable));
    table_.add_ids("stack", segments.stack, rows);
    table_.add_constant("device", device, rows.count());
    table_.add_texts("user_metadata", segments.metadata, rows, metadata_);
    table_.end_batch();
  }

  int32_t types_, pools_, metadata_;
};

class BlockRows final : public RowsOfKind {
 public:
  explicit BlockRows(TableBuilder& table)
      : RowsOfKind(table),
        states_(table.words(kWordsOf<model::BlockState>)),
        metadata_(table.counted_texts()) {}

  [[nodiscard]] Status add(const Part& part, int32_t device) override {
    const Recording& recording = table_.recording();
    Column<int32_t> segments(recording.budget), found(recording.budget), segment_of(recording.budget);
    bool fits = find_segments(recording, part, device, segments);
    for (const int32_t segment : segments) {
      const model::RowRange range = recording.segments.blocks[segment];
      for (int32_t row = range.first; row < range.end() && fits; ++row)
        fits = found.push_back(row) && segment_of.push_back(segments_before_);
      ++segments_before_;
    }
    if (!fits) table_.refuse();
    bool follow = true;
    for (size_t i = 1; i < found.size() && follow; ++i) follow = found[i] == found[i - 1] + 1;
    const Rows all = follow && !found.empty() ? Rows{{found[0], static_cast<int32_t>(found.size())}}
                                              : Rows{{}, found.span()};
    table_.in_pieces(all.count(), [&](size_t first, size_t count) {
      add(device, all.part(first, count), segment_of.span().subspan(first, count));
    });
    return {};
  }

 private:
  void add(int32_t device, const Rows& rows, std::span<const int32_t> segment_of) {
    const auto& blocks = table_.recording().blocks;
    table_.begin_batch(rows.count());
    table_.add_addresses("address", blocks.address, rows);
    table_.add_int64("size", blocks.size, rows);
    table_.add_known("requested_size", blocks.requested_size, rows, model::kUnknownSize);
    table_.add_words("state", blocks.state, rows, states_);
    table_.add_ids("stack", blocks.stack, rows);
    table_.add({"segment", "i"}, table_.made<int32_t>(rows.count(), [&](size_t i) { return segment_of[i]; }));
    table_.add_constant("device", device, rows.count());
    table_.add_texts("user_metadata", blocks.metadata, rows, metadata_);
    table_.end_batch();
  }

  int32_t states_, metadata_;
  int32_t segments_before_ = 0;  // rows of the table of segments that belong to other devices and snapshots
};

class LifeRows final : public RowsOfKind {
 public:
  explicit LifeRows(TableBuilder& table) : RowsOfKind(table), pools_(table.pool_names()) {}

  [[nodiscard]] Status add(const Part& part, int32_t device) override {
    auto opened = analysis::Device::open(table_.recording(), part, device);
    if (!opened) return tl::unexpected(opened.error());
    const std::shared_ptr<analysis::Device> kept = std::move(*opened);
    const auto attributes = kept->attributes();
    if (!attributes) return tl::unexpected(attributes.error());
    table_.in_pieces(static_cast<size_t>(kept->lives().count()), [&](size_t first, size_t count) {
      table_.begin_batch(count);
      table_.keep(kept);
      add(kept->replayed(), **attributes, Rows{{0, kept->lives().count()}}.part(first, count));
      table_.end_batch();
    });
    return {};
  }

 private:
  void add(const replay::Device& device, const analysis::BlockAttributes& attributes, const Rows& rows) {
    const replay::BlockLives& lives = device.lives;
    const int32_t never = lives.events.count;
    table_.add({"address", "L"}, table_.made<uint64_t>(rows.count(), [&](size_t i) {
      return lives.address(device.recording, static_cast<int32_t>(rows[i]));
    }));
    table_.add_int64("size", lives.size, rows);
    Array born = table_.rows_of(lives.born, rows);
    table_.set_nulls(born, [&](size_t i) { return lives.born[rows[i]] < 0; });
    table_.add({"alloc_event", "i", true}, std::move(born));
    Array freed = table_.rows_of(lives.freed, rows);
    table_.set_nulls(freed, [&](size_t i) { return lives.freed[rows[i]] >= never; });
    table_.add({"free_event", "i", true}, std::move(freed));
    add_time("alloc_time_us", device, lives.born, rows);
    add_time("free_time_us", device, lives.freed, rows);
    table_.add_streams("stream", attributes.stream, rows);
    table_.add({"version", "I"}, table_.rows_of(lives.version, rows));
    table_.add_pools("pool", attributes.pool, rows, pools_);
    table_.add_ids("stack", attributes.stack, rows);
    table_.add_constant("device", device.ordinal(), rows.count());
  }
  // Of the event that each row has.
  void add_time(const char* name, const replay::Device& device, const Column<int32_t>& events,
                const Rows& rows) {
    const replay::BlockLives& lives = device.lives;
    const auto time = [&](size_t i) -> std::optional<int64_t> {
      const int32_t event = events[rows[i]];
      // A block from the start, or one that stays, has no such event.
      if (event < 0 || event >= lives.events.count || !device.part.has_clock) return std::nullopt;
      return lives.clock.microseconds(device.recording.events.time[lives.events.first + event]);
    };
    Array array = table_.made<int64_t>(rows.count(), [&](size_t i) { return time(i).value_or(0); });
    table_.set_nulls(array, [&](size_t i) { return !time(i); });
    table_.add({name, "l", true}, std::move(array));
  }

  int32_t pools_;
};

[[nodiscard]] std::unique_ptr<RowsOfKind> rows_of_kind(TableBuilder& table, TableKind kind) {
  switch (kind) {
    case TableKind::blocks:
      return std::make_unique<BlockRows>(table);
    case TableKind::segments:
      return std::make_unique<SegmentRows>(table);
    case TableKind::lives:
      return std::make_unique<LifeRows>(table);
    default:
      return std::make_unique<EventRows>(table);
  }
}

// The snapshots that are asked for.
[[nodiscard]] Result<std::vector<size_t>> snapshots_of(const Recording& recording,
                                                       const TableChoice& choice) {
  const size_t count = recording.parts.size();
  if (choice.snapshot) {
    if (*choice.snapshot < 0 || static_cast<size_t>(*choice.snapshot) >= count)
      return fail(ErrorCode::wrong_usage, -1, "There is no snapshot {} in this file; it has {}.",
                  *choice.snapshot, count);
    return std::vector<size_t>{static_cast<size_t>(*choice.snapshot)};
  }
  std::vector<size_t> all;
  for (size_t i = 0; i < count; ++i) {
    if (recording.parts[i].kind != model::PartKind::series) all.push_back(i);
  }
  return all;
}

// The column `snapshot`.
void lead_with_names(TableBuilder& table) {
  const std::vector<std::string> keys = io::snapshot_keys(table.recording());
  std::vector<std::string> names;
  for (size_t i = 0; i < table.recording().parts.size(); ++i)
    names.push_back(keys.empty() ? fmt::format("{}", i) : keys[i]);
  table.lead_with("snapshot", table.words(std::vector<std::string_view>(names.begin(), names.end())));
}

[[nodiscard]] Status add_rows(TableBuilder& builder, const TableChoice& choice) {
  const auto snapshots = snapshots_of(builder.recording(), choice);
  if (!snapshots) return tl::unexpected(snapshots.error());
  if (snapshots->size() > 1) lead_with_names(builder);
  const std::unique_ptr<RowsOfKind> rows = rows_of_kind(builder, choice.kind);
  for (const size_t snapshot : *snapshots) {
    const Part& part = builder.recording().parts[snapshot];
    const auto devices = devices_of(builder.recording(), part, choice);
    // One of several may lack a device, not all of them.
    if (!devices && snapshot == snapshots->back() && !builder.has_batches())
      return tl::unexpected(devices.error());
    if (!devices) continue;
    builder.set_lead(static_cast<int32_t>(snapshot));
    for (const int32_t device : *devices) {
      if (builder.stopped()) return {};
      if (Status added = rows->add(part, device); !added) return added;
    }
  }
  // The columns are there, too, where there are no rows.
  return builder.has_batches() ? Status() : rows->add(Part(), 0);
}

}  // namespace

Status add_table(TableBuilder& builder, const TableChoice& choice) {
  if (choice.kind == TableKind::stacks) {
    add_stacks(builder);
  } else if (Status added = add_rows(builder, choice); !added) {
    return added;
  }
  builder.finish();
  return builder.status();
}

Result<std::shared_ptr<const Table>> make_table(const Recording& recording, std::shared_ptr<const void> keeps,
                                                const TableChoice& choice) {
  auto table = std::make_shared<Table>(std::move(keeps));
  TableBuilder builder(recording, table);
  if (const Status added = add_table(builder, choice); !added) return tl::unexpected(added.error());
  return table;
}

}  // namespace gpustrata::arrow
