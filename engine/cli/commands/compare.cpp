// gpustrata compare BEFORE AFTER: what grew between two recordings.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/calls/flame_graph.h"
#include "engine/analysis/compare/carried_stacks.h"
#include "engine/analysis/compare/compare.h"
#include "engine/analysis/compare/same_run.h"
#include "engine/analysis/live/top.h"
#include "engine/answers/calls/flame_graph.h"
#include "engine/answers/common/moment.h"
#include "engine/answers/compare/compare.h"
#include "engine/answers/live/group_lines.h"
#include "engine/answers/text/json_of.h"
#include "engine/answers/text/printable.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/one_file.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/options.h"
#include "engine/cli/output/output_file.h"

namespace gpustrata::cli {

namespace {

struct CompareOptions {
  FileChoice before,
      after;  // of `after` an empty snapshot means that of `before`; device and json are before's
  // peak, end, start, or an event's index; of each file its own. Empty: of two runs the peak; of one run where they are, the end, but
  // the peak for `parts`, as what a run needs is its peak.
  std::string at;
  analysis::By by = analysis::By::stack;
  size_t rows = 20;
  std::string output;     // path of a flame graph's SVG; "-" = standard output; empty = none
  bool wide = false;      // lines as long as they are
  bool folded = false;    // the flame graph as lines, to `output` or instead of the table
  bool segments = false;  // in the flame graph: between stream and state
};

using analysis::By;
using answers::TextOut;

// One device of one file at the moment asked for.
struct Side {
  Side(const model::Recording& recording_, OpenedDevice&& opened_)
      : recording(recording_),
        opened(std::move(opened_)),
        memory(opened.context.history, recording_.budget) {}

  [[nodiscard]] Status find(const std::string& at, By by) {
    const auto event = event_or_error(at, opened.moments());
    if (!event) return tl::unexpected(event.error());
    if (Status there = go_to(memory, *event); !there) return there;
    auto found = top_at(*event, by == By::stack ? By::shown : by);
    if (!found) return tl::unexpected(found.error());
    top = std::move(*found);
    return {};
  }
  [[nodiscard]] Result<analysis::Top> top_at(int32_t event, By by) const {
    return analysis::find_top(recording, opened.device->part(), opened.device->lives(),
                              analysis::When::alive(event), by, analysis::kAllGroups);
  }
  [[nodiscard]] analysis::ComparedDevice compared() const {
    return {recording, opened.device->part(), opened.context.history, memory, top, opened.moments()};
  }

  const model::Recording& recording;
  OpenedDevice opened;
  replay::MemoryAt memory;
  analysis::Top top{recording.budget};
};

struct Pairs {
  std::vector<std::pair<Chosen, Chosen>> common;
  std::vector<int32_t> only_before, only_after;  // devices
};

// Pinned host memory of which nothing is known is left out.
[[nodiscard]] std::vector<int32_t> devices_of(const model::Recording& recording, const model::Part& part) {
  std::vector<int32_t> devices = part.devices(recording.segments);
  if (part.host_events.count > 0 || part.host_segments.count > 0)
    devices.insert(devices.begin(), replay::kHostDevice);
  return devices;
}

// With --device that one of both; else every device that both have, or the only ones there are.
[[nodiscard]] Outcome<Pairs> pairs_of(const CompareOptions& options, const model::Recording& before,
                                      const model::Recording& after) {
  const auto a = choose(before, options.before);
  if (!a) return tl::unexpected(a.error());
  const auto b = choose(after, options.after);
  if (!b) return tl::unexpected(b.error());
  Pairs pairs;
  if (!options.before.device.empty()) {
    pairs.common.emplace_back(*a, *b);
    return pairs;
  }
  const std::vector<int32_t> of_a = devices_of(before, *a->part);
  const std::vector<int32_t> of_b = devices_of(after, *b->part);
  const auto has = [](const std::vector<int32_t>& all, int32_t one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const int32_t device : of_a) {
    if (has(of_b, device)) {
      pairs.common.push_back({{a->part, device}, {b->part, device}});
    } else {
      pairs.only_before.push_back(device);
    }
  }
  for (const int32_t device : of_b) {
    if (!has(of_a, device)) pairs.only_after.push_back(device);
  }
  if (pairs.common.empty() && of_a.size() == 1 && of_b.size() == 1) {
    pairs.common.emplace_back(*a, *b);
    pairs.only_before.clear();
    pairs.only_after.clear();
  }
  if (!pairs.common.empty()) return pairs;
  return failure(name_of(ErrorCode::wrong_usage), options.after.file,
                 "No device is in both files: name one of each with --device on files that have it.");
}

class Comparing {
 public:
  Comparing(const CompareOptions& options, const Console& console, TextOut& out)
      : options_(options),
        console_(console),
        out_(out),
        columns_(options.wide ? answers::kWide : console.columns) {
    if (!options_.at.empty()) parts_at_ = options_.at;
  }

