// What a view of the timeline tells, as JSON. Of answers with columns (session/frame.h) the object around them.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/analysis/details/timeline_view.h"
#include "engine/analysis/filters/block_filter.h"
#include "engine/analysis/report/summary.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

// {} or, with names, {"curves":{}}: columns go there.
void columns_to_json(JsonWriter& json, std::initializer_list<std::string_view> objects);
void to_json(JsonWriter& json, std::span<const int64_t> numbers);

struct OpenedView {
  int32_t id;
  const analysis::ViewInfo& info;
  std::span<const analysis::Finding> findings;
};
void describe(Members& m, const OpenedView& view);

// Names are cut at 400 bytes.
void describe(Members& m, const model::Recording& recording, const analysis::BandLabel& label);
void describe(Members& m, const analysis::KindPlace& place);

// {"pick": {"event","time_us","level","allocated","reserved","rank", of a band "name","size","active"?} | null,
//  "details"?}
void probe_to_json(JsonWriter& json, const model::Recording& recording, const analysis::BandPick* pick,
                   const analysis::BandDetails* details);
void describe(Members& m, const std::optional<analysis::GroupPick>& pick);
// {"details","place":{"from","to","offset","size"}}
void band_to_json(JsonWriter& json, const model::Recording& recording, const analysis::BandDetails& details,
                  const analysis::PlaceOfBand& place);
// A block as block_details.h has it; {"kind":"envelope",...}; {"kind":"segment","rank","piece", and the members of a
// segment of memory_after.h}; null.
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::BandDetails& details);

// No matches: the filter is blank.
struct FilterMatches {
  const analysis::Matches* matches;
  int64_t at_peak;
};
void describe(Members& m, const FilterMatches& filter);

void describe(Members& m, const analysis::PlaceOfBand& place);
void describe(Members& m, const analysis::Shares& shares);

}  // namespace gpustrata::answers
