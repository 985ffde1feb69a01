// Events of a chunk, column by column: each is as wide as its values differ.
//
//   uint64 rows; for each column {uint64 base, uint64 width}; then the columns, each padded to a multiple of 8
//
// A value is base + the number of `width` bytes (0, 1, 2, 4 or 8), modulo 2^64: a column whose values are all the same takes
// nothing, but for actions, which take a byte or more each: so no chunk has more events than bytes. Columns, in this order: action, device, address, size, stream, time_us, graph_id, user_id, stack, context, metadata.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/base/column.h"
#include "engine/io/journal/records.h"

namespace gpustrata::io::journal {

enum class EventField : uint8_t {
  action,
  device,
  address,
  size,
  stream,
  time_us,
  graph_id,
  user_id,
  stack,
  context,
  metadata,
  kCount,
};
inline constexpr size_t kEventFields = static_cast<size_t>(EventField::kCount);

// Appends the events' columns. False: the budget refuses. At most 72 bytes an event and kMostColumnHeads.
[[nodiscard]] bool write_event_columns(std::span<const EventRecord> events, Column<std::byte>& out);
inline constexpr size_t kMostColumnHeads = 8 + kEventFields * (16 + kAligned);

// Columns of a chunk, looked into in place.
class EventColumns {
 public:
  // None: they are not as long as they say, or have other widths.
  [[nodiscard]] static std::optional<EventColumns> of(std::span<const std::byte> content);

  [[nodiscard]] uint64_t rows() const { return rows_; }
  [[nodiscard]] uint64_t value(EventField field, uint64_t row) const {
    const Values& values = columns_[static_cast<size_t>(field)];
    switch (values.width) {
      case 1:
        return values.base + load<uint8_t>(values.bytes, row);
      case 2:
        return values.base + load<uint16_t>(values.bytes, 2 * row);
      case 4:
        return values.base + load<uint32_t>(values.bytes, 4 * row);
      case 8:
        return values.base + load<uint64_t>(values.bytes, 8 * row);
      default:
        return values.base;
    }
  }
  // Every row has the same value there.
  [[nodiscard]] bool is_constant(EventField field) const {
    return columns_[static_cast<size_t>(field)].width == 0;
  }
  [[nodiscard]] EventRecord event(uint64_t row) const;

 private:
  struct Values {
    uint64_t base = 0;
    uint64_t width = 0;
    std::span<const std::byte> bytes;
  };
  uint64_t rows_ = 0;
  std::array<Values, kEventFields> columns_;
};

}  // namespace gpustrata::io::journal
