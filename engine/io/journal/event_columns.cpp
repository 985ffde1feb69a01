#include "engine/io/journal/event_columns.h"

#include <algorithm>
#include <utility>

namespace gpustrata::io::journal {

namespace {

// Sign-extended where the field is signed, so that -1 and 0 are neighbours.
[[nodiscard]] uint64_t field_of(const EventRecord& event, EventField field) {
  switch (field) {
    case EventField::action:
      return event.action;
    case EventField::device:
      return event.head.device;
    case EventField::address:
      return event.address;
    case EventField::size:
      return static_cast<uint64_t>(event.size);
    case EventField::stream:
      return static_cast<uint64_t>(event.stream);
    case EventField::time_us:
      return static_cast<uint64_t>(event.time_us);
    case EventField::graph_id:
      return static_cast<uint64_t>(event.graph_id);
    case EventField::user_id:
      return static_cast<uint64_t>(event.user_id);
    case EventField::stack:
      return static_cast<uint64_t>(int64_t{event.stack});
    case EventField::context:
      return static_cast<uint64_t>(int64_t{event.context});
    default:
      return static_cast<uint64_t>(int64_t{event.metadata});
  }
}

[[nodiscard]] uint64_t width_of(uint64_t most) {
  if (most == 0) return 0;
  if (most <= UINT8_MAX) return 1;
  if (most <= UINT16_MAX) return 2;
  return most <= UINT32_MAX ? 4 : 8;
}

// Lowest and highest as signed numbers: their distance is below 2^64.
[[nodiscard]] std::pair<uint64_t, uint64_t> base_and_width(std::span<const EventRecord> events,
                                                           EventField field) {
  auto low = static_cast<int64_t>(field_of(events.front(), field)), high = low;
  for (const EventRecord& event : events) {
    const auto value = static_cast<int64_t>(field_of(event, field));
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const uint64_t width = width_of(static_cast<uint64_t>(high) - static_cast<uint64_t>(low));
  return {static_cast<uint64_t>(low), field == EventField::action ? std::max(width, uint64_t{1}) : width};
}

[[nodiscard]] bool put(Column<std::byte>& out, const void* bytes, size_t count) {
  return out.append({static_cast<const std::byte*>(bytes), count});
}

}  // namespace

bool write_event_columns(std::span<const EventRecord> events, Column<std::byte>& out) {
  const uint64_t rows = events.size();
  if (!put(out, &rows, sizeof rows)) return false;
  std::array<std::pair<uint64_t, uint64_t>, kEventFields> heads{};
  for (size_t i = 0; i < kEventFields; ++i) {
    if (rows > 0) heads[i] = base_and_width(events, static_cast<EventField>(i));
    if (!put(out, &heads[i].first, 8) || !put(out, &heads[i].second, 8)) return false;
  }
  for (size_t i = 0; i < kEventFields; ++i) {
    const auto [base, width] = heads[i];
    const size_t start = out.size();
    if (!out.resize(start + static_cast<size_t>(aligned(rows * width)), std::byte{})) return false;
    std::byte* at = out.data() + start;
    if (width == 0) continue;
    for (const EventRecord& event : events) {
      const uint64_t value = field_of(event, static_cast<EventField>(i)) - base;
      std::memcpy(at, &value, static_cast<size_t>(width));
      at += width;
    }
  }
  return true;
}

std::optional<EventColumns> EventColumns::of(std::span<const std::byte> content) {
  constexpr size_t kHeads = 8 + kEventFields * 16;
  if (content.size() < kHeads) return std::nullopt;
  EventColumns found;
  found.rows_ = load<uint64_t>(content);
  size_t at = kHeads;
  for (size_t i = 0; i < kEventFields; ++i) {
    Values& values = found.columns_[i];
    values.base = load<uint64_t>(content, 8 + i * 16);
    values.width = load<uint64_t>(content, 16 + i * 16);
    if (values.width != 0 && values.width != 1 && values.width != 2 && values.width != 4 && values.width != 8)
      return std::nullopt;
    const size_t left = content.size() - at;
    if (values.width > 0 && found.rows_ > left / values.width) return std::nullopt;
    const uint64_t bytes = aligned(found.rows_ * values.width);
    if (values.width == 0) continue;
    if (bytes > left) return std::nullopt;
    values.bytes = bytes_at(content, at, bytes);
    at += static_cast<size_t>(bytes);
  }
  if (found.rows_ > 0 && found.is_constant(EventField::action)) return std::nullopt;
  return found;
}

EventRecord EventColumns::event(uint64_t row) const {
  const auto get = [&](EventField field) { return value(field, row); };
  EventRecord event{};
  event.head = head_of<EventRecord>(RecordKind::event, static_cast<uint16_t>(get(EventField::device)));
  event.address = get(EventField::address);
  event.size = static_cast<int64_t>(get(EventField::size));
  event.stream = static_cast<int64_t>(get(EventField::stream));
  event.time_us = static_cast<int64_t>(get(EventField::time_us));
  event.graph_id = static_cast<int64_t>(get(EventField::graph_id));
  event.user_id = static_cast<int64_t>(get(EventField::user_id));
  event.stack = static_cast<int32_t>(get(EventField::stack));
  event.context = static_cast<int32_t>(get(EventField::context));
  event.metadata = static_cast<int32_t>(get(EventField::metadata));
  event.action = static_cast<uint32_t>(get(EventField::action));
  return event;
}

}  // namespace gpustrata::io::journal
