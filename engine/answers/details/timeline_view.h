// What a view of the timeline tells.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/analysis/details/timeline_view.h"
#include "engine/analysis/filters/block_filter.h"
#include "engine/analysis/report/summary.h"
#include "engine/answers/described/members.h"
#include "engine/replay/timeline.h"

namespace gpustrata::answers {

void to_json(JsonWriter& json, std::span<const int64_t> numbers);

struct OpenedView {
  int32_t id;
  const analysis::ViewInfo& info;
  std::span<const analysis::Finding> findings;
};
void describe(Members& m, const OpenedView& view);

// Names are cut at 400 bytes.
void describe(Members& m, const model::Recording& recording, const analysis::BandLabel& label);

// No details: there is no band, or it is known. No group: the stack is one of blocks, or nothing is there.
struct Probe {
  const model::Recording& recording;
  const std::optional<analysis::BandPick>& pick;
  const std::optional<analysis::BandDetails>& details;
  const std::optional<analysis::GroupPick>& group;
};
void describe(Members& m, const Probe& probe);
struct PlacedBand {
  const model::Recording& recording;
  const analysis::BandDetails& details;
  const analysis::PlaceOfBand& place;
};
void describe(Members& m, const PlacedBand& band);

// The picture itself is painted into the frame.
struct PaintedPicture {
  const replay::Curves& curves;
};
void describe(Members& m, const PaintedPicture& picture);
struct BandEdges {
  std::span<const double> lower, upper;
};
void describe(Members& m, const BandEdges& edges);
// Of so many levels, made as they are written: they may be large.
struct Levels {
  size_t count;
  std::function<replay::LevelValues(size_t)> values_of;
};
void describe(Members& m, const Levels& levels);

// No matches: the filter is blank.
struct FilterMatches {
  const analysis::Matches* matches;
  int64_t at_peak;
};
void describe(Members& m, const FilterMatches& filter);

void describe(Members& m, const analysis::PlaceOfBand& place);
void describe(Members& m, const analysis::Shares& shares);

}  // namespace gpustrata::answers
