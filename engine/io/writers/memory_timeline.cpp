#include "engine/io/writers/memory_timeline.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string>

#include "engine/io/readers/series/memory_timeline.h"

namespace gpustrata::io {

namespace {

using model::RowRange;

constexpr size_t kCategories = kTimelineCategories.size();

// As Python's int(t / 1000): the quotient is rounded to a double before it is cut.
[[nodiscard]] int64_t microseconds_of(int64_t nanoseconds) {
  return static_cast<int64_t>(static_cast<double>(static_cast<long double>(nanoseconds) / 1000.0L));
}

// The rows of the file that is written, in order.
class Rows {
 public:
  Rows(const model::Recording& recording, const model::Part& part) : rec_(recording) {
    if (part.series.count == 0) return;
    total_ = recording.series.points[part.series.first];
    for (int32_t row = part.series.first + 1; row < part.series.end(); ++row) {
      for (size_t i = 0; i < kCategories; ++i) {
        if (recording.strings.view(recording.series.name[row]) != kTimelineCategories[i]) continue;
        points_[i] = recording.series.points[row];
        names_[i] = recording.series.name[row];
      }
    }
    is_raw_ = part.clock.tick_ns == 1;
    before_ = is_raw_ ? recording.strings.find("PREEXISTING") : StringId{};
  }

  // Calls `row(time, levels)` for each.
  template <typename Row>
  void each(const Row& row) {
    std::array<int32_t, kCategories> used{};
    std::array<int64_t, kCategories> levels{};
    for (int32_t point = total_.first; point < total_.end();) {
      const int64_t time = time_of(point);
      const bool before = is_before(point);
      // Raw: all changes of the microsecond; else one point.
      do {
        for (size_t i = 0; i < kCategories; ++i) {
          if (is_raw_ && rec_.points.label[point] != names_[i]) continue;
          if (used[i] < points_[i].count) levels[i] = rec_.points.value[points_[i].first + used[i]++];
        }
        ++point;
      } while (is_raw_ && point < total_.end() && time_of(point) == time && is_before(point) == before);
      row(time, levels);
    }
  }

 private:
  [[nodiscard]] int64_t time_of(int32_t point) const {
    const int64_t time = rec_.points.time[point];
    if (time == model::kNoTime) return -1;
    return is_raw_ ? microseconds_of(time) : time;
  }
  [[nodiscard]] bool is_before(int32_t point) const {
    return !before_.is_none() && rec_.points.note[point] == before_;
  }

  const model::Recording& rec_;
  RowRange total_;
  std::array<RowRange, kCategories> points_{};
  std::array<StringId, kCategories> names_{};
  StringId before_;
  bool is_raw_ = false;
};

}  // namespace

Status write_memory_timeline(const model::Recording& recording, const model::Part& part, ByteSink& sink) {
  Status status;
  std::string text = "[[";
  const auto flush = [&](size_t beyond) {
    if (!status || text.size() <= beyond) return;
    status = sink.write(bytes_of(text));
    text.clear();
  };
  Rows rows(recording, part);
  bool first = true;
  rows.each([&](int64_t time, const auto&) {
    fmt::format_to(std::back_inserter(text), "{}{}", first ? "" : ", ", time);
    first = false;
    flush(kSinkPiece);
  });
  text += "], [";
  first = true;
  rows.each([&](int64_t, const std::array<int64_t, kCategories>& levels) {
    text += first ? "[0" : ", [0";
    first = false;
    for (const int64_t level : levels) fmt::format_to(std::back_inserter(text), ", {}", level);
    text += ']';
    flush(kSinkPiece);
  });
  text += "]]";
  flush(0);
  return status;
}

}  // namespace gpustrata::io
