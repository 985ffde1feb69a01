#include "engine/replay/band_places.h"

#include <algorithm>
#include <unordered_map>

#include "engine/replay/timeline.h"

namespace gpustrata::replay {

namespace {

// Bands of at least `least` rows, from the bottom up. Each covers a row that is a multiple of `least`.
void find_runs(std::span<const uint32_t> pixels, int32_t column, int32_t least,
               std::vector<BandPlace>& runs) {
  runs.clear();
  const auto height = static_cast<int32_t>(pixels.size());
  const auto pixel = [&](int32_t row) { return pixels[static_cast<size_t>(row)]; };
  for (int32_t probe = 0; probe < height;) {
    const uint32_t rank = pixel(probe);
    int32_t end = probe + 1;
    if (rank <= kRankMask) {
      int32_t begin = probe;
      while (begin > 0 && pixel(begin - 1) == rank) --begin;
      while (end < height && pixel(end) == rank) ++end;
      if (end - begin >= least) runs.push_back({static_cast<int32_t>(rank), column, 1, begin, end - begin});
    }
    probe = (end + least - 1) / least * least;
  }
}

class Places {
 public:
  explicit Places(const PlaceLimits& limits) : limits_(limits) {}

  // Ranks ascend from the bottom up, in the open places as in the runs of a column.
  void add_column(const std::vector<BandPlace>& runs) {
    next_.clear();
    size_t open = 0;
    for (const BandPlace& run : runs) {
      while (open < open_.size() && open_[open].rank < run.rank) close(open_[open++]);
      next_.push_back(run);
      if (open == open_.size() || open_[open].rank != run.rank) continue;
      const BandPlace& before = open_[open++];
      const int32_t row = std::max(before.row, run.row);
      const int32_t end = std::min(before.row + before.rows, run.row + run.rows);
      if (end - row >= limits_.rows) {
        next_.back() = {run.rank, before.column, before.columns + 1, row, end - row};
      } else {
        close(before);
      }
    }
    while (open < open_.size()) close(open_[open++]);
    std::swap(open_, next_);
  }

  [[nodiscard]] std::vector<BandPlace> finish() {
    for (const BandPlace& place : open_) close(place);
    std::vector<BandPlace> found;
    for (const auto& [rank, place] : widest_) found.push_back(place);
    const auto area = [](const BandPlace& place) { return int64_t{place.columns} * place.rows; };
    std::sort(found.begin(), found.end(), [&](const BandPlace& a, const BandPlace& b) {
      return area(a) != area(b) ? area(a) > area(b) : a.rank < b.rank;
    });
    if (found.size() > limits_.most) found.resize(limits_.most);
    std::sort(found.begin(), found.end(), [](const BandPlace& a, const BandPlace& b) {
      return a.column != b.column ? a.column < b.column : a.rank < b.rank;
    });
    return found;
  }

 private:
  void close(const BandPlace& place) {
    if (place.columns < limits_.columns) return;
    const auto [known, is_new] = widest_.try_emplace(place.rank, place);
    if (!is_new && place.columns > known->second.columns) known->second = place;
  }

  PlaceLimits limits_;
  std::vector<BandPlace> open_, next_;
  std::unordered_map<int32_t, BandPlace> widest_;
};

}  // namespace

std::vector<BandPlace> find_band_places(std::span<const uint32_t> pixels, int32_t height,
                                        const PlaceLimits& limits) {
  if (height <= 0 || limits.columns < 1 || limits.rows < 1) return {};
  const auto columns = static_cast<int32_t>(pixels.size() / static_cast<size_t>(height));
  Places places(limits);
  std::vector<BandPlace> runs;
  for (int32_t column = 0; column < columns; ++column) {
    const auto first = static_cast<size_t>(column) * static_cast<size_t>(height);
    find_runs(pixels.subspan(first, static_cast<size_t>(height)), column, limits.rows, runs);
    places.add_column(runs);
  }
  return places.finish();
}

}  // namespace gpustrata::replay
