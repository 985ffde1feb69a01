// Blocks of one kind have one colour: which kinds there are, and what share each has of a moment.
//
// Kinds by stack, stream, pool and category (which torch.profiler writes): the largest kMostKinds - 1 by
// bytes in use at the peak (then by all bytes they ever had), the rest together in the last one. Kinds by
// size, lifetime and age are fixed classes in order; those without a block stay, so that a colour means the
// same in two files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/block_attributes.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/bands.h"

namespace memstrata::analysis {

enum class GroupBy : uint8_t { allocation, stack, size, stream, pool, lifetime, age, category };

// By its name in JSON and links: "allocation", "stack", ... none = there is no such name.
[[nodiscard]] std::optional<GroupBy> group_by_name(std::string_view name);

inline constexpr size_t kMostKinds = 12;

struct BlockGroups {
  explicit BlockGroups(Budget& budget) : group(budget) {}

  struct Kind {
    std::string label;
    int64_t blocks = 0;
    int32_t merged = 0;  // kinds that are together in this one; 0 = it is one kind
  };

  GroupBy by = GroupBy::allocation;
  bool ordered = false;     // the kinds are classes of a quantity, least first
  std::vector<Kind> kinds;  // at most kMostKinds; empty = every block is a kind of its own
  Column<uint32_t> group;   // per rank, index of `kinds`; empty as well
};

// Error: limit_exceeded.
[[nodiscard]] Result<BlockGroups> group_blocks(const model::Recording& recording, const replay::Bands& bands,
                                               const BlockAttributes& attributes, GroupBy by);

struct Share {
  int64_t bytes = 0;
  int64_t blocks = 0;
};
// In use after the event (-1 = before the first), per kind. O(blocks).
[[nodiscard]] std::vector<Share> shares_at(const replay::Bands& bands, const BlockGroups& groups,
                                           int32_t event);

}  // namespace memstrata::analysis
