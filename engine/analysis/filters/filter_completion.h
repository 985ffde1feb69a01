// What could stand at the cursor of a filter: fields, and values of those that have few.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/device/block_attributes.h"
#include "engine/model/recording.h"
#include "engine/replay/bands.h"

namespace gpustrata::analysis {

struct Completion {
  std::string text;                           // replaces [from, cursor) of the filter
  std::string_view says = {};                 // what a field or a word means; empty for values
  std::optional<int64_t> bytes_at_peak = {};  // of a value: what the blocks that have it hold then
  bool is_function = false;                   // of a value: a function of a stack
};
struct Completions {
  size_t from = 0;  // byte where the word at the cursor begins
  std::vector<Completion> items;
};

inline constexpr size_t kMostCompletions = 14;

// Of fields those that blocks have. `cursor` is a byte of `text`; what stands behind it does not matter. O(blocks + names).
[[nodiscard]] Completions complete_filter(const model::Recording& recording, const replay::Bands& bands,
                                          const BlockAttributes& attributes, std::string_view text,
                                          size_t cursor);

}  // namespace gpustrata::analysis
