// Lanes of ops as JSON, and one op in full.
#pragma once

#include <span>

#include "engine/analysis/ops/span_details.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"
#include "engine/replay/span_lanes.h"

namespace gpustrata::answers {

void describe(Members& m, const model::Recording& recording, const replay::SpanLanes& lanes);
// {"names":[...]} with the columns that the answer has besides as null.
void lane_names_to_json(JsonWriter& json, const model::Recording& recording, std::span<const StringId> names);

// What ran, of its innermost op.
void describe(Members& m, const model::Recording& recording, const replay::SpanLanes& lanes, int32_t span);
// {"next": event}; the columns of the answer are beside it.
void next_event_to_json(JsonWriter& json, int32_t event);

struct ShownSpan {
  const model::Recording& recording;
  const model::Part& part;
  const replay::SpanAxis& axis;
  const analysis::SpanDetails& details;
};
void describe(Members& m, const ShownSpan& shown);

}  // namespace gpustrata::answers
