// Bands stacked group by group: those of a group lie together, in the order that they have among all.
//
// A band's place is its number from bottom to top of that stack, which never changes either: with zoom and time a group is as high as
// what lives of it, and whoever points at a block points at it in both. Places may be born in any order (stack_tree.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/replay/bands.h"

namespace gpustrata::replay {

class GroupedBands {
 public:
  // `group`: of each band, below `groups`; the first one is at the bottom. O(bands), 24 bytes a band.
  // Error: limit_exceeded.
  [[nodiscard]] static Result<GroupedBands> make(const Bands& bands, std::span<const uint8_t> group,
                                                 size_t groups, Budget& budget);

  [[nodiscard]] int32_t groups() const { return static_cast<int32_t>(first_.size()) - 1; }
  // The first place of each, and where the last one ends.
  [[nodiscard]] std::span<const int32_t> first() const { return first_; }
  // The group's places are [first_of(group), first_of(group + 1)).
  [[nodiscard]] int32_t first_of(int32_t group) const { return first_[static_cast<size_t>(group)]; }
  // O(log groups).
  [[nodiscard]] int32_t group_of(int32_t place) const;
  [[nodiscard]] int32_t place_of(int32_t band) const { return place_[band]; }

  // By place.
  [[nodiscard]] std::span<const int32_t> band() const { return band_.span(); }
  [[nodiscard]] std::span<const int64_t> size() const { return size_.span(); }
  [[nodiscard]] std::span<const int32_t> born() const { return born_.span(); }
  [[nodiscard]] std::span<const int32_t> freed() const { return freed_.span(); }

 private:
  explicit GroupedBands(Budget& budget)
      : band_(budget), place_(budget), size_(budget), born_(budget), freed_(budget) {}

  std::vector<int32_t> first_;
  Column<int32_t> band_, place_;
  Column<int64_t> size_;
  Column<int32_t> born_, freed_;
};

}  // namespace gpustrata::replay
