#include "engine/io/journal/chunker.h"

#include "engine/io/journal/event_columns.h"
#include "engine/io/journal/facts.h"

namespace gpustrata::io::journal {

namespace {

template <typename Record>
[[nodiscard]] bool put_record(Column<std::byte>& into, const Record& record) {
  return into.append(std::as_bytes(std::span(&record, 1)));
}

}  // namespace

uint64_t Chunker::most_bytes(std::span<const std::byte> records) const {
  // A state ends the chunks of names and of events before it, and is one itself.
  constexpr uint64_t kEach = 3 * sizeof(ChunkHead) + kMostColumnHeads;
  uint64_t bytes = kEach + told_.size() + records.size();
  Records walk(records);
  while (const auto record = walk.next()) {
    if (record->head.kind == RecordKind::state_end) bytes += kEach;
  }
  return bytes;
}

bool Chunker::take(std::span<const std::byte> records, uint64_t from, uint64_t generation,
                   Column<std::byte>& out, size_t& taken) {
  Records walk(records);
  uint64_t start = from;
  taken = 0;
  while (const auto record = walk.next()) {
    if (!add(*record)) return false;
    if (record->head.kind == RecordKind::state_end && !told_.empty()) {
      if (!flush(start, from + walk.offset(), generation, out)) return false;
      start = from + walk.offset();
      const bool whole = append_chunk(out, ChunkKind::state, generation, start, start,
                                      [&](Column<std::byte>& to) { return to.append(told_.span()); });
      if (!whole) return false;
      told_.clear();
    }
    taken = walk.offset();
  }
  return flush(start, from + walk.offset(), generation, out);
}

bool Chunker::add(const Records::Record& record) {
  switch (record.head.kind) {
    case RecordKind::event: {
      const auto event = record.as<EventRecord>();
      return !event || (events_.push_back(*event) && state_.apply(*event));
    }
    case RecordKind::text:
      return text_ids_.push_back(all_names_.size()) && all_names_.append(record.bytes) &&
             names_.append(record.bytes);
    case RecordKind::frame:
    case RecordKind::stack:
      return all_names_.append(record.bytes) && names_.append(record.bytes);
    case RecordKind::fact:
      note_fact(record);
      return all_names_.append(record.bytes) && names_.append(record.bytes);
    case RecordKind::state_begin:
      told_.clear();
      return told_.append(record.bytes);
    case RecordKind::segment:
    case RecordKind::block:
      return told_.empty() || told_.append(record.bytes);
    case RecordKind::state_end:
      return told_.empty() || (told_.append(record.bytes) && take_state());
    case RecordKind::count:
      break;
  }
  return true;  // of a later version
}

// Only when it is whole: the program may be killed, or a region begun, in the middle of it.
bool Chunker::take_state() {
  Records walk(told_.span());
  while (const auto record = walk.next()) {
    if (record->head.kind == RecordKind::state_begin) state_.begin(record->head.device);
    const auto segment = record->as<SegmentRecord>();
    if (record->head.kind == RecordKind::segment && segment && !state_.add(*segment)) return false;
    const auto block = record->as<BlockRecord>();
    if (record->head.kind == RecordKind::block && block && !state_.add(*block)) return false;
  }
  return true;
}

// Settings decide how large blocks are.
void Chunker::note_fact(const Records::Record& record) {
  const auto fact = record.as<FactRecord>();
  const auto text = [&](int32_t id) -> std::optional<std::string_view> {
    if (id < 0 || static_cast<size_t>(id) >= text_ids_.size()) return std::nullopt;
    Records at(all_names_.span().subspan(static_cast<size_t>(text_ids_[id])));
    const auto named = at.next();
    return named ? text_of(*named) : std::nullopt;
  };
  if (!fact || text(fact->key) != kSettingsFact) return;
  if (const auto settings = text(fact->value)) (void)alloc::apply_settings(state_.config, *settings);
}

bool Chunker::flush(uint64_t from, uint64_t to, uint64_t generation, Column<std::byte>& out) {
  if (!names_.empty()) {
    const bool named = append_chunk(out, ChunkKind::names, generation, from, from,
                                    [&](Column<std::byte>& into) { return into.append(names_.span()); });
    if (!named) return false;
    names_.clear();
  }
  if (from == to) return true;
  const bool whole = append_chunk(out, ChunkKind::events, generation, from, to, [&](Column<std::byte>& into) {
    return write_event_columns(events_.span(), into);
  });
  events_.clear();
  return whole;
}

bool Chunker::begin_region(uint64_t position, uint64_t generation, Column<std::byte>& out) const {
  const auto names = [&](Column<std::byte>& into) {
    for (const auto& [number, device] : state_.devices()) {
      if (!put_record(into, CountRecord{head_of<CountRecord>(RecordKind::count, number), device.events}))
        return false;
    }
    return into.append(all_names_.span());
  };
  return append_chunk(out, ChunkKind::names, generation, position, position, names) &&
         write_states(position, generation, out);
}

bool Chunker::write_states(uint64_t position, uint64_t generation, Column<std::byte>& out) const {
  for (const auto& [number, device] : state_.devices()) {
    const auto write = [&, ordinal = number, &of = device](Column<std::byte>& into) {
      if (!put_record(into, head_of<RecordHead>(RecordKind::state_begin, ordinal))) return false;
      for (const auto& [address, segment] : of.segments) {
        if (!put_record(into, segment)) return false;
      }
      for (const auto& [address, block] : of.blocks) {
        if (!put_record(into, block)) return false;
      }
      return put_record(into, head_of<RecordHead>(RecordKind::state_end, ordinal));
    };
    if (device.known && !append_chunk(out, ChunkKind::state, generation, position, position, write))
      return false;
  }
  return true;
}

}  // namespace gpustrata::io::journal
