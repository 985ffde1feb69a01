// Heat map rows: the curves of all facts on one clock, or each on its own.
#include <algorithm>
#include <cmath>

#include "engine/fleet/fleet_rows.h"

namespace gpustrata::fleet {

namespace {

constexpr auto kBuckets = static_cast<size_t>(model::kFleetBuckets);
constexpr auto kOfLine = static_cast<double>(kFactCurveColumns);
constexpr double kRounding = 1e-6;  // of a column

struct Window {
  bool common = false;
  double from = 0, to = 0;  // microseconds; to > from
};

// One clock, if at some moment all of them ran.
[[nodiscard]] Window window_of(const FleetRows& rows, const Column<int64_t>& ids) {
  double first = INFINITY, last = -INFINITY, latest_from = -INFINITY, earliest_to = INFINITY, longest = 1;
  for (const int64_t id : ids) {
    const FactCurve& curve = rows.facts.curve(id);
    if (!curve.timed) continue;
    const auto from = static_cast<double>(curve.from_us), to = static_cast<double>(curve.to_us);
    first = std::min(first, from);
    last = std::max(last, to);
    latest_from = std::max(latest_from, from);
    earliest_to = std::min(earliest_to, to);
    longest = std::max(longest, to - from);
  }
  if (first <= last && latest_from <= earliest_to) return {true, first, std::max(last, first + 1)};
  return {false, 0, longest};
}

// Part of a line's columns that a bucket covers; empty where the line has nothing.
struct Covered {
  size_t first = 0, end = 0;
};
[[nodiscard]] Covered covered(const Window& window, const FactCurve& curve, size_t bucket) {
  double from = 0, length = window.to - window.from;  // of the line, without times all of it
  if (curve.timed) {
    from = window.common ? static_cast<double>(curve.from_us) - window.from : 0;
    length = static_cast<double>(curve.to_us - curve.from_us);
  } else if (window.common) {
    return {};
  }
  const double width = (window.to - window.from) / static_cast<double>(kBuckets);
  const double begin = width * static_cast<double>(bucket) - from, end = begin + width;
  if (end <= 0 || begin > length) return {};
  if (length <= 0) return {0, kFactCurveColumns};
  // Where the borders of both meet, rounding must not add a neighbour.
  const double first = std::clamp(std::floor(begin / length * kOfLine + kRounding), 0.0, kOfLine - 1);
  const double after = std::clamp(std::ceil(end / length * kOfLine - kRounding), first + 1, kOfLine);
  return {static_cast<size_t>(first), static_cast<size_t>(after)};
}

[[nodiscard]] uint8_t level_of(int64_t bytes, double scale) {
  if (bytes <= 0 || scale <= 0) return 0;
  return static_cast<uint8_t>(std::clamp(std::ceil(static_cast<double>(bytes) / scale * 255), 1.0, 255.0));
}

}  // namespace

Status add_curves(FleetRows& rows) {
  model::Fleet& fleet = rows.fleet;
  Column<int64_t> ids(fleet.budget);
  if (Status done = rows.each("SELECT id FROM facts ORDER BY place",
                              [&](Statement& line) { return ids.push_back(line.integer(0)); });
      !done)
    return done;
  const Window window = window_of(rows, ids);
  model::FleetCurves& curves = fleet.curves;
  curves.common_clock = window.common;
  curves.from_us = window.from;
  curves.to_us = window.to;
  for (const int64_t id : ids) {
    const FactCurve& curve = rows.facts.curve(id);
    for (size_t i = 0; i < kFactCurveColumns; ++i)
      curves.scale =
          std::max(curves.scale, static_cast<double>(std::max(curve.allocated[i], curve.reserved[i])));
  }
  for (const int64_t id : ids) {
    const FactCurve& curve = rows.facts.curve(id);
    for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
      const Covered part = covered(window, curve, bucket);
      int64_t allocated = 0, reserved = 0;
      for (size_t i = part.first; i < part.end; ++i) {
        allocated = std::max(allocated, curve.allocated[i]);
        reserved = std::max(reserved, curve.reserved[i]);
      }
      if (!curves.allocated.push_back(level_of(allocated, curves.scale)) ||
          !curves.reserved.push_back(level_of(reserved, curves.scale)))
        return no_memory();
    }
  }
  return {};
}

}  // namespace gpustrata::fleet
