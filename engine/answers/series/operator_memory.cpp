#include "engine/answers/series/operator_memory.h"

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

namespace {

void describe_level(Members& m, Name name, const std::optional<analysis::OperatorLevel>& level) {
  m.object(name, level, [&](const analysis::OperatorLevel& at) {
    m.is("OperatorLevel");
    m.bytes("allocated_bytes", at.bytes);
    m.count("op", at.op);
  });
}

void describe_bytes(Members& m, Name name, const std::optional<analysis::OperatorLevel>& level) {
  m.bytes(name, level ? std::optional(level->bytes) : std::nullopt);
}

}  // namespace

void describe_operators(Members& m, const model::Recording& recording,
                        const analysis::OperatorMemory& memory) {
  m.count("ops", memory.ops);
  m.count("retries", memory.retries);
  m.by_name(
      As::count, {"markers", "Numbers of operators."}, memory.marks,
      [&](const analysis::OperatorMark& mark) { return in_list(recording.strings.view(mark.name)); },
      [](const analysis::OperatorMark& mark) { return mark.op; });
  describe_level(m, "peak", memory.peak);
  describe_bytes(m, "active_peak_bytes", memory.active_peak);
  describe_bytes(m, "reserved_peak_bytes", memory.reserved_peak);
  m.object({"unused", "The most that was reserved and not allocated."}, memory.unused,
           [&](const analysis::OperatorLevel& unused) {
             m.bytes("bytes", unused.bytes);
             m.count("op", unused.op);
             m.bytes("reserved_bytes", memory.unused_of_reserved);
           });
  m.list({"top", "Operators that took most."}, memory.top, [&](const analysis::OperatorDelta& delta) {
    m.count("op", delta.op);
    m.text("name", [&] { return in_list(recording.strings.view(delta.name)); });
    m.bytes("delta_bytes", delta.bytes);
  });
  m.list("modules", memory.modules, [&](const analysis::ModuleSum& sum) {
    m.text("module", [&] { return in_list(sum.module); });
    m.count("ops", sum.ops);
    m.bytes("delta_bytes", sum.bytes);
  });
  m.list("phases", memory.phases, [&](const analysis::OperatorPhase& phase) {
    m.text("name", phase.name);
    m.count("first_op", phase.first_op);
    m.count("last_op", phase.last_op);
    m.count("ops", phase.ops);
    m.bytes("delta_bytes", phase.bytes);
    describe_level(m, "peak", phase.peak);
  });
}

void describe(Members& m, const model::Recording& recording, const analysis::OperatorMemory& memory) {
  m.is("Operators");
  describe_operators(m, recording, memory);
}

void describe(Members& m, const TrackerLine& line) {
  m.line({"tracker --json", "What each operator did with memory."});
  m.text("file", line.of.file);
  m.text("format", [&] { return line.of.recording.format; });
  describe_operators(m, line.of.recording, m.of(line.memory));
  m.list("diagnostics", [&] { return analysis::findings(line.of.recording.diagnostics); });
}

void describe(Members& m, const TrackerComparison& line) {
  const analysis::OperatorComparison& comparison = m.of(line.comparison);
  m.line({"tracker OTHER --json", "Operators of two files."});
  m.text("before", line.before.file);
  m.text("after", line.after.file);
  describe_both(m, "ops", comparison.ops);
  describe_both(m, "peak_bytes", comparison.peak);
  m.object("calls", [&] {
    m.count("matched", comparison.matched);
    m.count("only_before", comparison.only_before);
    m.count("only_after", comparison.only_after);
    m.count("changed", comparison.changed);
  });
  m.list("changes", comparison.changes, [&](const analysis::OperatorChange& change) {
    const auto op = [](int64_t number) { return number < 0 ? std::nullopt : std::optional(number); };
    m.text("module", [&] { return in_list(change.name.module); });
    m.text("operator", [&] { return in_list(change.name.op); });
    m.count("ordinal", change.ordinal);
    m.count("op_before", op(change.op_before));
    m.count("op_after", op(change.op_after));
    describe_both(m, "bytes", change.bytes);
  });
  m.list("modules", comparison.modules, [&](const analysis::ModuleChange& change) {
    m.text("module", [&] { return in_list(change.module); });
    describe_both(m, "ops", change.ops);
    describe_both(m, "bytes", change.bytes);
  });
  m.list("diagnostics_before", [&] { return analysis::findings(line.before.recording.diagnostics); });
  m.list("diagnostics_after", [&] { return analysis::findings(line.after.recording.diagnostics); });
}

}  // namespace gpustrata::answers
