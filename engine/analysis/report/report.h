// Everything that a person asks of one device's recording, answered at once: `gpustrata report`.
//
// Each answer is a file of its own; this one only asks them all. What is shared (lives, states, attributes) is the
// caller's. O(events log events).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "engine/analysis/categories/categories.h"
#include "engine/analysis/device/device.h"
#include "engine/analysis/device/event_context.h"
#include "engine/analysis/findings/cache_flushes.h"
#include "engine/analysis/findings/ending.h"
#include "engine/analysis/findings/fragmentation.h"
#include "engine/analysis/findings/never_full.h"
#include "engine/analysis/findings/out_of_memory.h"
#include "engine/analysis/live/repeats.h"
#include "engine/analysis/live/top.h"
#include "engine/analysis/report/overview.h"
#include "engine/analysis/steps/leaks.h"
#include "engine/base/status.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::analysis {

inline constexpr double kMostOfPeak = 0.6;
inline constexpr size_t kMostPeakParts = 20;

// Where the reserved memory goes after one event. All but `reserved` add up to it, unless blocks lie outside of segments.
struct ReservedUse {
  int32_t event = -1;
  int64_t reserved = 0;
  int64_t requested = 0;  // of blocks in use, or waiting to be freed
  int64_t rounding = 0;   // what such blocks are larger than their requests
  int64_t cached = 0;     // free blocks
  int64_t pending = 0;    // blocks waiting to be freed, rounded
};

struct Report {
  explicit Report(Budget& budget)
      : overview(budget), peak(budget), peak_groups(budget), categories_at_peak(budget) {}

  Overview overview;
  bool lacks_segments = false;  // blocks lie in no segment: what was reserved is not known
  Top peak;                     // by stacks as they are shown, at most kMostPeakParts
  // The peak as a person would cut it: by line, else by function, else by file; the finest of them of which the
  // kMostPeakLines largest groups are kMostOfPeak of it, else the one of which they are most.
  Top peak_groups;
  std::vector<Repeat> repeats;  // of the peak
  std::optional<ReservedUse>
      highest;  // at Overview::highest_reserved; none: a profiler told it, who knows no segments
  Ending ending;
  CacheFlushes cache_flushes;
  OutOfMemoryEvents out_of_memory;
  const Steps* steps = nullptr;  // of Device, as
  Leaks leaks;
  std::optional<Fragmentation> fragmentation;  // the same; at fragmentation_event()
  // Where pieces do harm: at the last request that failed, else at the worse of two moments: before the flush that gave most back
  // to serve a request, and at the peak. Cache that nobody asks for, as between steps, is none.
  std::optional<Fragmentation> harmful_fragmentation;
  std::optional<NeverFull> never_full;          // only if somebody asks for it, too
  const KnownCategories* categories = nullptr;  // these
  CategorySums categories_at_peak;
};

// The same answer by answer, so that others come in between. Refers to what it is made of.
class ReportFinder {
 public:
  ReportFinder(const EventContext& context, Device& device);

  static constexpr int32_t kParts = 9;
  // The first `part` of the parts, at least. Error: limit_exceeded; a later call goes on there.
  [[nodiscard]] Status find(int32_t part);
  // All parts must have been found.
  [[nodiscard]] const Report& report() const { return found_; }
  [[nodiscard]] Report take() { return std::move(found_); }

 private:
  [[nodiscard]] Status find_one(int32_t part);

  EventContext context_;
  Device& device_;
  replay::MemoryAt memory_;
  Report found_;
  int32_t found_parts_ = 0;
};

// All at once. Error: limit_exceeded.
[[nodiscard]] Result<Report> find_report(const EventContext& context, Device& device);

}  // namespace gpustrata::analysis
