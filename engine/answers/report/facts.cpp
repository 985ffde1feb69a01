#include "engine/answers/report/facts.h"

#include <algorithm>
#include <utility>

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

void describe_origin(Members& m, const FactsOrigin& origin) {
  m.count({"gpustrata_facts", "The version."}, kFactsVersion);
  m.text({"file", "Without its folders."}, origin.file);
  m.text("run", origin.run);
  m.count("rank", origin.rank);
  m.text("host", origin.host);
  m.count("world_size", origin.world_size);
  if (const auto there = m.when(!origin.groups.empty())) {
    m.list({"groups", "That the rank is in, as the file says."}, origin.groups,
           [&](const model::LaunchGroup& group) {
             m.text({"kind", "`tp`, `pp`, `dp`, ..."}, group.kind);
             m.text({"name", "The lowest rank in it; of `pp` the stage."}, group.name);
           });
  }
}

// Stacks are written by their hashes, and each once by its frames at the end.
class Writing {
 public:
  Writing(Members& m, const FactsAnswer& answer)
      : m_(m),
        answer_(answer),
        facts_(m.of(answer.facts)),
        context_(m.of(answer.context)),
        recording_(m.of(context_.recording)) {}

  void write() {
    where();
    numbers();
    out_of_memory();
    m_.count({"leaks", "Stacks that leak, for sure; at most 100."},
             static_cast<int64_t>(facts_.leaks.leaks.size()) + facts_.leaks.left_out);
    m_.bytes({"leak_bytes", "That they hold at the end."}, facts_.leaks.live_bytes);
    m_.count({"step_count", "Whole steps that were found."}, facts_.step_count);
    peak_stacks();
    leak_stacks();
    steps();
    curve();
    named_stacks();
  }

 private:
  struct Named {
    std::string key;
    StackId stack;
    int32_t largest_rank;  // -1 = its category is not known
  };

  void where() {
    const replay::BlockLives& lives = m_.of(context_.lifetimes);
    describe_origin(m_, m_.of(answer_.origin));
    m_.text({"snapshot", "Its name inside of the file; empty = the file is one."},
            [&] { return bounded_text(context_.part.name); });
    m_.count("device", lives.device);
    m_.bytes("input_bytes", [&] { return recording_.input_bytes; });
    m_.text("format", [&] { return std::string_view(recording_.format); });
    m_.count("events", lives.events.count);
    m_.flag({"damaged", "It ended early or was damaged."}, [&] { return answer_.diagnostics.incomplete(); });
    m_.count({"diagnostics", "How much was repaired or lost."}, [&] { return noticed(answer_.diagnostics); });
    m_.microseconds({"first_us", "Of its events; null: they have no times."}, facts_.first_us);
    m_.microseconds("last_us", facts_.last_us);
  }

  void numbers() {
    const replay::BlockLives& lives = m_.of(context_.lifetimes);
    const std::optional<analysis::Fragmentation>& found = facts_.fragmentation;
    m_.bytes({"start_requested", "Before the first event."}, lives.initial_level);
    m_.bytes("peak_requested", lives.peak_level);
    m_.count({"peak_event", "-1 = before the first."}, lives.peak_event);
    m_.microseconds("peak_us", facts_.overview.peak_time_us);
    m_.bytes("end_requested", lives.final_level);
    m_.bytes({"peak_reserved", "Of segments."}, facts_.overview.highest_reserved.reserved);
    m_.bytes("end_reserved", facts_.end_reserved);
    m_.bytes({"end_allocated", "Of rounded blocks in use."}, facts_.end_allocated);
    m_.bytes({"cached", "Of free blocks: at the last failure, else at the end, as the next two."},
             found ? std::optional(found->cached) : std::nullopt);
    m_.bytes({"held_back", "Of those what cannot go back to the device."},
             found ? std::optional(found->held_back) : std::nullopt);
    m_.share({"fragmentation", "Held back, and not in the largest free piece: of what is reserved, 0 to 1."},
             found ? std::optional(found->share()) : std::nullopt);
  }

  void out_of_memory() {
    const analysis::Overview& overview = facts_.overview;
    const analysis::OutOfMemoryEvent* const first =
        m_.is_schema() || !overview.out_of_memory ? nullptr : &*overview.out_of_memory;
    const auto of_first = [&](auto member) {
      return first != nullptr ? std::optional(first->*member) : std::nullopt;
    };
    using Event = analysis::OutOfMemoryEvent;
    m_.count({"ooms", "Requests that failed; what follows is of the first of them."},
             overview.out_of_memory_events);
    m_.count("oom_event", of_first(&Event::event));
    m_.microseconds("oom_us", of_first(&Event::time_us));
    m_.bytes("oom_requested", of_first(&Event::requested));
    m_.bytes({"oom_device_free", "As the driver said."}, of_first(&Event::device_free));
    stack("oom_stack", first == nullptr ? StackId() : recording_.events.stack[context_.row(first->event)],
          -1);
  }

