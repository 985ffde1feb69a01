#include "engine/answers/series/operator_memory.h"

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

namespace {

void level_to_json(JsonWriter& json, std::string_view name,
                   const std::optional<analysis::OperatorLevel>& level) {
  json.key(name);
  if (!level) return json.null();
  json.begin_object();
  json.member("allocated_bytes", level->bytes);
  json.member("op", level->op);
  json.end_object();
}

void bytes_to_json(JsonWriter& json, std::string_view name,
                   const std::optional<analysis::OperatorLevel>& level) {
  json.member(name, level ? std::optional(level->bytes) : std::nullopt);
}

void lists_to_json(JsonWriter& json, const model::Recording& recording,
                   const analysis::OperatorMemory& memory) {
  json.key("top");
  json.begin_array();
  for (const analysis::OperatorDelta& delta : memory.top) {
    json.begin_object();
    json.member("op", delta.op);
    json.member("name", in_list(recording.strings.view(delta.name)));
    json.member("delta_bytes", delta.bytes);
    json.end_object();
  }
  json.end_array();
  json.key("modules");
  json.begin_array();
  for (const analysis::ModuleSum& sum : memory.modules) {
    json.begin_object();
    json.member("module", in_list(sum.module));
    json.member("ops", sum.ops);
    json.member("delta_bytes", sum.bytes);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void to_json(JsonWriter& json, const model::Recording& recording, const analysis::OperatorMemory& memory) {
  json.member("ops", memory.ops);
  json.member("retries", memory.retries);
  json.key("markers");
  json.begin_object();
  for (const analysis::OperatorMark& mark : memory.marks)
    json.member(in_list(recording.strings.view(mark.name)), mark.op);
  json.end_object();
  level_to_json(json, "peak", memory.peak);
  bytes_to_json(json, "active_peak_bytes", memory.active_peak);
  bytes_to_json(json, "reserved_peak_bytes", memory.reserved_peak);
  json.key("unused");
  if (memory.unused) {
    json.begin_object();
    json.member("bytes", memory.unused->bytes);
    json.member("op", memory.unused->op);
    json.member("reserved_bytes", memory.unused_of_reserved);
    json.end_object();
  } else {
    json.null();
  }
  lists_to_json(json, recording, memory);
  json.key("phases");
  json.begin_array();
  for (const analysis::OperatorPhase& phase : memory.phases) {
    json.begin_object();
    json.member("name", phase.name);
    json.member("first_op", phase.first_op);
    json.member("last_op", phase.last_op);
    json.member("ops", phase.ops);
    json.member("delta_bytes", phase.bytes);
    level_to_json(json, "peak", phase.peak);
    json.end_object();
  }
  json.end_array();
}

void to_json(JsonWriter& json, const analysis::OperatorComparison& comparison) {
  both_to_json(json, "ops", comparison.ops);
  both_to_json(json, "peak_bytes", comparison.peak);
  json.key("calls");
  json.begin_object();
  json.member("matched", comparison.matched);
  json.member("only_before", comparison.only_before);
  json.member("only_after", comparison.only_after);
  json.member("changed", comparison.changed);
  json.end_object();
  json.key("changes");
  json.begin_array();
  for (const analysis::OperatorChange& change : comparison.changes) {
    const auto op = [](int64_t number) { return number < 0 ? std::nullopt : std::optional(number); };
    json.begin_object();
    json.member("module", in_list(change.name.module));
    json.member("operator", in_list(change.name.op));
    json.member("ordinal", change.ordinal);
    json.member("op_before", op(change.op_before));
    json.member("op_after", op(change.op_after));
    both_to_json(json, "bytes", change.bytes);
    json.end_object();
  }
  json.end_array();
  json.key("modules");
  json.begin_array();
  for (const analysis::ModuleChange& change : comparison.modules) {
    json.begin_object();
    json.member("module", in_list(change.module));
    both_to_json(json, "ops", change.ops);
    both_to_json(json, "bytes", change.bytes);
    json.end_object();
  }
  json.end_array();
}

void operators_to_json(JsonWriter& json, const model::Recording& recording,
                       const analysis::OperatorMemory& memory) {
  json.begin_object();
  to_json(json, recording, memory);
  json.end_object();
}

void write_json_line(TextOut& out, const model::Recording& recording, const analysis::OperatorMemory& memory,
                     std::string_view file) {
  JsonWriter json = out.json();
  json.begin_object();
  json.member("file", file);
  json.member("format", std::string_view(recording.format));
  to_json(json, recording, memory);
  json.key("diagnostics");
  to_json(json, analysis::findings(recording.diagnostics));
  json.end_object();
  out.end_line(json);
}

void write_json_line(TextOut& out, const analysis::OperatorComparison& comparison,
                     const NamedRecording& before, const NamedRecording& after) {
  JsonWriter json = out.json();
  json.begin_object();
  json.member("before", before.file);
  json.member("after", after.file);
  to_json(json, comparison);
  json.key("diagnostics_before");
  to_json(json, analysis::findings(before.recording.diagnostics));
  json.key("diagnostics_after");
  to_json(json, analysis::findings(after.recording.diagnostics));
  json.end_object();
  out.end_line(json);
}

}  // namespace gpustrata::answers
