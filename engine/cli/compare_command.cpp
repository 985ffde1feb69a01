#include "engine/cli/compare_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/analysis/compare.h"
#include "engine/analysis/flame_graph.h"
#include "engine/answers/compare.h"
#include "engine/answers/flame_graph.h"
#include "engine/base/saturating.h"
#include "engine/base/units.h"
#include "engine/cli/answer_sink.h"
#include "engine/cli/fitted.h"
#include "engine/cli/group_lines.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/output_file.h"
#include "engine/cli/printable.h"

namespace memstrata::cli {

namespace {

using analysis::BeforeAfter;
using analysis::TopBy;

[[nodiscard]] std::string device_text(int32_t device) {
  return device == replay::kHostDevice ? "host" : fmt::format("device {}", device);
}

[[nodiscard]] std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

[[nodiscard]] std::string signed_size(int64_t bytes) {
  return (bytes < 0 ? "-" : "+") + size_text(bytes < 0 ? saturated_difference(0, bytes) : bytes);
}
[[nodiscard]] std::string signed_count(int64_t count) {
  return (count < 0 ? "-" : "+") + count_text(count < 0 ? saturated_difference(0, count) : count);
}

// One device of one file at the moment asked for.
struct Side {
  Side(const FileChoice& choice_, const model::Recording& recording_, OpenedDevice&& opened_)
      : choice(choice_),
        recording(recording_),
        opened(std::move(opened_)),
        memory(opened.history, recording_.budget),
        top(recording_.budget) {}

  [[nodiscard]] Status find(const std::string& at, TopBy by) {
    const auto event = event_or_error(at, opened.moments());
    if (!event) return tl::unexpected(event.error());
    if (Status there = go_to(memory, *event); !there) return there;
    auto found =
        analysis::find_top(recording, opened.device->part, opened.device->lives, *event, by, size_t(-1));
    if (!found) return tl::unexpected(found.error());
    top = std::move(*found);
    return {};
  }
  [[nodiscard]] analysis::Side answer() const { return {recording, top}; }
  [[nodiscard]] bool has_stacks() const {
    return std::any_of(top.groups.begin(), top.groups.end(), [](const analysis::TopGroup& group) {
      return !group.stack.is_none() || group.who.kind != analysis::Who::Kind::nothing;
    });
  }

