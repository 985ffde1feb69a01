// The tables of a file that Python gets. Their columns are described in capture/python/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "capture/python/native/table.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace memstrata::python {

enum class TableKind : int32_t { events, blocks, segments, lives, stacks };

// `device`: an ordinal, -1 = pinned host memory, none = all ordinals of the snapshot. Error: wrong_usage,
// limit_exceeded.
[[nodiscard]] Result<std::shared_ptr<const Table>> make_table(const model::Recording& recording,
                                                              std::shared_ptr<const void> keeps,
                                                              TableKind kind, int32_t snapshot,
                                                              std::optional<int32_t> device);

}  // namespace memstrata::python
