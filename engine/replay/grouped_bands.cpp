#include "engine/replay/grouped_bands.h"

#include <algorithm>

namespace gpustrata::replay {

Result<GroupedBands> GroupedBands::make(const Bands& bands, std::span<const uint8_t> group, size_t groups,
                                        Budget& budget) {
  GroupedBands found(budget);
  const size_t count = bands.size.size();
  if (!found.band_.resize(count, 0) || !found.place_.resize(count, 0) || !found.size_.resize(count, 0) ||
      !found.born_.resize(count, 0) || !found.freed_.resize(count, 0))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to stack {} blocks by group", count);
  found.first_.assign(groups + 1, 0);
  for (size_t band = 0; band < count; ++band) ++found.first_[size_t{group[band]} + 1];
  for (size_t i = 1; i <= groups; ++i) found.first_[i] += found.first_[i - 1];
  std::vector<int32_t> next = found.first_;
  for (size_t band = 0; band < count; ++band) {
    const auto place = static_cast<size_t>(next[group[band]]++);
    found.band_[place] = static_cast<int32_t>(band);
    found.place_[band] = static_cast<int32_t>(place);
    found.size_[place] = bands.size[band];
    found.born_[place] = bands.born[band];
    found.freed_[place] = bands.freed[band];
  }
  return found;
}

int32_t GroupedBands::group_of(int32_t place) const {
  return static_cast<int32_t>(std::upper_bound(first_.begin(), first_.end(), place) - first_.begin()) - 1;
}

}  // namespace gpustrata::replay
