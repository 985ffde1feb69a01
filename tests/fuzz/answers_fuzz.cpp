// Long answers about any trace: the history as a program, segments as bars, the flame graph, what is alive, what
// grew, the overview, and the details of everything. They must end, add up, stay within the budget and give it
// back, and no total may be negative.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/analysis/calls/flame_graph.h"
#include "engine/analysis/compare/compare.h"
#include "engine/analysis/details/segment_stats.h"
#include "engine/analysis/report/overview.h"
#include "engine/answers/calls/flame_graph.h"
#include "engine/answers/compare/compare.h"
#include "engine/answers/details/block_details.h"
#include "engine/answers/details/events.h"
#include "engine/answers/details/memory_after.h"
#include "engine/answers/details/segment_stats.h"
#include "engine/answers/details/trace_program.h"
#include "engine/answers/live/top.h"
#include "engine/answers/text/json_of.h"
#include "tests/fuzz/contradictory_trace.h"

namespace {

using namespace gpustrata;

[[noreturn]] void wrong(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Frames of every kind that who asked for memory is decided by.
bool add_stacks(model::Recording& recording) {
  struct Named {
    const char *name, *file;
  };
  constexpr Named kFrames[] = {{"forward", "/home/a/model.py"},
                               {"main", "/home/a/train.py"},
                               {"linear", "/v/site-packages/torch/nn/functional.py"},
                               {"step", "/v/site-packages/trainer/loop.py"},
                               {"torch::autograd::generated::DivBackward0::apply(x)", "??"},
                               {"at::_ops::add_Tensor::call(x)", "??"},
                               {"PyEval_EvalFrame", "ceval.c"},
                               {"a;b\n\xff", ""}};
  std::vector<FrameId> frames;
  for (const Named& one : kFrames) {
    const StringId name = recording.strings.intern(one.name), file = recording.strings.intern(one.file);
    if (name.is_none() || file.is_none()) return false;
    frames.push_back(recording.frames.intern({name, file, static_cast<int32_t>(frames.size()), -1}));
    if (frames.back().is_none()) return false;
  }
  for (size_t i = 0; i < recording.events.size_rows(); ++i) {
    std::vector<FrameId> stack;
    for (size_t bits = recording.events.address[i] / 512 + i % 3; bits % 16 != 0; bits /= 2)
      stack.push_back(frames[bits % frames.size()]);
    recording.events.stack[i] = i % 7 == 0 ? StackId() : recording.stacks.intern(stack);
  }
  return true;
}

// Takes 16 MiB, then nothing more.
struct Bounded final : io::ByteSink {
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override {
    taken += bytes.size();
    if (taken < (size_t{16} << 20)) return {};
    return fail(ErrorCode::io_error, -1, "enough");
  }
  size_t taken = 0;
};

void look(const analysis::EventContext& context, const replay::MemoryAt& memory) {
  const model::Recording& recording = context.recording;
  Bounded sink;
  answers::TextOut out(sink);
  (void)answers::trace_to_text(out, context);
  answers::json_line(out, context);
  if (const auto stats = analysis::memory_stats(memory, recording.budget)) {
    for (const int64_t sum : {stats->sum.allocated, stats->sum.free, stats->sum.pending, stats->sum.rounding})
      if (sum < 0) wrong("a negative sum of segments");
    answers::to_text(out, context, memory, *stats);
    answers::json_line(out, context, memory, *stats);
  }
  if (analysis::memory_totals(context, memory).free < 0) wrong("negative free memory");
  answers::to_text(out, recording, context.history, memory);
  answers::json_line(out, recording, context.history, memory);
  for (const bool segments : {false, true}) {
    const auto stacks =
        analysis::fold_memory(recording, context.history, memory, context.index.streams, {segments, true});
    if (!stacks) continue;
    if (stacks->total() < 0) wrong("a negative flame graph");
    for (size_t i = 1; i < stacks->lines().size(); ++i) {
      if (!(stacks->line_text(stacks->lines()[i - 1]) < stacks->line_text(stacks->lines()[i])))
        wrong("folded lines are not in order");
    }
    answers::folded_to_text(out, *stacks);
    answers::flame_to_svg(out, *stacks, "all");
    answers::json_line(out, *stacks, 0, memory.event(), false);
  }
}

// What is alive at two moments, and what grew between them.
void compare(const analysis::EventContext& context, const replay::MemoryAt& memory, int32_t first,
             int32_t second) {
  const model::Recording& recording = context.recording;
  Bounded sink;
  answers::TextOut out(sink);
  for (const auto by :
       {analysis::By::shown, analysis::By::line, analysis::By::function, analysis::By::file}) {
    const auto a =
        find_top(recording, context.part, context.lifetimes, analysis::When::alive(first), by, SIZE_MAX);
    const auto b =
        find_top(recording, context.part, context.lifetimes, analysis::When::alive(second), by, SIZE_MAX);
    if (!a || !b) return;
    int64_t sum = 0;
    for (const analysis::TopGroup& group : a->groups) sum += group.bytes;
    if (sum != a->bytes || a->bytes != context.lifetimes.level_after(first))
      wrong("groups are not the level");
    const analysis::Moments moments{context.history.event_count(), context.lifetimes.peak_event};
    const analysis::ComparedDevice before{recording, context.part, context.history, memory, *a, moments},
        after{recording, context.part, context.history, memory, *b, moments};
    const auto compared = compare_devices(before, after, true, 3);
    if (!compared) return;
    const analysis::Comparison& grown = compared->groups;
    int64_t growth = grown.other_bytes.growth();
    for (const analysis::ComparedPart& row : grown.rows) growth += row.bytes.growth();
    if (growth != grown.bytes.growth()) wrong("rows are not the growth");
    answers::json_line(out, *compared);
    answers::to_text(out, *compared, 80, 3);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const int64_t limit = data[0] % 4 == 0 ? int64_t{200} << 10 : int64_t{64} << 20;
  Budget budget(limit);
  {
    model::Recording recording(budget);
    if (!tests::fill(recording, {data + 1, size - 1}) || !add_stacks(recording)) return 0;
    const model::Part& part = recording.parts[0];
    const auto lifetimes = replay::find_block_lives(recording, part, 0);
    const auto history = replay::undo_to_start(recording, part, 0);
    if (!lifetimes || !history) return 0;
    const auto index = analysis::index_device(recording, part, *lifetimes);
    if (!index) return 0;
    const analysis::EventContext context{recording, part, *history, *lifetimes, *index};
    const int32_t count = history->event_count();
    replay::MemoryAt memory(*history, budget);
    for (const int32_t event : {count - 1, data[1] % (count + 1) - 1}) {
      if (!memory.go_to(event)) return 0;
      look(context, memory);
      compare(context, memory, event, count - 1);
    }
    if (const auto overview = analysis::find_overview(recording, part, *lifetimes)) {
      int64_t sum = overview->peak_lines.other_bytes;
      for (const analysis::TopGroup& group : overview->peak_lines.groups) sum += group.bytes;
      if (sum != overview->peak_bytes) wrong("parts and rest are not the peak");
    }
    for (int32_t rank = 0; rank < lifetimes->count(); ++rank)
      (void)answers::json_of(recording, block_details(recording, *lifetimes, *index, rank));
    for (int32_t event = 0; event < count; ++event)
      (void)answers::json_of(context, event_details(context, event));
    if (budget.used() > limit) wrong("over the budget");
  }
  if (budget.used() != 0) wrong("charged for what is gone");
  return 0;
}
