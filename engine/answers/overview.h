// The overview of a device: findings in words, each with what it is about.
#pragma once

#include <string>

#include "engine/analysis/overview.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace memstrata::answers {

// {"device","events","findings":[finding,...],"findings_left_out": out-of-memory events beyond the first 8}
//
// The most important finding first:
// {"kind": "out_of_memory" | "peak" | "unused" | "from_before" | "not_recorded",
//  "text": a short sentence,
//  "bytes": n|null,       exact: requested; level; reserved that no request fills; size
//  "event": n|null,       what it is about; -1 = the state before the first
//  "rank": n|null,        a block of the timeline
//  "filter": text|null,   analysis/filter_syntax.h; means the blocks it is about, or more (see below)
//  ... and by kind:
//  out_of_memory  "device_free","reserved_unused","who": text|null,"time_us": n|null
//  peak           "reserved","time_us": n|null,
//                 "parts":[{"who": text|null (no stack),"text","bytes","blocks","rank": of the largest block,
//                           "filter"}], at most 5 lines of the program, the largest first,
//                 "rest":{"text","bytes","blocks","lines"}; parts and rest add up to "bytes"
//  unused         "reserved","requested","at": "peak" | "end" | "highest_reserved"
//  from_before    "at_start","at_peak","at_end","blocks"
//  not_recorded   "what": "history" | "stacks" | "frames" | "some_stacks" | "times" | "oldest_events",
//                 "python": the line that records it next time}
// A filter by line means all blocks that have the line in their stack: it also means those for which a deeper
// line stands.
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::Overview& overview);

// What was not recorded: a sentence, and the line that records it next time.
struct MissingText {
  std::string text, python;
};
[[nodiscard]] MissingText missing_text(const analysis::Overview& overview, const analysis::Missing& missing);

}  // namespace memstrata::answers
