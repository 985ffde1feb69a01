// What could stand at the cursor of a filter: fields, and values of those that have few.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/block_attributes.h"
#include "engine/model/recording.h"
#include "engine/replay/bands.h"

namespace memstrata::analysis {

struct Completion {
  std::string text;  // replaces [from, cursor) of the filter
  std::string says;  // what it means, in a few words
};
struct Completions {
  size_t from = 0;  // byte where the word at the cursor begins
  std::vector<Completion> items;
};

inline constexpr size_t kMostCompletions = 12;

// `cursor` is a byte of `text`; what stands behind it does not matter. O(blocks + names).
[[nodiscard]] Completions complete_filter(const model::Recording& recording, const replay::Bands& bands,
                                          const BlockAttributes& attributes, std::string_view text,
                                          size_t cursor);

}  // namespace memstrata::analysis