  [[nodiscard]] Outcome<void> run(const model::Recording& before, const model::Recording& after) {
    const auto pairs = pairs_of(options_, before, after);
    if (!pairs) return tl::unexpected(pairs.error());
    for (const auto& [first, second] : pairs->common) {
      const auto of_one_run =
          analysis::are_of_one_run({before, *first.part, first.device}, {after, *second.part, second.device});
      if (!of_one_run) return failure(of_one_run.error(), options_.after.file);
      of_one_run_ = of_one_run_ || *of_one_run;
    }
    if (options_.at.empty()) options_.at = of_one_run_ ? "end" : "peak";
    Outcome<void> compared;
    const auto devices = [&](const answers::AddComparison& add) {
      compared = compare_devices(before, after, *pairs, add);
    };
    if (shows_stacks_only()) {
      devices([](const analysis::DeviceComparison&) {});
    } else if (options_.before.json) {
      answers::JsonLine json(out_.json());
      const bool damaged = before.diagnostics.incomplete() || after.diagnostics.incomplete();
      to_json(json,
              answers::ComparisonLine{options_.before.file, options_.after.file, options_.at, damaged,
                                      devices, parts_at_, parts_, pairs->only_before, pairs->only_after});
      if (compared) out_.end_line(json);
    } else {
      out_.print("{}\n{}\n", answers::printable(options_.before.file),
                 answers::printable(options_.after.file));
      devices([&](const analysis::DeviceComparison& one) {
        answers::to_text(out_, one, columns_, options_.rows);
      });
      if (compared) answers::only_devices_to_text(out_, pairs->only_before, pairs->only_after);
    }
    if (!compared) return compared;
    return wants_stacks() ? write_stacks() : Outcome<void>();
  }

 private:
  [[nodiscard]] Outcome<std::unique_ptr<Side>> side_of(const FileChoice& choice,
                                                       const model::Recording& recording,
                                                       const Chosen& chosen) const {
    auto opened = open_device(recording, chosen);
    if (!opened) return failure(opened.error(), choice.file);
    auto side = std::make_unique<Side>(recording, std::move(*opened));
    if (const Status found = side->find(options_.at, options_.by); !found)
      return failure(found.error(), choice.file);
    return side;
  }

  [[nodiscard]] Outcome<void> compare_devices(const model::Recording& before, const model::Recording& after,
                                              const Pairs& pairs, const answers::AddComparison& add) {
    for (const auto& [a, b] : pairs.common) {
      const auto first = side_of(options_.before, before, a);
      if (!first) return tl::unexpected(first.error());
      const auto second = side_of(options_.after, after, b);
      if (!second) return tl::unexpected(second.error());
      if (const Status done = compare(**first, **second, pairs.common.size() > 1, add); !done)
        return failure(done.error(), options_.after.file);
    }
    return {};
  }

  [[nodiscard]] bool wants_stacks() const { return options_.folded || !options_.output.empty(); }
  // Standard output is the flame graph's.
  [[nodiscard]] bool shows_stacks_only() const {
    return wants_stacks() && (options_.output.empty() || options_.output == "-");
  }

