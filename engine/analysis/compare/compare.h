// What grew between two recordings: memory by who asked for it, and segments that only one of them has.
//
// The recordings may be of one process at two moments, or of two runs. Nothing but texts connects them:
// groups are the same if their stacks are shown as the same lines (frames as file:line:name, hidden ones left
// out), or if function, file and line are the same, as far as they are asked for. Segments are the same if
// address and size are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/analysis/compare/carried_stacks.h"
#include "engine/analysis/live/top.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/replay/memory_at.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

struct Comparison {
  explicit Comparison(Budget& budget) : rows(budget) {}

  By by = By::shown;
  BeforeAfter bytes, blocks;  // of everything alive
  Column<ComparedPart> rows;  // that changed, in the direction of the sum the most first; at most `limit`
  int64_t changed = 0, unchanged = 0;     // groups
  BeforeAfter other_bytes, other_blocks;  // in the groups that changed, beyond `limit`
};

// Both are grouped by the same, without a limit; parts are numbered as the groups of both are. O(groups * frames). Error:
// limit_exceeded.
[[nodiscard]] Result<Comparison> compare_groups(const Side& before, const Side& after, size_t limit);

struct ComparedSegments {
  explicit ComparedSegments(Budget& budget) : only_before(budget), only_after(budget) {}

  Column<replay::SegmentAt> only_before, only_after;  // largest first, then by address
  int64_t only_before_bytes = 0, only_after_bytes = 0;
  int64_t in_both = 0, in_both_bytes = 0;
};
// Both ascend by address. Error: limit_exceeded.
[[nodiscard]] Result<ComparedSegments> compare_segments(std::span<const replay::SegmentAt> before,
                                                        std::span<const replay::SegmentAt> after,
                                                        Budget& budget);

// What makes two recordings hard to compare.
struct Obstacle {
  enum class Kind : uint8_t {
    history,          // only one has one
    stacks,           // only one has stacks
    stacks_of_live,   // only what is alive in one has them
    untold_settings,  // only one tells the allocator's settings
    other_settings,   // the settings differ
    two_runs,         // or two processes: addresses have nothing in common
  };
  Kind kind = Kind::history;
  bool before_has_it = false;  // the history, the stacks
};

// A device of one recording at the moment that is compared.
struct ComparedDevice {
  const model::Recording& recording;
  const model::Part& part;
  const replay::StateHistory& history;
  const replay::MemoryAt& memory;
  const Top& top;  // without a limit
  Moments moments;

  [[nodiscard]] Side side() const { return {recording, top}; }
};

struct DeviceComparison {
  ComparedDevice before, after;
  Comparison groups;
  std::optional<ComparedSegments> segments;  // of one run (same_run.h)
  std::vector<Obstacle> obstacles;
};
// Both are grouped by the same. Error: limit_exceeded.
[[nodiscard]] Result<DeviceComparison> compare_devices(const ComparedDevice& before,
                                                       const ComparedDevice& after, bool of_one_run,
                                                       size_t limit);

}  // namespace gpustrata::analysis
