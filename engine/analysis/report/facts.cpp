#include "engine/analysis/report/facts.h"

#include <algorithm>
#include <utility>

#include "engine/analysis/steps/steps.h"
#include "engine/base/saturating.h"
#include "engine/replay/event_axis.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::analysis {

namespace {

void find_times(Facts& facts, const EventContext& context) {
  for (int32_t event = 0; event < context.lifetimes.events.count; ++event) {
    const auto time = context.time_us(event);
    if (!time) continue;
    facts.first_us = std::min(facts.first_us.value_or(*time), *time);
    facts.last_us = std::max(facts.last_us.value_or(*time), *time);
  }
}

// Where most is reserved after each event of the columns is a walk along the steps of the series.
class Reserved {
 public:
  explicit Reserved(const replay::StepSeries& series) : series_(series), value_(series.initial) {}
  [[nodiscard]] int64_t after(int32_t event) {
    while (next_ < series_.event.size() && series_.event[next_] <= event) value_ = series_.value[next_++];
    return std::max<int64_t>(value_, 0);
  }

 private:
  const replay::StepSeries& series_;
  int64_t value_;
  size_t next_ = 0;
};

[[nodiscard]] Status find_curve(Facts& facts, const EventContext& context) {
  const replay::BlockLives& lives = context.lifetimes;
  FactCurve& curve = facts.curve;
  replay::EventAxis axes(context.recording.budget);
  if (!axes.build(context.recording, lives.events, lives.clock))
    return fail(ErrorCode::limit_exceeded, -1, "The curve of the facts does not fit into memory.");
  const bool timed = facts.first_us.has_value();
  const replay::Axis axis = timed ? replay::Axis::time : replay::Axis::event;
  if (timed) {
    curve.from_us = facts.first_us;
    curve.to_us = facts.last_us;
  }
  const int64_t extent = std::max<int64_t>(axes.extent(axis), 1);
  Reserved reserved(lives.reserved);
  int64_t level = lives.initial_level, held = reserved.after(-1);
  curve.allocated[0] = level;
  curve.reserved[0] = held;
  size_t column = 0;
  for (int32_t event = 0; event < lives.events.count; ++event) {
    const int64_t position = std::clamp<int64_t>(axes.position(axis, event), 0, extent - 1);
    // Positions are below 2^53.
    const auto at = std::min<size_t>(
        kCurveColumns - 1,
        static_cast<size_t>(static_cast<double>(position) / static_cast<double>(extent) * kCurveColumns));
    while (column < at) {
      ++column;
      curve.allocated[column] = level;
      curve.reserved[column] = held;
    }
    level = lives.level[event];
    held = reserved.after(event);
    curve.allocated[column] = std::max(curve.allocated[column], level);
    curve.reserved[column] = std::max(curve.reserved[column], held);
  }
  while (++column < kCurveColumns) {
    curve.allocated[column] = level;
    curve.reserved[column] = held;
  }
  return {};
}

void find_fact_steps(Facts& facts, const EventContext& context, const Steps& steps) {
  facts.step_count = steps.count();
  const int32_t chosen = std::min(steps.count(), kMostFactSteps);
  for (int32_t i = 0; i < chosen; ++i) {
    FactStep one;
    one.step = static_cast<int32_t>(int64_t{i} * steps.count() / chosen);
    const auto number = static_cast<size_t>(one.step);
    const int32_t begin = steps.begin[number];
    const int32_t end = one.step + 1 < steps.count() ? steps.begin[number + 1] : steps.end;
    // A step that the profiler counted may lie behind all events, or be of a device that has none.
    if (begin < context.lifetimes.events.count) one.first_us = context.time_us(begin);
    for (int32_t event = begin; event < end; ++event) {
      one.end = context.lifetimes.level[event];
      one.peak = std::max(one.peak, one.end);
    }
    facts.steps.push_back(one);
  }
}

// Of a rank among many nobody reads how sure it is.
[[nodiscard]] Leaks only_sure(Leaks leaks) {
  std::erase_if(leaks.leaks, [](const Leak& leak) { return leak.confidence < kSureLeak; });
  leaks.live_bytes = leaks.left_out = 0;
  for (const Leak& leak : leaks.leaks) add_saturated(leaks.live_bytes, leak.live_bytes);
  return leaks;
}

}  // namespace

Result<Facts> find_facts(const EventContext& context, Device& device) {
  const model::Recording& recording = context.recording;
  const replay::BlockLives& lives = context.lifetimes;
  Facts facts(recording.budget);
  const auto lines = device.keys(By::line);
  if (!lines) return tl::unexpected(lines.error());
  auto overview = find_overview(recording, context.part, lives, *lines);
  if (!overview) return tl::unexpected(overview.error());
  facts.overview = std::move(*overview);
  auto peak =
      find_top(recording, context.part, lives, When::alive(lives.peak_event), By::shown, kMostFactStacks);
  if (!peak) return tl::unexpected(peak.error());
  facts.peak = std::move(*peak);
  const auto steps = device.steps();
  if (!steps) return tl::unexpected(steps.error());
  const auto attributes = device.attributes();
  if (!attributes) return tl::unexpected(attributes.error());
  auto leaks = find_leaks(recording, lives, (*attributes)->stack, **steps);
  if (!leaks) return tl::unexpected(leaks.error());
  facts.leaks = only_sure(std::move(*leaks));

  const auto no_memory = [] {
    return fail(ErrorCode::limit_exceeded, -1, "The memory state does not fit into memory.");
  };
  if (context.part.capabilities.profiled) {
    facts.end_reserved = facts.overview.at_end.reserved;
  } else {
    replay::MemoryAt memory(context.history, recording.budget);
    if (!memory.go_to(fragmentation_event(recording, context.history.rows))) return no_memory();
    facts.fragmentation = find_fragmentation(context, memory);
    if (!memory.go_to(lives.events.count - 1)) return no_memory();
    facts.end_reserved = memory.totals().reserved;
    facts.end_allocated = memory.totals().allocated;
  }

  find_times(facts, context);
  if (Status done = find_curve(facts, context); !done) return tl::unexpected(done.error());
  find_fact_steps(facts, context, **steps);
  return facts;
}

}  // namespace gpustrata::analysis