  [[nodiscard]] Status compare(const Side& before, const Side& after, bool one_of_several,
                               const answers::AddComparison& add) {
    if (!shows_stacks_only()) {
      const auto found =
          analysis::compare_devices(before.compared(), after.compared(), of_one_run_, options_.rows);
      if (!found) return tl::unexpected(found.error());
      add(*found);
      if (Status done = add_parts(before, after); !done) return done;
    }
    if (!wants_stacks()) return {};
    const auto fold = [&](const Side& side) {
      return analysis::fold_memory(side.recording, side.opened.context.history, side.memory,
                                   side.opened.context.index.streams, {options_.segments, false});
    };
    const auto first = fold(before), second = fold(after);
    if (!first) return tl::unexpected(first.error());
    if (!second) return tl::unexpected(second.error());
    if (!stacks_) stacks_.emplace(after.recording.budget);
    // only_after;device 0;stream_0;...
    return add_difference(*stacks_, *first, *second,
                          one_of_several ? answers::device_text(before.top.device) : std::string());
  }

  // What both hold, stack by stack, at the moment of the parts.
  [[nodiscard]] Status add_parts(const Side& before, const Side& after) {
    std::vector<analysis::CarriedStacks> carried;
    for (const Side* side : {&before, &after}) {
      const auto event = event_or_error(parts_at_, side->opened.moments());
      if (!event) return tl::unexpected(event.error());
      const auto top = side->top_at(*event, By::shown);
      if (!top) return tl::unexpected(top.error());
      auto found = analysis::carried_stacks({side->recording, *top});
      if (!found) return tl::unexpected(found.error());
      carried.push_back(std::move(*found));
    }
    const auto parts =
        analysis::pair(carried[0], carried[1], analysis::Paired::by_functions, after.recording.budget);
    if (!parts) return tl::unexpected(parts.error());
    if (options_.before.json) {
      parts_.add({before.recording, before.top.device, carried[0]},
                 {after.recording, after.top.device, carried[1]}, *parts);
    } else if (parts_at_ != options_.at) {
      answers::peaks_to_text(out_, before.top.device, parts->bytes);
    }
    return {};
  }

  [[nodiscard]] Outcome<void> write_stacks() {
    stacks_->seal();
    const auto write_into = [&](TextOut& out) {
      if (options_.folded) {
        answers::folded_to_text(out, *stacks_);
      } else {
        answers::flame_to_svg(out, *stacks_, "Memory that only one of the recordings has");
      }
    };
    if (shows_stacks_only()) {
      write_into(out_);
      return {};
    }
    const std::string inputs[] = {options_.before.file, options_.after.file};
    const auto written = write_answer(options_.output, inputs, console_, write_into);
    return written ? Outcome<void>() : tl::unexpected(written.error());
  }

  CompareOptions options_;
  std::string parts_at_ = "peak";
  bool of_one_run_ = false;
  const Console& console_;
  TextOut& out_;
  size_t columns_;
  answers::AllParts parts_;
  std::optional<analysis::FoldedStacks> stacks_;
};

int run_compare(const CompareOptions& given, const Console& console) {
  CompareOptions options = given;
  options.after.device = options.before.device;
  options.after.json = options.before.json;
  if (options.after.snapshot.empty()) options.after.snapshot = options.before.snapshot;
  return answer_about(options.before, options.after, console,
                      [&](const model::Recording& before, const model::Recording& after, TextOut& out) {
                        return Comparing(options, console, out).run(before, after);
                      });
}

}  // namespace

void add_compare(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "compare",
          "What grew between two snapshots, or shrank where the sum did, the most first", run_compare);
  command->add_option("BEFORE", options->before.file, "Snapshot file; - is standard input")->required();
  command->add_option("AFTER", options->after.file, "Snapshot file")->required();
  add_moment(*command, options->at);
  add_groups(*command, options->by, options->rows, options->wide);
  command->add_option("--device", options->before.device,
                      "Ordinal, or host; default: every device that both have");
  command->add_option("--snapshot", options->before.snapshot, "Name or index, where a file holds several");
  command->add_option("--snapshot-after", options->after.snapshot, "The same of AFTER, if it is another one");
  command->add_option("-o,--output", options->output, "Flame graph (SVG) of what only one of them has");
  command->add_flag("--folded", options->folded, "The flame graph as lines 'stack bytes'");
  command->add_flag("--segments", options->segments, "In the flame graph, segments between stream and state");
  command->add_flag("--json", options->before.json, "One JSON object on one line");
}

}  // namespace gpustrata::cli