  const FileChoice& choice;
  const model::Recording& recording;
  OpenedDevice opened;
  replay::MemoryAt memory;
  analysis::Top top;
};

// Any event or block of the device has one, whatever is alive.
[[nodiscard]] bool has_any_stack(const Side& side) {
  const model::Recording& recording = side.recording;
  const auto any = [&](std::span<const StackId> stacks, model::RowRange rows) {
    const auto of_rows = stacks.subspan(static_cast<size_t>(rows.first), static_cast<size_t>(rows.count));
    return std::any_of(of_rows.begin(), of_rows.end(),
                       [&](StackId stack) { return !stack.is_none() && recording.stacks.leaf(stack) >= 0; });
  };
  if (any(recording.events.stack.span(), side.opened.history.rows.events)) return true;
  const model::RowRange segments = side.opened.history.rows.segments;
  for (int32_t row = segments.first; row < segments.end(); ++row) {
    const auto r = static_cast<size_t>(row);
    const bool is_here = recording.segments.device[r] == side.opened.history.rows.device;
    if (is_here && any(recording.blocks.stack.span(), recording.segments.blocks[r])) return true;
  }
  return false;
}

// What makes the two hard to compare, in words.
[[nodiscard]] std::vector<std::string> notes_of(const Side& before, const Side& after,
                                                const analysis::ComparedSegments& segments) {
  std::vector<std::string> notes;
  const auto only = [](const char* what) { return fmt::format("Only the recording {} ", what); };
  const auto events = [](const Side& side) { return side.opened.history.event_count() > 0; };
  if (events(before) != events(after)) {
    notes.push_back(only(events(before) ? "before" : "after") +
                    "has a history; of the other one only the state when it was saved is known.");
  }
  if (before.has_stacks() != after.has_stacks() && before.top.count > 0 && after.top.count > 0) {
    const Side& without = before.has_stacks() ? after : before;
    notes.push_back(has_any_stack(without)
                        ? fmt::format("What is alive {} has no stacks, though that recording has some: what "
                                      "belongs together cannot be told.",
                                      &without == &before ? "before" : "after")
                        : only(before.has_stacks() ? "before" : "after") +
                              "has stacks: what belongs together cannot be told.");
  }
  const auto settings = [](const Side& side) {
    return side.recording.strings.view(side.opened.device->part.settings_json);
  };
  if (settings(before) != settings(after)) {
    notes.emplace_back(settings(before).empty() || settings(after).empty()
                           ? "Only one of the recordings tells the allocator's settings."
                           : "The allocator's settings differ: sizes and number of segments may, too.");
  }
  if (segments.in_both == 0 && !segments.only_before.empty() && !segments.only_after.empty())
    notes.emplace_back("No segment is in both: these are recordings of two runs, or of two processes.");
  return notes;
}

[[nodiscard]] Status write_device(JsonWriter& json, const Side& before, const Side& after,
                                  const analysis::Comparison& comparison,
                                  const analysis::ComparedSegments& segments,
                                  const std::vector<std::string>& notes) {
  json.begin_object();
  const auto pair = [&](std::string_view name, int64_t first, int64_t second) {
    json.key(name);
    json.begin_object();
    json.member("before", first);
    json.member("after", second);
    json.end_object();
  };
  pair("device", before.top.device, after.top.device);
  pair("event", before.top.event, after.top.event);
  pair("reserved_bytes", before.memory.totals().reserved, after.memory.totals().reserved);
  json.key("notes");
  json.begin_array();
  for (const std::string& note : notes) json.value(note);
  json.end_array();
  if (Status done = answers::to_json(json, before.answer(), after.answer(), comparison); !done) return done;
  json.key("segments");
  if (Status done = answers::to_json(json, segments, after.recording.budget); !done) return done;
  json.end_object();
  return {};
}

// "  +512.0 MiB    1.0 GiB    1.5 GiB      +12  forward  …/model.py:10"
void write_table(TextOut& out, const Side& before, const Side& after, const analysis::Comparison& comparison,
                 TopBy by, size_t columns) {
  if (comparison.changed == 0) {
    out.add("  Nothing changed: the same stacks hold the same bytes.\n");
    return;
  }
  const auto numbers_of = [](const BeforeAfter& bytes, const BeforeAfter& blocks) {
    return fmt::format("  {:>10}  {:>9}  {:>9}  {:>7}", signed_size(bytes.growth()), size_text(bytes.before),
                       size_text(bytes.after), signed_count(blocks.growth()));
  };
  out.print("  {:>10}  {:>9}  {:>9}  {:>7}  {}\n", "growth", "before", "after", "blocks", heading_of(by));
  for (const analysis::ComparedGroup& group : comparison.rows) {
    const model::Recording& recording = (group.only_after ? after : before).recording;
    const std::string numbers = numbers_of(group.bytes, group.blocks);
    out.add(table_row(numbers, lines_of_group(recording, group.group, by, columns_beside(numbers, columns))));
    if (out.failed()) return;
  }
  const int64_t more = comparison.changed - static_cast<int64_t>(comparison.rows.size());
  if (more > 0) {
    out.add(table_row(numbers_of(comparison.other_bytes, comparison.other_blocks),
                      {fmt::format("({} more that changed; see -n)", count_text(more))}));
  }
  if (comparison.unchanged > 0) out.print("  ({} unchanged)\n", count_text(comparison.unchanged));
}

[[nodiscard]] std::string segments_text(const analysis::ComparedSegments& segments, size_t rows) {
  const auto count = [](size_t number) { return count_text(static_cast<int64_t>(number)); };
  std::string out = fmt::format("\n  Segments: {} in both ({}), {} only before ({}), {} only after ({})\n",
                                count_text(segments.in_both), size_text(segments.in_both_bytes),
                                count(segments.only_before.size()), size_text(segments.only_before_bytes),
                                count(segments.only_after.size()), size_text(segments.only_after_bytes));
  const auto list = [&](std::string_view where, const Column<replay::SegmentAt>& all) {
    for (size_t i = 0; i < std::min(rows, all.size()); ++i)
      out += fmt::format("    {:<11}  {:#x}  {:>10}\n", where, all[i].address, size_text(all[i].size));
    if (all.size() > rows) out += fmt::format("    {:<11}  ... {} more\n", where, count(all.size() - rows));
  };
  list("only before", segments.only_before);
  list("only after", segments.only_after);
  return out;
}

void write_device_text(TextOut& out, const Side& before, const Side& after, const CompareOptions& options,
                       const analysis::Comparison& comparison, const analysis::ComparedSegments& segments,
                       const std::vector<std::string>& notes, size_t columns) {
  const auto side = [&](std::string_view name, const Side& one, int64_t bytes, int64_t blocks) {
    out.print("  {:<7} {} {}\n{:10}{} in {} block{}\n", name, device_text(one.top.device),
              moment_text(one.top.event, one.opened.moments()), "", exact_size_text(bytes),
              count_text(blocks), blocks == 1 ? "" : "s");
  };
  out.add("\n");
  side("Before:", before, comparison.bytes.before, comparison.blocks.before);
  side("After:", after, comparison.bytes.after, comparison.blocks.after);
  out.print(
      "  Growth: {}, {} blocks; reserved {}\n", signed_size(comparison.bytes.growth()),
      signed_count(comparison.blocks.growth()),
      signed_size(saturated_difference(after.memory.totals().reserved, before.memory.totals().reserved)));
  for (const std::string& note : notes) out.print("  Note:   {}\n", wrapped(words_of(note), columns, 10));
  out.add("\n");
  write_table(out, before, after, comparison, options.by, columns);
  out.add(segments_text(segments, options.rows));
}

struct Pairs {
  std::vector<std::pair<Chosen, Chosen>> common;
  std::vector<int32_t> only_before, only_after;  // devices
};

[[nodiscard]] std::vector<int32_t> devices_of(const model::Recording& recording, const model::Part& part) {
  std::vector<int32_t> devices = part.devices(recording.segments);
  if (part.has_host) devices.insert(devices.begin(), replay::kHostDevice);
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

[[nodiscard]] std::string only_devices_text(const std::vector<int32_t>& devices, std::string_view where) {
  std::string out;
  for (const int32_t device : devices)
    out += fmt::format("\n  {} is only in the file {}.\n", capitalised(device_text(device)), where);
  return out;
}

class Comparing {
 public:
  Comparing(const CompareOptions& options, const Console& console, TextOut& out)
      : options_(options), console_(console), out_(out) {}

  [[nodiscard]] Outcome<void> run(const model::Recording& before, const model::Recording& after) {
    const auto pairs = pairs_of(options_, before, after);
    if (!pairs) return tl::unexpected(pairs.error());
    begin();
    for (const auto& [a, b] : pairs->common) {
      const auto first = side_of(options_.before, before, a);
      if (!first) return tl::unexpected(first.error());
      const auto second = side_of(options_.after, after, b);
      if (!second) return tl::unexpected(second.error());
      if (const Status added = add(**first, **second, pairs->common.size() > 1); !added)
        return failure(added.error(), options_.after.file);
    }
    end(*pairs);
    return wants_stacks() ? write_stacks() : Outcome<void>();
  }

 private:
  [[nodiscard]] Outcome<std::unique_ptr<Side>> side_of(const FileChoice& choice,
                                                       const model::Recording& recording,
                                                       const Chosen& chosen) const {
    auto opened = open_device(recording, chosen);
    if (!opened) return failure(opened.error(), choice.file);
    auto side = std::make_unique<Side>(choice, recording, std::move(*opened));
    if (const Status found = side->find(options_.at, options_.by); !found)
      return failure(found.error(), choice.file);
    return side;
  }

  [[nodiscard]] bool wants_stacks() const { return options_.folded || !options_.output.empty(); }
  // Standard output is the flame graph's.
  [[nodiscard]] bool shows_stacks_only() const {
    return wants_stacks() && (options_.output.empty() || options_.output == "-");
  }

  void begin() {
    if (shows_stacks_only()) return;
    if (!options_.before.json) {
      out_.print("{}\n{}\n", printable(options_.before.file), printable(options_.after.file));
      return;
    }
    json_.begin_object();
    json_.member("before", std::string_view(options_.before.file));
    json_.member("after", std::string_view(options_.after.file));
    json_.member("at", std::string_view(options_.at));
    json_.key("devices");
    json_.begin_array();
  }

  [[nodiscard]] Status add(const Side& before, const Side& after, bool one_of_several) {
    if (!shows_stacks_only()) {
      if (Status done = add_answer(before, after); !done) return done;
    }
    if (!wants_stacks()) return {};
    const auto fold = [&](const Side& side) {
      return analysis::fold_memory(side.recording, side.opened.history, side.memory,
                                   side.opened.index.streams, {options_.segments, false});
    };
    const auto first = fold(before), second = fold(after);
    if (!first) return tl::unexpected(first.error());
    if (!second) return tl::unexpected(second.error());
    if (!stacks_) stacks_.emplace(after.recording.budget);
    // only_after;device 0;stream_0;...
    return add_difference(*stacks_, *first, *second,
                          one_of_several ? device_text(before.top.device) : std::string());
  }
  [[nodiscard]] Status add_answer(const Side& before, const Side& after) {
    const auto segments =
        analysis::compare_segments(before.memory.segments(), after.memory.segments(), after.recording.budget);
    if (!segments) return tl::unexpected(segments.error());
    const auto comparison = analysis::compare_groups(before.answer(), after.answer(), options_.rows);
    if (!comparison) return tl::unexpected(comparison.error());
    const std::vector<std::string> notes = notes_of(before, after, *segments);
    if (options_.before.json) {
      if (Status done = write_device(json_, before, after, *comparison, *segments, notes); !done) return done;
      out_.take_from(json_);
    } else {
      write_device_text(out_, before, after, options_, *comparison, *segments, notes,
                        options_.wide ? kWide : console_.columns);
    }
    return {};
  }

  void end(const Pairs& pairs) {
    if (shows_stacks_only()) return;
    if (!options_.before.json) {
      out_.add(only_devices_text(pairs.only_before, "before"));
      out_.add(only_devices_text(pairs.only_after, "after"));
      return;
    }
    json_.end_array();
    const auto write_devices = [&](std::string_view name, const std::vector<int32_t>& devices) {
      json_.key(name);
      json_.begin_array();
      for (const int32_t device : devices) json_.value(device);
      json_.end_array();
    };
    write_devices("devices_only_before", pairs.only_before);
    write_devices("devices_only_after", pairs.only_after);
    json_.end_object();
    out_.end_line(std::move(json_));
  }

  [[nodiscard]] Outcome<void> write_stacks() {
    stacks_->seal();
    const auto write_into = [&](TextOut& out) -> Outcome<void> {
      const Status done = options_.folded
                              ? answers::folded_to_text(*stacks_, sink_into(out, true))
                              : answers::flame_to_svg(*stacks_, "Memory that only one of the recordings has",
                                                      sink_into(out, false));
      return done || out.failed() ? Outcome<void>() : failure(done.error(), options_.after.file);
    };
    if (shows_stacks_only()) return write_into(out_);
    const std::string inputs[] = {options_.before.file, options_.after.file};
    const auto written =
        write_output(options_.output, inputs, console_, [&](io::ByteSink& sink) -> Outcome<void> {
          TextOut file(sink);
          if (auto done = write_into(file); !done) return done;
          const Status finished = file.finish();
          return finished ? Outcome<void>() : failure(finished.error(), options_.output);
        });
    return written ? Outcome<void>() : tl::unexpected(written.error());
  }

  const CompareOptions& options_;
  const Console& console_;
  TextOut& out_;
  JsonWriter json_;
  std::optional<analysis::FoldedStacks> stacks_;
};

}  // namespace

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

}  // namespace memstrata::cli
