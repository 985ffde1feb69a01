// What `gpustrata report` says of a device, as JSON.
#pragma once

#include <string_view>

#include "engine/analysis/report/report.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// "annotations", "regions", "loop"; empty for nothing, which JSON gives as null.
[[nodiscard]] std::string_view name_of(analysis::StepsFrom from);

// {"snapshot": its name if it has one,
//  "device",
//  "peak":{"event","requested_bytes","blocks","parts":[{"stack","bytes","blocks","who","rank"}],"rest_bytes",
//          "rest_blocks","rest_parts"}: parts and rest add up to the peak,
//  "steps":{"count","from","name": of the region, or the loop in words|null,"sure","why_not": none were found|null},
//  "leaks":[{"stack","bytes_per_step","blocks_per_step","steps","first_step","gap","inner":{"line","repeats"}|null,
//            "freed_event": all are, after the steps|null,"live_bytes","live_blocks","confidence","who","rank"}],
//  "leaks_left_out",
//  "oom":[see out_of_memory.h],"oom_left_out": earlier ones,
//  "fragmentation":{"event","reserved_bytes","allocated_bytes","pending_bytes","cached_bytes","largest_free_bytes",
//                   "held_back_bytes","share","pinned_segments",
//                   "pins":[{"segment":"0x...","segment_bytes","free_bytes","held_back_bytes","blocks","pinned_bytes",
//                            "expandable","who": of the largest block,"stack","since_event": of the oldest}],
//                   "never_full": see never_full.h, if it was asked for},
//  "categories":[{"name","bytes_at_peak","blocks","sure"}]: add up to the peak}
void to_json(JsonWriter& json, std::string_view snapshot, const analysis::EventContext& context,
             const analysis::Report& report, const analysis::CategoryRules& rules);

// {"file","format","devices":[these],"diagnostics"} as a line, a device at a time.
class ReportLine {
 public:
  ReportLine(TextOut& out, std::string_view file, std::string_view format);
  void add(std::string_view snapshot, const analysis::EventContext& context, const analysis::Report& report,
           const analysis::CategoryRules& rules);
  void end(const model::Diagnostics& diagnostics);

 private:
  TextOut& out_;
  JsonWriter json_;
};

}  // namespace gpustrata::answers
