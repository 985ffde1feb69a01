// Blocks of one kind have one colour: which kinds there are, and what share each has of a moment.
//
// Kinds by stack are those of who asked for the block (own_frame.h): one line of the program is one kind,
// however many stacks lead there. Kinds by stack, stream, pool and category (which torch.profiler writes): the largest kMostKinds - 1 by
// bytes in use at the peak, the rest together in the last one. Of as many bytes there (gradients and parameters, say) the one
// with fewer bytes ever comes first: it stays, and lies still where kinds are stacked; of none there that with more. Kinds by
// size, lifetime and age are fixed classes in order; those without a block stay, so that a colour means the
// same in two files.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/categories/categories.h"
#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/stacks/keys.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/base/words.h"
#include "engine/model/recording.h"
#include "engine/replay/bands.h"

namespace gpustrata::analysis {

GPUSTRATA_WORDS(GroupBy, allocation, stack, size, stream, pool, lifetime, age, category);

inline constexpr size_t kMostKinds = 12;
inline constexpr int32_t kAges = 8;  // equal parts of the recording

// Classes of sizes and lifetimes: a quantity belongs to the first whose end (exclusive) is above it. The
// allocator serves up to 1 MiB from the small pool, and up to 10 MiB from segments of 20 MiB.
inline constexpr std::array<int64_t, 8> kSizeEnds = {(1 << 10) + 1, (32 << 10) + 1, (1 << 20) + 1, 10 << 20,
                                                     32 << 20,      128 << 20,      1 << 30,       INT64_MAX};
inline constexpr std::array<int64_t, 6> kTimeEnds = {100, 1000, 10'000, 100'000, 1'000'000, INT64_MAX};  // us
inline constexpr std::array<int64_t, 6> kEventCountEnds = {3, 10, 100, 1000, 10'000, INT64_MAX};
// After the classes of lifetimes: never freed, and from before the recording.
inline constexpr int32_t kNeverFreed = kTimeEnds.size(), kFromBefore = kNeverFreed + 1;
// The first event of an age 1 to kAges; age 0 is from before the recording. Of kAges + 1: the number of events.
[[nodiscard]] constexpr int64_t first_event_of_age(int64_t events, int64_t age) {
  return (events * (age - 1) + kAges - 1) / kAges;
}

struct BlockGroups {
  explicit BlockGroups(Budget& budget) : group(budget) {}

  struct Kind {
    // What its blocks have in common, -1 = nothing is recorded. By stack: the FrameId that says who asked; by
    // stream its number, by pool a PoolId, by category a StringId (JSON text); else the number of the class.
    int32_t key = -1;
    int64_t blocks = 0;
    int32_t merged = 0;  // kinds that are together in this one; 0 = it is one kind
  };

  GroupBy by = GroupBy::allocation;
  bool ordered = false;  // the kinds are classes of a quantity, least first
  bool in_time = false;  // lifetimes are in microseconds, else in events
  int32_t events = 0;    // of the device; ages are parts of them
  // By category where nobody wrote one down: names by key, guessed by rules (categories.h); else empty.
  std::vector<std::string> inferred;
  std::vector<std::string> says;  // what their rules say, by key; empty texts = nothing
  bool by_lifetime = false;       // those of traces, CategoryRules::by_lifetime
  std::vector<Kind> kinds;        // at most kMostKinds; empty = every block is a kind of its own
  Column<uint32_t> group;         // per rank, index of `kinds`; empty as well
};

// `peak_event`: as in block_filter.h. `lines`: keys by line, for kinds by stack. Error: limit_exceeded.
[[nodiscard]] Result<BlockGroups> group_blocks(const model::Recording& recording, const replay::Bands& bands,
                                               const BlockAttributes& attributes, GroupBy by,
                                               std::optional<int32_t> peak_event, const Keys* lines);

// By category where no block has one in the file: those that rules guess (categories.h), most bytes at the peak first.
// `rules` name at most kMostKinds of them, or the smallest are together. Error: limit_exceeded.
[[nodiscard]] Result<BlockGroups> group_by_rules(const model::Recording& recording,
                                                 const replay::Bands& bands, const Categories& categories,
                                                 const CategoryRules& rules,
                                                 std::optional<int32_t> peak_event = {});

struct Share {
  int64_t bytes = 0;
  int64_t blocks = 0;
};
// Of these ranks, per kind.
[[nodiscard]] std::vector<Share> shares_of(const replay::Bands& bands, const BlockGroups& groups,
                                           std::span<const int32_t> ranks);

}  // namespace gpustrata::analysis
