// Lanes of ops as JSON, and one op in full.
#pragma once

#include <span>

#include "engine/analysis/ops/span_details.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"
#include "engine/replay/span_lanes.h"

namespace gpustrata::answers {

// {"threads":[{"process","id","name": text|null,"spans","records","rows","deeper"}],"threads_left_out"}.
void to_json(JsonWriter& json, const model::Recording& recording, const replay::SpanLanes& lanes);
// {"names":[...]} with the columns that the answer has besides as null.
void lane_names_to_json(JsonWriter& json, const model::Recording& recording, std::span<const StringId> names);

// [{"process","thread","thread_name","span","lane": {"thread","row"} of its lane | null,"ops":[names, innermost first],
// "module"}] of innermost ops.
void running_ops_to_json(JsonWriter& json, const model::Recording& recording, const replay::SpanLanes& lanes,
                         std::span<const int32_t> spans);
// {"next": event}; the columns of the answer are beside it.
void next_event_to_json(JsonWriter& json, int32_t event);

struct ShownSpan {
  const model::Recording& recording;
  const model::Part& part;
  const replay::SpanAxis& axis;
  const analysis::SpanDetails& details;
};
// {"span","name","category","kind","process","thread","thread_name","start_us": of the axis of times,"duration_us",
// "from_event","to_event","allocs","frees","net","gross","peak","around":[names, innermost first],"shapes","module","step",
// "filter": what lights its blocks | null}.
void to_json(JsonWriter& json, const ShownSpan& shown);

}  // namespace gpustrata::answers
