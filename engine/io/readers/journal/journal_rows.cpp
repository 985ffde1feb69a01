#include "engine/io/readers/journal/journal_rows.h"

#include <charconv>

#include "engine/base/json_writer.h"
#include "engine/io/journal/facts.h"
#include "engine/model/recorded_snapshot.h"

namespace gpustrata::io::journal {

using model::Diag;

namespace {

[[nodiscard]] bool is_mark(uint64_t action) { return action == kRegionBegin || action == kRegionEnd; }

[[nodiscard]] PoolId pool_of_journal(model::Recording& recording, int64_t graph_id, int64_t user_id) {
  return graph_id == kUnknownPool ? PoolId{} : recording.pool_of({graph_id, user_id});
}

[[nodiscard]] int32_t small_number(std::string_view text) {
  int32_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? number : -1;
}

}  // namespace

bool Rows::add_part(const Layout& layout) {
  if (!read_names(layout) || !read_batches(layout)) return false;
  hides_event_pools_ = recording_.strings.view(names_.fact(kEventPoolsFact)) == kHidden;
  host_ = small_number(recording_.strings.view(names_.fact(kHostDeviceFact)));
  empty_ = recording_.stacks.intern({});
  if (empty_.is_none()) return false;
  model::Part part;
  part.is_open = !layout.closed;
  if (!sort_by_device(part) || !add_events(part) || !find_state(layout)) return false;
  if (!add_segments(part) || !add_facts(part, layout)) return false;
  recording_.parts.push_back(std::move(part));
  return true;
}

bool Rows::read_names(const Layout& layout) {
  bool first = true;
  for (const Chunk& chunk : layout.chunks) {
    if (chunk.head.kind != ChunkKind::names) continue;
    Records walk(chunk.content);
    while (const auto record = walk.next()) {
      const auto count = record->as<CountRecord>();
      if (record->head.kind == RecordKind::count && count && first)
        before_[record->head.device] = count->events;
      if (!names_.add(*record, static_cast<int64_t>(chunk.offset))) return false;
    }
    if (!walk.is_whole())
      recording_.diagnostics.add(Diag::wrong_type, static_cast<int64_t>(chunk.offset),
                                 "a record of a journal");
    first = false;
  }
  return true;
}

bool Rows::read_batches(const Layout& layout) {
  for (size_t i = 0; i < layout.chunks.size(); ++i) {
    const Chunk& chunk = layout.chunks[i];
    if (chunk.head.kind != ChunkKind::events) continue;
    const auto columns = EventColumns::of(chunk.content);
    if (!columns || columns->rows() > UINT32_MAX) {
      recording_.diagnostics.add(Diag::wrong_type, static_cast<int64_t>(chunk.offset), "columns of events");
      continue;
    }
    if (!batches_.push_back({*columns, i, static_cast<int64_t>(chunk.offset)})) return false;
  }
  return true;
}

// Devices ascending, the events of each in the order of time; marks are rows of their own.
bool Rows::sort_by_device(model::Part& part) {
  const auto marks = static_cast<int32_t>(recording_.annotations.size_rows());
  uint64_t events = 0;
  for (const Batch& batch : batches_) {
    for (uint64_t row = 0; row < batch.columns.rows(); ++row) {
      if (is_mark(batch.columns.value(EventField::action, row))) {
        if (!add_mark(batch.columns.event(row), batch.offset)) return false;
        continue;
      }
      ++counts_[static_cast<uint16_t>(batch.columns.value(EventField::device, row))];
      ++events;
    }
  }
  part.annotations = {marks, static_cast<int32_t>(recording_.annotations.size_rows()) - marks};
  if (events > model::kMaxRows ||
      !recording_.events.reserve(recording_.events.size_rows() + static_cast<size_t>(events)))
    return false;
  if (counts_.size() < 2) return true;
  if (!order_.resize(static_cast<size_t>(events), {})) return false;
  std::map<uint16_t, uint64_t> next;
  uint64_t start = 0;
  for (const auto& [device, count] : counts_) {
    next[device] = start;
    start += count;
  }
  for (size_t i = 0; i < batches_.size(); ++i) {
    const EventColumns& columns = batches_[i].columns;
    for (uint64_t row = 0; row < columns.rows(); ++row) {
      if (is_mark(columns.value(EventField::action, row))) continue;
      const auto device = static_cast<uint16_t>(columns.value(EventField::device, row));
      order_[next[device]++] = {static_cast<uint32_t>(i), static_cast<uint32_t>(row)};
    }
  }
  return true;
}

bool Rows::add_events(model::Part& part) {
  size_t at = 0;
  for (const auto& [device, count] : counts_) {
    const auto first = static_cast<int32_t>(recording_.events.size_rows());
    if (order_.empty()) {
      for (const Batch& batch : batches_) {
        for (uint64_t row = 0; row < batch.columns.rows(); ++row) {
          const EventRecord event = batch.columns.event(row);
          if (!is_mark(event.action) && !add_event(event, batch.offset)) return false;
        }
      }
    }
    for (uint64_t i = 0; !order_.empty() && i < count; ++i, ++at) {
      const Batch& batch = batches_[order_[at].batch];
      if (!add_event(batch.columns.event(order_[at].row), batch.offset)) return false;
    }
    const model::RowRange events{first, static_cast<int32_t>(recording_.events.size_rows()) - first};
    if (device == host_) {
      part.has_host = true;
      part.host_events = events;
    } else {
      const auto before = before_.find(device);
      part.traces.push_back(
          {.device = device, .events = events, .lost_oldest = before != before_.end() && before->second > 0});
    }
  }
  return true;
}

bool Rows::add_event(const EventRecord& event, int64_t offset) {
  if (event.action >= static_cast<uint32_t>(trace::Action::first_unknown)) {
    recording_.diagnostics.add(Diag::event_incomplete, offset, "an action that is not known");
    return true;
  }
  if (event.size < 0) recording_.diagnostics.add(Diag::negative_size, offset);
  return recording_.events.append(
      {.action = static_cast<trace::Action>(event.action),
       .address = event.address,
       .size = std::max<int64_t>(event.size, 0),
       .time = event.time_us,
       .stack = names_.stack(event.stack, offset),
       .context = names_.text(event.context, offset),
       .metadata = names_.text(event.metadata, offset),
       .stream = recording_.stream_of(event.stream),
       .pool = hides_event_pools_ ? PoolId() : pool_of_journal(recording_, event.graph_id, event.user_id)});
}

bool Rows::add_mark(const EventRecord& event, int64_t offset) {
  return recording_.annotations.append(
      {names_.text(event.metadata, offset),
       event.action == kRegionBegin ? model::Stage::start : model::Stage::end, event.head.device,
       event.time_us});
}

// Of each device: the last state in the file, and the events behind it.
bool Rows::find_state(const Layout& layout) {
  if (const StringId settings = names_.fact(kSettingsFact); !settings.is_none())
    (void)alloc::apply_settings(state_.config, recording_.strings.view(settings));
  std::map<uint16_t, uint64_t> last;
  const auto device_of = [](const Chunk& chunk) -> std::optional<uint16_t> {
    Records walk(chunk.content);
    const auto begin = walk.next();
    if (!begin || begin->head.kind != RecordKind::state_begin) return std::nullopt;
    return begin->head.device;
  };
  for (size_t i = 0; i < layout.chunks.size(); ++i) {
    if (layout.chunks[i].head.kind != ChunkKind::state) continue;
    if (const auto device = device_of(layout.chunks[i])) last[*device] = i;
  }
  if (last.empty()) return true;
  size_t batch = 0;
  for (size_t i = 0; i < layout.chunks.size(); ++i) {
    const Chunk& chunk = layout.chunks[i];
    if (chunk.head.kind == ChunkKind::state) {
      const auto device = device_of(chunk);
      if (!device || last[*device] != i) continue;
      state_.begin(*device);
      Records walk(chunk.content);
      while (const auto record = walk.next()) {
        if (record->head.device != *device) continue;
        const auto segment = record->as<SegmentRecord>();
        if (record->head.kind == RecordKind::segment && segment && !state_.add(*segment)) return false;
        const auto block = record->as<BlockRecord>();
        if (record->head.kind == RecordKind::block && block && !state_.add(*block)) return false;
      }
    }
    if (batch == batches_.size() || batches_[batch].chunk != i) continue;
    const EventColumns& columns = batches_[batch++].columns;
    for (uint64_t row = 0; row < columns.rows(); ++row) {
      const auto known = last.find(static_cast<uint16_t>(columns.value(EventField::device, row)));
      if (known != last.end() && known->second < i && !state_.apply(columns.event(row))) return false;
    }
  }
  return true;
}

// Only where all devices are known: of a part that lists segments, those without any are empty. The host's, whose number is the
// last, follow in a range of their own.
bool Rows::add_segments(model::Part& part) {
  const auto rows = [&] { return static_cast<int32_t>(recording_.segments.size_rows()); };
  part.segments = part.host_segments = {rows(), 0};
  for (const model::DeviceTrace& trace : part.traces) {
    const auto found = state_.devices().find(static_cast<uint16_t>(trace.device));
    if (found == state_.devices().end() || !found->second.known) return true;
  }
  for (const bool of_host : {false, true}) {
    model::RowRange& range = of_host ? part.host_segments : part.segments;
    range.first = rows();
    for (const auto& [number, device] : state_.devices()) {
      if ((number == host_) != of_host) continue;
      part.has_host = part.has_host || of_host;
      for (const auto& [address, segment] : device.segments) {
        if (!add_segment(of_host ? -1 : number, device, segment)) return false;
      }
    }
    range.count = rows() - range.first;
  }
  return true;
}

bool Rows::add_segment(int32_t number, const RunningState::Device& device, const SegmentRecord& segment) {
  const auto first = static_cast<int32_t>(recording_.blocks.size_rows());
  const uint64_t end = segment.address + static_cast<uint64_t>(segment.size);
  int64_t allocated = 0, active = 0, requested = 0;
  uint64_t at = segment.address;
  const auto inactive_to = [&](uint64_t until) {
    if (until == at) return true;
    BlockRecord rest{};
    rest.address = at;
    rest.size = static_cast<int64_t>(until - at);
    rest.stack = rest.metadata = -1;
    return add_block(rest, model::BlockState::inactive);
  };
  for (auto it = device.blocks.lower_bound(at); it != device.blocks.end() && it->first < end; ++it) {
    const BlockRecord& block = it->second;
    if (!inactive_to(block.address)) return false;
    const bool pending = block.pending != 0;
    active += block.size;
    requested += std::max<int64_t>(block.requested_size, 0);
    if (!pending) allocated += block.size;
    if (!add_block(block,
                   pending ? model::BlockState::active_pending_free : model::BlockState::active_allocated))
      return false;
    at = block.address + static_cast<uint64_t>(block.size);
  }
  if (!inactive_to(end)) return false;
  const StackId stack = names_.stack(segment.stack, -1);
  const auto type = segment.pool_size == SegmentSize::small   ? model::SegmentType::small
                    : segment.pool_size == SegmentSize::large ? model::SegmentType::large
                                                              : model::SegmentType::unknown;
  return recording_.segments.append(
      {.device = number,
       .address = segment.address,
       .total_size = segment.size,
       .allocated_size = allocated,
       .active_size = active,
       .requested_size = requested,
       .stream = recording_.stream_of(segment.stream),
       .pool = pool_of_journal(recording_, segment.graph_id, segment.user_id),
       .type = type,
       .expandable = segment.expandable != 0 ? model::Tristate::yes : model::Tristate::no,
       .stack = stack.is_none() ? empty_ : stack,
       .blocks = {first, static_cast<int32_t>(recording_.blocks.size_rows()) - first}});
}

bool Rows::add_block(const BlockRecord& block, model::BlockState state) {
  const StackId stack = names_.stack(block.stack, -1);
  StringId metadata = names_.text(block.metadata, -1);
  if (recording_.strings.view(metadata).empty()) metadata = {};  // as every event has one
  return recording_.blocks.append({.address = block.address,
                                   .size = block.size,
                                   .requested_size = std::max<int64_t>(block.requested_size, 0),
                                   .state = state,
                                   .stack = stack.is_none() ? empty_ : stack,
                                   .metadata = metadata});
}

bool Rows::add_extra(std::string_view key, StringId value) {
  const StringId named = recording_.strings.intern(key);
  return !named.is_none() && !value.is_none() &&
         recording_.extras.append(
             {model::Owner::part, static_cast<int32_t>(recording_.parts.size()), named, value});
}

// Facts that no column has are kept as JSON text, as unknown keys of a snapshot are.
bool Rows::add_facts(model::Part& part, const Layout& layout) {
  const auto number = [&](std::string_view key) {
    return small_number(recording_.strings.view(names_.fact(key)));
  };
  part.launch.rank = number(kRankFact);
  part.launch.world_size = number(kWorldSizeFact);
  part.settings_json = names_.fact(kSettingsJsonFact);
  if (part.settings_json.is_none() && !names_.fact(kSettingsFact).is_none()) {
    part.settings_json = recording_.strings.intern(model::settings_json(state_.config));
    if (part.settings_json.is_none()) return false;
  }
  JsonWriter json;
  json.begin_object();
  json.key("lost_events");
  json.begin_array();
  if (host_ >= 0) before_.erase(static_cast<uint16_t>(host_));  // no device of theirs
  for (int32_t device = 0; !before_.empty() && device <= before_.rbegin()->first; ++device) {
    const auto found = before_.find(static_cast<uint16_t>(device));
    json.value(found == before_.end() ? int64_t{0} : static_cast<int64_t>(found->second));
  }
  json.end_array();
  json.member("lost_stacks", layout.lost_stacks);
  json.member("closed", layout.closed);
  json.key("facts");
  json.begin_object();
  for (const Names::Fact& fact : names_.facts())
    json.member(recording_.strings.view(fact.key), recording_.strings.view(fact.value));
  json.end_object();
  json.end_object();
  return add_extra("gpustrata", recording_.strings.intern(json.text()));
}

}  // namespace gpustrata::io::journal
