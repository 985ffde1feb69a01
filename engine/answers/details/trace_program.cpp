#include "engine/answers/details/trace_program.h"

#include <fmt/core.h>

#include <string>
#include "engine/analysis/details/event_details.h"
#include "engine/analysis/details/event_list.h"
#include "engine/analysis/details/trace_program.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/details/events.h"
#include "engine/answers/text/bounded.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::answers {

using analysis::EventContext;
using analysis::TraceStep;
using trace::Action;

namespace {

[[nodiscard]] std::string variable(char letter, int32_t number, uint64_t address) {
  return number < 0 ? fmt::format("MEM[{:#x}]", address) : fmt::format("{}{}", letter, number);
}

[[nodiscard]] std::string line_of(const EventContext& context, const TraceStep& step) {
  const std::string size = size_text(step.size);
  const std::string block = variable('b', step.block, step.address);
  const std::string segment = variable('s', step.segment, step.address);
  switch (step.action) {
    case Action::alloc:
      return step.segment < 0 ? fmt::format("{} = MEM[{:#x}:{}]", block, step.address, size)
                              : fmt::format("{} = {}[{:#x}:{}]", block, segment, step.offset, size);
    case Action::free_requested:
      return fmt::format("del {}  # {}", block, size);
    case Action::free_completed:
      return fmt::format("# free completed for {}  {}", block, size);
    case Action::free:
      return fmt::format("del {}  # {}, completed", block, size);
    case Action::segment_alloc:
      return fmt::format("{} = cudaMalloc({:#x}, {})", segment, step.address, size);
    case Action::segment_free:
      return fmt::format("cudaFree({})  # {}", segment, size);
    case Action::segment_map:
      return fmt::format("{} = cuMemMap({:#x}, {})", segment, step.address, size);
    case Action::segment_unmap:
      return fmt::format("cuMemUnmap({})  # {}", segment, size);
    case Action::oom:
      if (const auto free = model::device_free(context.recording.events, context.row(step.event)))
        return fmt::format("raise OutOfMemoryError  # {} requested, {} free on the device", size,
                           size_text(*free));
      return fmt::format("raise OutOfMemoryError  # {} requested", size);
    default: {
      const model::Recording& recording = context.recording;
      const StringId metadata = recording.events.metadata[context.row(step.event)];
      return fmt::format("# {}  {:#x} {} {}", printable(in_list(recording.action_name(step.action))),
                         step.address, size, printable(in_list(recording.strings.view(metadata))));
    }
  }
}

}  // namespace

Status trace_to_text(TextOut& out, const EventContext& context) {
  auto program = analysis::TraceProgram::of(context);
  if (!program) return tl::unexpected(program.error());
  replay::MemoryAt memory(context.history, context.recording.budget);
  if (!memory.go_to(context.history.event_count() - 1))
    return fail(ErrorCode::limit_exceeded, -1, "The memory state does not fit into memory.");
  out.print("Device {} ({} events)\n", context.history.rows.device,
            count_text(context.history.event_count()));
  while (!program->done() && !out.failed()) out.print("{}\n", line_of(context, program->step()));
  out.print("TOTAL MEM: {} bytes allocated, {} reserved\n", memory.totals().allocated,
            memory.totals().reserved);
  return {};
}

void describe(Members& m, const EventContext& context) {
  m.line({"trace --json", "All events of a device."});
  describe_damage(m, m.found([&] { return context.recording.diagnostics.incomplete(); }));
  m.count("device", [&] { return context.history.rows.device; });
  const auto one = [&](const analysis::EventRow& row) { describe(m, context, row); };
  if (m.is_schema()) return m.list("events", std::span<const analysis::EventRow>(), one);
  // A thousand at a time, so that not all are held.
  m.written(As::any, "events", [&](JsonWriter& json) {
    const int32_t count = context.history.event_count();
    const auto list = analysis::EventList::all(count, context.recording.budget);
    json.begin_array();
    for (int32_t first = 0; first < count && !json.refused(); first += analysis::kMostInList)
      for (const auto& row : analysis::event_rows(context, list, first, analysis::kMostInList))
        to_json(json, context, row);
    json.end_array();
  });
}

}  // namespace gpustrata::answers
