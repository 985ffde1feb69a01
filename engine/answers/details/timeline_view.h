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
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// {} or, with names, {"curves":{}}: columns go there.
void columns_to_json(JsonWriter& json, std::initializer_list<std::string_view> objects);
void to_json(JsonWriter& json, std::span<const int64_t> numbers);

// {"id","info":{"bands","device","events","blocks","from_start","pools"?,"peak":{"bytes","event"},"initial_bytes",
//  "final_bytes","reserved_peak","reserved_final","extent":{"event","time_us"},"first_time_us","last_time_us",
//  "oom_events":[n],"has_stacks","segments","settings"},"diagnostics"}
void opened_to_json(JsonWriter& json, int32_t id, const analysis::ViewInfo& info,
                    std::span<const analysis::Finding> findings);

// [{"rank","size","name"?,"function","place": "train.py:96","x0","x1","y0","y1"}]; names are cut at 400 bytes.
void to_json(JsonWriter& json, const model::Recording& recording,
             std::span<const analysis::BandLabel> labels);

// [{"kind","x0","x1","y0","y1"}]
void to_json(JsonWriter& json, std::span<const analysis::KindPlace> places);

// {"pick": {"event","time_us","level","allocated","reserved","rank", of a band "name","size","active"?} | null,
//  "details"?}
void probe_to_json(JsonWriter& json, const model::Recording& recording, const analysis::BandPick* pick,
                   const analysis::BandDetails* details);
// {"pick" as above | null, "group": {"kind","bytes","blocks","matched"?: {"bytes","blocks"}} | null}
void to_json(JsonWriter& json, const std::optional<analysis::GroupPick>& pick);
// {"details","place":{"from","to","offset","size"}}
void band_to_json(JsonWriter& json, const model::Recording& recording, const analysis::BandDetails& details,
                  const analysis::PlaceOfBand& place);
// A block as block_details.h has it; {"kind":"envelope",...}; {"kind":"segment","rank","piece", and the members of a
// segment of memory_after.h}; null.
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::BandDetails& details);

// {"count","bytes","at_peak","first": rank}; null matches: the filter is blank.
void matches_to_json(JsonWriter& json, const analysis::Matches* matches, int64_t at_peak);

// {"event","level","kinds":[{"bytes","blocks"}],"unused"?,"matched":{"bytes","blocks"}|null}
void to_json(JsonWriter& json, const analysis::Shares& shares);

}  // namespace gpustrata::answers
