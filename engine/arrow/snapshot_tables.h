// The tables of a file. Their columns are described in capture/python/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/arrow/table_builder.h"

namespace gpustrata::arrow {

enum class TableKind : int32_t { events, blocks, segments, lives, stacks };

struct TableChoice {
  TableKind kind = TableKind::events;
  // Index in Recording::parts. None = all but those that are numbers over time; if they are several, a column `snapshot`
  // with their names comes first. Of no meaning for stacks, which are the file's.
  std::optional<int32_t> snapshot = {};
  // An ordinal, or replay::kHostDevice = pinned host memory. None = all.
  std::optional<int32_t> device = {};
  // Without `device`: pinned host memory, too, after the ordinals.
  bool with_host = false;
};

// Adds all rows. Error: wrong_usage (no such snapshot or device), limit_exceeded, what the sink says.
[[nodiscard]] Status add_table(TableBuilder& builder, const TableChoice& choice);

// A table to be kept, one batch a device. Error: as above.
[[nodiscard]] Result<std::shared_ptr<const Table>> make_table(const model::Recording& recording,
                                                              std::shared_ptr<const void> keeps,
                                                              const TableChoice& choice);

}  // namespace gpustrata::arrow
