#include "engine/replay/group_levels.h"

#include <algorithm>
#include <utility>

namespace gpustrata::replay {

GroupLevels::GroupLevels(const Bands& bands, Column<uint8_t>&& group, size_t groups, Budget& budget)
    : bands_(&bands),
      groups_(groups),
      group_(std::move(group)),
      changes_(budget),
      bytes_(budget),
      counts_(budget) {}

Result<GroupLevels> GroupLevels::build(const Bands& bands, Column<uint8_t>&& group, size_t groups,
                                       Budget& budget) {
  GroupLevels levels(bands, std::move(group), groups, budget);
  if (!levels.sort_changes(budget) || !levels.sum_up())
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the sums of {} groups of {} blocks",
                groups, bands.count());
  return levels;
}

bool GroupLevels::sort_changes(Budget& budget) {
  const Bands& bands = *bands_;
  const int32_t events = bands.events.count;
  // Where the changes of each event begin; then, while they are put there, where the next one goes.
  Column<uint32_t> place(budget);
  if (!place.resize(static_cast<size_t>(std::max(events, 0)) + 1, 0)) return false;
  const auto each_change = [&](auto&& tell) {
    for (int32_t band = 0; band < bands.count(); ++band) {
      const int32_t born = bands.born[band];
      const int32_t freed = bands.freed[band];
      if (born >= freed) continue;
      if (born >= 0 && born < events) tell(born, static_cast<uint32_t>(band));
      if (freed >= 0 && freed < events) tell(freed, static_cast<uint32_t>(band) | kFree);
    }
  };
  size_t count = 0;
  each_change([&](int32_t event, uint32_t) {
    ++place[event + 1];
    ++count;
  });
  for (size_t event = 1; event < place.size(); ++event) place[event] += place[event - 1];
  if (!changes_.reserve(count) || !changes_.resize(count, 0)) return false;
  each_change([&](int32_t event, uint32_t change) { changes_[place[event]++] = change; });
  return true;
}

bool GroupLevels::sum_up() {
  const Bands& bands = *bands_;
  const size_t checkpoints = changes_.size() / kChangesPerCheckpoint + 1;
  if (!bytes_.reserve(checkpoints * groups_) || !counts_.reserve(checkpoints * groups_)) return false;
  std::vector<int64_t> bytes(groups_, 0);
  std::vector<int32_t> counts(groups_, 0);
  for (int32_t band = 0; band < bands.count(); ++band) {
    if (!bands.is_live_after(band, -1)) continue;
    bytes[group_[band]] += bands.size[band];
    ++counts[group_[band]];
  }
  for (size_t change = 0; change <= changes_.size(); ++change) {
    if (change % kChangesPerCheckpoint == 0 && (!bytes_.append(bytes) || !counts_.append(counts)))
      return false;
    if (change < changes_.size()) apply(changes_[change], bytes, counts);
  }
  return true;
}

void GroupLevels::apply(uint32_t change, std::span<int64_t> bytes, std::span<int32_t> bands) const {
  const size_t band = change & ~kFree;
  const size_t group = group_[band];
  const bool is_free = (change & kFree) != 0;
  bytes[group] += is_free ? -bands_->size[band] : bands_->size[band];
  bands[group] += is_free ? -1 : 1;
}

size_t GroupLevels::checkpoint_before(int32_t event) const {
  size_t low = 0;
  size_t high = changes_.size() / kChangesPerCheckpoint + 1;  // the last one may have no changes
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    const size_t change = middle * kChangesPerCheckpoint;
    (change < changes_.size() && event_of(changes_[change]) <= event ? low : high) = middle;
  }
  return low;
}

GroupLevels::Walk::Walk(const GroupLevels& levels)
    : levels_(levels), bytes_(levels.groups_), bands_(levels.groups_) {
  restore(0);
}

void GroupLevels::Walk::restore(size_t checkpoint) {
  const auto groups = static_cast<ptrdiff_t>(levels_.groups_);
  const auto first = static_cast<ptrdiff_t>(checkpoint) * groups;
  std::copy_n(levels_.bytes_.begin() + first, groups, bytes_.begin());
  std::copy_n(levels_.counts_.begin() + first, groups, bands_.begin());
  next_ = checkpoint * kChangesPerCheckpoint;
}

void GroupLevels::Walk::move_to(int32_t event) {
  const size_t checkpoint = levels_.checkpoint_before(event);
  // What has passed since the checkpoint is passed already, unless one goes back.
  if (event < event_ || checkpoint * kChangesPerCheckpoint > next_) restore(checkpoint);
  event_ = event;
  const Column<uint32_t>& changes = levels_.changes_;
  for (; next_ < changes.size() && levels_.event_of(changes[next_]) <= event; ++next_)
    levels_.apply(changes[next_], bytes_, bands_);
}

}  // namespace gpustrata::replay