  struct PeakStack {
    StackId stack;
    int32_t largest_rank;
    int64_t bytes, blocks;
  };
  void peak_stacks() {
    const auto stacks = [&](const auto& add) {
      for (const analysis::TopGroup& part : facts_.peak.groups)
        add(PeakStack{part.stack, part.largest, part.bytes, part.blocks});
      if (facts_.peak.other_groups() > 0)
        add(PeakStack{StackId(), -1, facts_.peak.other_bytes, facts_.peak.other_blocks});
    };
    m_.each<PeakStack>(
        {"peak_stacks", "Alive at the peak, the largest first; the rest is one without a stack."}, stacks,
        [&](const PeakStack& one) {
          stack("stack", one.stack, one.largest_rank);
          m_.bytes("requested", one.bytes);
          m_.count("blocks", one.blocks);
        });
  }

  void leak_stacks() {
    m_.list("leak_stacks", facts_.leaks.leaks, [&](const analysis::Leak& leak) {
      stack("stack", leak.stack, leak.largest_rank);
      m_.bytes("bytes_per_step", leak.bytes_per_step);
      m_.bytes("live_bytes", leak.live_bytes);
      m_.count("steps", leak.steps);
    });
  }

  void steps() {
    m_.list({"steps", "At most 1,000, the others left out evenly."}, facts_.steps,
            [&](const analysis::FactStep& step) {
              m_.count({"step", "From 0."}, step.step);
              m_.microseconds("first_us", step.first_us);
              m_.bytes("peak_requested", step.peak);
              m_.bytes("end_requested", step.end);
            });
  }

  void curve() {
    const auto values = [&](Name name, const auto& bytes) {
      m_.values(As::bytes, name, bytes, [](int64_t one) { return one; });
    };
    m_.object({"curve", "The most of each 256th of the time; without times of the events."}, [&] {
      m_.microseconds("from_us", facts_.curve.from_us);
      m_.microseconds("to_us", facts_.curve.to_us);
      values("allocated", facts_.curve.allocated);
      if (const auto there = m_.when([&] { return context_.lifetimes.has_reserved; }))
        values("reserved", facts_.curve.reserved);
    });
  }

  // Each stack that was named, once, by its hash.
  void named_stacks() {
    // Of the same ones that first of which the category is known.
    std::stable_sort(named_.begin(), named_.end(), [](const Named& one, const Named& other) {
      return std::pair(std::string_view(one.key), one.largest_rank < 0) <
             std::pair(std::string_view(other.key), other.largest_rank < 0);
    });
    const auto same = [](const Named& one, const Named& other) { return one.key == other.key; };
    named_.erase(std::unique(named_.begin(), named_.end(), same), named_.end());
    m_.list({"stacks", "Each that is named above, once."}, named_, [&](const Named& one) {
      m_.text({"stack", "32 hexadecimal digits: a hash of what is shown of its frames."}, one.key);
      m_.text("who", [&] { return who_or_none(recording_, analysis::who_of(recording_, one.stack)); });
      m_.text("category", [&] { return category(one.largest_rank); });
      frames(one.stack);
    });
  }

  [[nodiscard]] std::optional<std::string_view> category(int32_t rank) const {
    if (rank < 0) return std::nullopt;
    const auto number = static_cast<size_t>(answer_.categories.of(static_cast<size_t>(rank)));
    return answer_.categories.rules.names[number];
  }

  void frames(StackId stack) {
    const auto shown = [&] {
      std::vector<analysis::FrameLine> lines = analysis::frame_lines(recording_, stack);
      const auto is_hidden = [](const analysis::FrameLine& line) { return line.hidden; };
      if (!std::all_of(lines.begin(), lines.end(), is_hidden)) std::erase_if(lines, is_hidden);
      lines.resize(std::min(lines.size(), kMostFactFrames));
      return lines;
    };
    m_.list({"frames", "Innermost first."}, shown, [&](const analysis::FrameLine& line) {
      m_.text("filename", [&] { return bounded_text(text(line, &trace::Frame::filename)); });
      m_.count("line", [&] { return recording_.frames[line.frame].line; });
      m_.text("name", [&] { return bounded_text(text(line, &trace::Frame::name)); });
    });
  }
  [[nodiscard]] std::string_view text(const analysis::FrameLine& line, StringId trace::Frame::*of) const {
    return recording_.strings.view(recording_.frames[line.frame].*of);
  }

  void stack(Name name, StackId stack, int32_t largest_rank) {
    m_.text(name, [&]() -> std::optional<std::string> {
      if (stack.is_none()) return std::nullopt;
      named_.push_back({key_text(answer_.stacks.key(stack)), stack, largest_rank});
      return named_.back().key;
    });
  }

  Members& m_;
  const FactsAnswer& answer_;
  const analysis::Facts& facts_;
  const analysis::EventContext& context_;
  const model::Recording& recording_;
  std::vector<Named> named_;
};

}  // namespace

void describe(Members& m, const FactsAnswer& answer) {
  m.is({"facts of a device", "What ranks are compared by."});
  m.line("facts");
  Writing(m, answer).write();
}

void describe(Members& m, const FailedFacts& answer) {
  m.is({"facts of a file that could not be read", "So that who counts lines misses no rank."});
  m.line("facts");
  describe_origin(m, m.of(answer.origin));
  describe_error(m, m.of(answer.failed));
}

}  // namespace gpustrata::answers
