#include "engine/answers/report/facts.h"

#include <optional>
#include <utility>
#include <vector>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/answers/compare/carried_stacks.h"
#include "engine/answers/stacks/who.h"

namespace gpustrata::answers {

namespace {

using model::Diag;

constexpr size_t kLongestText = 1024;  // bytes of a file's or function's name

[[nodiscard]] std::string_view bounded_text(std::string_view text) { return text.substr(0, kLongestText); }

[[nodiscard]] int64_t noticed(const model::Diagnostics& diagnostics) {
  int64_t count = 0;
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const auto diag = static_cast<Diag>(i);
    if (model::kind_of(diag).severity != model::Severity::info) count += diagnostics[diag].count;
  }
  return count;
}

void curve_to_json(JsonWriter& json, std::string_view name,
                   const std::array<int64_t, analysis::kCurveColumns>& values) {
  json.key(name);
  json.begin_array();
  for (const int64_t bytes : values) json.value(bytes);
  json.end_array();
}

void origin_to_json(JsonWriter& json, const FactsOrigin& origin) {
  json.member("gpustrata_facts", kFactsVersion);
  json.member("file", origin.file);
  json.member("run", origin.run);
  json.member("rank", origin.rank);
  json.member("host", origin.host);
  json.member("world_size", origin.world_size);
  if (origin.groups.empty()) return;
  json.key("groups");
  json.begin_array();
  for (const model::LaunchGroup& group : origin.groups) {
    json.begin_object();
    json.member("kind", group.kind);
    json.member("name", group.name);
    json.end_object();
  }
  json.end_array();
}

class Writing {
 public:
  Writing(JsonWriter& json, const FactsAnswer& answer)
      : json_(json), answer_(answer), recording_(answer.context.recording) {}

  void write() {
    json_.begin_object();
    where();
    numbers();
    out_of_memory();
    json_.member("leaks", static_cast<int64_t>(facts().leaks.leaks.size()) + facts().leaks.left_out);
    json_.member("leak_bytes", facts().leaks.live_bytes);
    json_.member("step_count", facts().step_count);
    peak_stacks();
    leak_stacks();
    steps();
    curve();
    named_stacks();
    json_.end_object();
  }

 private:
  struct Named {
    std::string key;
    StackId stack;
    int32_t largest_rank;  // -1 = its category is not known
  };

  [[nodiscard]] const analysis::Facts& facts() const { return answer_.facts; }

  void where() {
    origin_to_json(json_, answer_.origin);
    json_.member("snapshot", bounded_text(answer_.context.part.name));
    json_.member("device", answer_.context.lifetimes.device);
    json_.member("input_bytes", recording_.input_bytes);
    json_.member("format", recording_.format);
    json_.member("events", answer_.context.lifetimes.events.count);
    json_.member("damaged", answer_.diagnostics.incomplete());
    json_.member("diagnostics", noticed(answer_.diagnostics));
    json_.member("first_us", facts().first_us);
    json_.member("last_us", facts().last_us);
  }

  void numbers() {
    const replay::BlockLives& lives = answer_.context.lifetimes;
    json_.member("start_requested", lives.initial_level);
    json_.member("peak_requested", lives.peak_level);
    json_.member("peak_event", lives.peak_event);
    json_.member("peak_us", facts().overview.peak_time_us);
    json_.member("end_requested", lives.final_level);
    json_.member("peak_reserved", facts().overview.highest_reserved.reserved);
    json_.member("end_reserved", facts().end_reserved);
    json_.member("end_allocated", facts().end_allocated);
    const std::optional<analysis::Fragmentation>& found = facts().fragmentation;
    json_.member("cached", found ? std::optional(found->cached) : std::nullopt);
    json_.member("held_back", found ? std::optional(found->held_back) : std::nullopt);
    json_.member("fragmentation", found ? std::optional(found->share()) : std::nullopt);
  }

  void out_of_memory() {
    const analysis::Overview& overview = facts().overview;
    json_.member("ooms", overview.out_of_memory_events);
    if (overview.out_of_memory.empty()) {
      for (const std::string_view key :
           {"oom_event", "oom_us", "oom_requested", "oom_device_free", "oom_stack"}) {
        json_.key(key);
        json_.null();
      }
      return;
    }
    const analysis::OutOfMemoryEvent& first = overview.out_of_memory.front();
    json_.member("oom_event", first.event);
    json_.member("oom_us", first.time_us);
    json_.member("oom_requested", first.requested);
    json_.member("oom_device_free", first.device_free);
    stack_to_json("oom_stack", recording_.events.stack[answer_.context.row(first.event)], -1);
  }

