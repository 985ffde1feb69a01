// Bytes and bands of each group after any event: what a stack is made of that is stacked by group.
//
// Births and frees in order of events, and the sums before every 128th of them: 4 bytes a change, 1 a band and
// 0.1 a change and group. A state is found by a search among those sums and at most 128 changes from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/replay/bands.h"

namespace gpustrata::replay {

inline constexpr size_t kMostGroups = 64;

class GroupLevels {
 public:
  // `group`: of each band, below `groups`, which is at most kMostGroups. Refers to `bands`, which must neither
  // move nor change. O(bands + events). Error: limit_exceeded.
  [[nodiscard]] static Result<GroupLevels> build(const Bands& bands, Column<uint8_t>&& group, size_t groups,
                                                 Budget& budget);

  [[nodiscard]] size_t groups() const { return groups_; }

  // The sums after one event after another; cheapest where they ascend.
  class Walk {
   public:
    // After event -1.
    explicit Walk(const GroupLevels& levels);

    void move_to(int32_t event);
    [[nodiscard]] std::span<const int64_t> bytes() const { return bytes_; }
    [[nodiscard]] std::span<const int32_t> bands() const { return bands_; }

   private:
    void restore(size_t checkpoint);

    const GroupLevels& levels_;
    size_t next_ = 0;  // change that has not happened yet
    int32_t event_ = -1;
    std::vector<int64_t> bytes_;  // by group
    std::vector<int32_t> bands_;
  };

 private:
  static constexpr size_t kChangesPerCheckpoint = 128;
  static constexpr uint32_t kFree = 0x80000000u;  // with the number of a band: it is freed, else born

  GroupLevels(const Bands& bands, Column<uint8_t>&& group, size_t groups, Budget& budget);
  [[nodiscard]] bool sort_changes(Budget& budget);
  [[nodiscard]] bool sum_up();
  [[nodiscard]] int32_t event_of(uint32_t change) const {
    const size_t band = change & ~kFree;
    return (change & kFree) != 0 ? bands_->freed[band] : bands_->born[band];
  }
  // The last one whose first change happened by then; 0 if there is none.
  [[nodiscard]] size_t checkpoint_before(int32_t event) const;
  void apply(uint32_t change, std::span<int64_t> bytes, std::span<int32_t> bands) const;

  const Bands* bands_;
  size_t groups_;
  Column<uint8_t> group_;
  Column<uint32_t> changes_;  // by event
  Column<int64_t> bytes_;     // before every kChangesPerCheckpoint-th change, by group
  Column<int32_t> counts_;
};

}  // namespace gpustrata::replay