  void peak_stacks() {
    const analysis::Top& peak = facts().peak;
    json_.key("peak_stacks");
    json_.begin_array();
    for (const analysis::TopGroup& part : peak.groups)
      peak_stack(part.stack, part.largest, part.bytes, part.blocks);
    if (peak.other_groups() > 0) peak_stack(StackId(), -1, peak.other_bytes, peak.other_blocks);
    json_.end_array();
  }

  void peak_stack(StackId stack, int32_t largest_rank, int64_t bytes, int64_t blocks) {
    json_.begin_object();
    stack_to_json("stack", stack, largest_rank);
    json_.member("requested", bytes);
    json_.member("blocks", blocks);
    json_.end_object();
  }

  void leak_stacks() {
    json_.key("leak_stacks");
    json_.begin_array();
    for (const analysis::Leak& leak : facts().leaks.leaks) {
      json_.begin_object();
      stack_to_json("stack", leak.stack, leak.largest_rank);
      json_.member("bytes_per_step", leak.bytes_per_step);
      json_.member("live_bytes", leak.live_bytes);
      json_.member("steps", leak.steps);
      json_.end_object();
    }
    json_.end_array();
  }

  void steps() {
    json_.key("steps");
    json_.begin_array();
    for (const analysis::FactStep& step : facts().steps) {
      json_.begin_object();
      json_.member("step", step.step);
      json_.member("first_us", step.first_us);
      json_.member("peak_requested", step.peak);
      json_.member("end_requested", step.end);
      json_.end_object();
    }
    json_.end_array();
  }

  void curve() {
    json_.key("curve");
    json_.begin_object();
    json_.member("from_us", facts().curve.from_us);
    json_.member("to_us", facts().curve.to_us);
    curve_to_json(json_, "allocated", facts().curve.allocated);
    if (answer_.context.lifetimes.has_reserved) curve_to_json(json_, "reserved", facts().curve.reserved);
    json_.end_object();
  }

  // Each stack that was named, once, by its hash.
  void named_stacks() {
    // Of the same ones that first of which the category is known.
    std::stable_sort(named_.begin(), named_.end(), [](const Named& one, const Named& other) {
      return std::pair(std::string_view(one.key), one.largest_rank < 0) <
             std::pair(std::string_view(other.key), other.largest_rank < 0);
    });
    json_.key("stacks");
    json_.begin_array();
    for (size_t i = 0; i < named_.size(); ++i) {
      if (i > 0 && named_[i].key == named_[i - 1].key) continue;
      json_.begin_object();
      json_.member("stack", named_[i].key);
      json_.member("who", who_or_none(recording_, analysis::who_of(recording_, named_[i].stack)));
      category(named_[i].largest_rank);
      frames(named_[i].stack);
      json_.end_object();
    }
    json_.end_array();
  }

  void category(int32_t rank) {
    json_.key("category");
    if (rank < 0) {
      json_.null();
    } else {
      const auto number = static_cast<size_t>(answer_.categories.of(static_cast<size_t>(rank)));
      json_.value(answer_.categories.rules.names[number]);
    }
  }

  void frames(StackId stack) {
    json_.key("frames");
    json_.begin_array();
    const std::vector<analysis::FrameLine> lines = analysis::frame_lines(recording_, stack);
    const bool all_hidden =
        std::all_of(lines.begin(), lines.end(), [](const analysis::FrameLine& line) { return line.hidden; });
    size_t count = 0;
    for (const analysis::FrameLine& line : lines) {
      if (line.hidden && !all_hidden) continue;
      if (count++ == kMostFactFrames) break;
      const trace::Frame& frame = recording_.frames[line.frame];
      json_.begin_object();
      json_.member("filename", bounded_text(recording_.strings.view(frame.filename)));
      json_.member("line", frame.line);
      json_.member("name", bounded_text(recording_.strings.view(frame.name)));
      json_.end_object();
    }
    json_.end_array();
  }

  void stack_to_json(std::string_view key, StackId stack, int32_t largest_rank) {
    json_.key(key);
    if (stack.is_none()) {
      json_.null();
      return;
    }
    named_.push_back({key_text(answer_.stacks.key(stack)), stack, largest_rank});
    json_.value(named_.back().key);
  }

  JsonWriter& json_;
  const FactsAnswer& answer_;
  const model::Recording& recording_;
  std::vector<Named> named_;
};

}  // namespace

void to_json(JsonWriter& json, const FactsAnswer& answer) { Writing(json, answer).write(); }

void to_json(JsonWriter& json, const FailedFacts& answer) {
  json.begin_object();
  origin_to_json(json, answer.origin);
  json.key("error");
  error_to_json(json, answer.failed);
  json.end_object();
}

}  // namespace gpustrata::answers
