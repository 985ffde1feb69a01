#include "engine/answers/report/report_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "engine/analysis/details/memory_after.h"
#include "engine/answers/findings/out_of_memory.h"
#include "engine/answers/live/group_lines.h"
#include "engine/answers/live/repeats.h"
#include "engine/answers/report/missing.h"
#include "engine/answers/report/report.h"
#include "engine/answers/report/report_findings.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/steps/steps_text.h"
#include "engine/answers/text/fitted.h"
#include "engine/answers/text/percent.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"
#include "engine/model/processor.h"

namespace gpustrata::answers {

using analysis::ExplainedOutOfMemory;
using analysis::Report;
using analysis::Who;

namespace {

constexpr size_t kMostLeaksShown = 5, kMostPinsShown = 3, kMostOomShown = 3, kMostPlacesShown = 3;

[[nodiscard]] double percent(int64_t bytes, int64_t of) {
  return of > 0 ? 100.0 * static_cast<double>(bytes) / static_cast<double>(of) : 0.0;
}

class ReportPage {
 public:
  ReportPage(const analysis::EventContext& context, const Report& report,
             const analysis::CategoryRules& rules, size_t columns)
      : context_(context), recording_(context.recording), report_(report), rules_(rules), columns_(columns) {}

  [[nodiscard]] std::string text() {
    title();
    out_of_memory();
    leaks();
    peak();
    unused();
    reserved();
    from_before();
    missing();
    return std::move(out_);
  }

 private:
  // A paragraph; `begin` is before the first line, the others are indented as far.
  void paragraph(std::string_view begin, std::string_view text) {
    out_ += begin;
    out_ += wrapped(words_of(shortened(text, 4096)), columns_, columns_of_text(begin));
    out_ += '\n';
  }
  void heading(std::string_view text) {
    out_ += '\n';
    paragraph("  ", text);
  }

  void title() {
    const analysis::Overview& overview = report_.overview;
    const auto count = static_cast<size_t>(report_.out_of_memory.all);
    const std::string device = overview.is_processor ? "The processor (CPU)"
                               : overview.device == replay::kHostDevice
                                   ? "Host memory"
                                   : fmt::format("Device {}", overview.device);
    std::string what;
    if (count > 0) {
      what = count == 1 ? " ran out of memory" : fmt::format(" ran out of memory {} times", count);
    } else if (!report_.leaks.leaks.empty()) {
      const size_t sure = sure_leaks(report_.leaks), others = report_.leaks.leaks.size() - sure;
      const auto so_many = [](size_t leaks) {
        return leaks == 1 ? std::string("a leak") : fmt::format("{} leaks", leaks);
      };
      what = sure == 0 ? " may have " + so_many(others) : " has " + so_many(sure);
      if (sure > 0 && others > 0) what += fmt::format(", and may have {} more", others);
    } else if (is_fragmented()) {
      what = " is fragmented";
    }
    // What came later in the file would say of some blocks that they are older, or freed: no number of the rest is whole.
    if (recording_.diagnostics.incomplete()) {
      const bool is_cut = recording_.diagnostics[model::Diag::truncated].count > 0;
      paragraph("", fmt::format("{}{}: the file {}", device, what,
                                is_cut ? "ends too early" : "is damaged, or was made of one that is"));
      paragraph("  ",
                "Everything below covers only the part that was read: what is missing can make any number "
                "too high or too low.");
      paragraph("  ",
                fmt::format("{}; {}",
                            overview.events == 0 ? "no event was read" : counted(overview.events, "event"),
                            steps_text(recording_, *report_.steps, report_.leaks)));
      return;
    }
    const std::optional<int64_t> reserved = overview.highest_reserved.reserved;
    paragraph("", fmt::format("{}{}: {}{} in {}{}{}", device, what, size_text(overview.peak_bytes),
                              has_history() ? " at most" : "", counted(report_.peak.blocks, "block"),
                              reserved ? fmt::format(", {} reserved", size_text(*reserved)) : "",
                              has_history() ? "" : ", when it was saved"));
    paragraph("  ",
              fmt::format("{}; {}", overview.events == 0 ? "no history" : counted(overview.events, "event"),
                          steps_text(recording_, *report_.steps, report_.leaks)));
    if (model::has_only_processors(recording_)) paragraph("  ", kNoGpu);
    const analysis::Ending& ending = report_.ending;
    if (ending.at_failure() && ending.device != overview.device)
      paragraph(
          "  ",
          fmt::format(
              "Device {} ran out of memory and allocated nothing after that: the rest of the run may not be in the recording.",
              ending.device));
  }

  [[nodiscard]] bool has_history() const { return report_.overview.events > 0; }
  [[nodiscard]] bool is_fragmented() const {
    return report_.harmful_fragmentation && is_worth_saying(*report_.harmful_fragmentation);
  }

  void out_of_memory() {
    const auto& all = report_.out_of_memory.explained;
    const size_t shown = std::min(all.size(), kMostOomShown);
    for (size_t i = all.size() - shown; i < all.size(); ++i) explain(all[i]);
    const int64_t more = report_.out_of_memory.all - static_cast<int64_t>(shown);
    if (more > 0) paragraph("  ", fmt::format("{} before; --json has them.", counted(more, "failure")));
  }

  void explain(const ExplainedOutOfMemory& one) {
    heading(fmt::format("Out of memory at event {}: {}", count_text(one.event), words_of(one.verdict)));
    paragraph("    ", verdict_text(recording_, one));
    if (one.has_state)
      paragraph(
          "    ",
          fmt::format("Reserved {}: {} in use, {} waiting for a stream, {} cached. Expandable segments: "
                      "{}.",
                      size_text(one.reserved.value_or(0)), size_text(one.allocated), size_text(one.pending),
                      size_text(one.cached),
                      !one.settings.expandable_segments   ? "not known"
                      : *one.settings.expandable_segments ? "on"
                                                          : "off"));
    if (!one.places.empty()) out_ += "    What was cached:\n";
    for (size_t i = 0; i < std::min(one.places.size(), kMostPlacesShown); ++i)
      paragraph("      ", place_text(recording_, one.places[i]));
    if (!one.remedies.empty())
      out_ += "    What helps, most effective first; only what says so was replayed:\n";
    for (const analysis::Remedy& remedy : one.remedies)
      paragraph(fmt::format("      {:>9}  ", remedy.bytes ? size_text(*remedy.bytes) : "?"),
                remedy_text(recording_, one, remedy));
  }

  void leaks() {
    const auto& all = report_.leaks.leaks;
    if (all.empty()) return;
    const int64_t count = static_cast<int64_t>(all.size()) + report_.leaks.left_out;
    const size_t sure = sure_leaks(report_.leaks);
    heading(fmt::format("{}: {} held by {} that grew from step to step",
                        sure == all.size() ? "Leaks"
                        : sure == 0        ? "Possible leaks"
                                           : "Leaks, and possible ones",
                        size_text(report_.leaks.live_bytes), counted(count, "stack")));
    for (size_t i = 0; i < std::min(all.size(), kMostLeaksShown); ++i) {
      const analysis::Leak& leak = all[i];
      paragraph(fmt::format("    {:>9}  ", size_text(leak.live_bytes)),
                growth_text(recording_, leak) + ", by");
      analysis::TopGroup group;
      group.stack = leak.stack;
      for (const std::string& line : lines_of_group(recording_, group, analysis::By::stack, columns_ - 15))
        out_ += fmt::format("{:15}{}\n", "", line);
    }
    if (all.size() > kMostLeaksShown)
      paragraph("  ", fmt::format("({} more; --json has them)", all.size() - kMostLeaksShown));
    if (const std::string full = full_text(context_, report_); !full.empty()) paragraph("    ", full);
    if (report_.steps->from == analysis::StepsFrom::loop)
      paragraph("    ",
                fmt::format("Each step is {}; it runs {} times.", loop_text(recording_, report_.steps->loop),
                            count_text(report_.steps->count())));
  }

  void peak() {
    const analysis::Top& top = report_.peak_groups;
    if (top.bytes == 0) return;
    const auto shown = static_cast<int64_t>(top.groups.size());
    const std::string size = size_text(report_.peak.bytes);
    heading(fmt::format("{}, {} of it in {}",
                        has_history() ? fmt::format("The peak: {} {}", size, after_text(report_.peak.event))
                                      : "In use when it was saved: " + size,
                        percent_text(top.bytes - top.other_bytes, top.bytes),
                        counted(shown, heading_of(top.by))));
    const auto numbers_of = [&](int64_t bytes, int64_t blocks) {
      return fmt::format("    {:>9}  {:>5.1f}%  {:>9}", size_text(bytes), percent(bytes, top.bytes),
                         counted(blocks, "block"));
    };
    for (const analysis::TopGroup& group : top.groups) {
      const std::string numbers = numbers_of(group.bytes, group.blocks);
      out_ +=
          table_row(numbers, lines_of_group(recording_, group, top.by, columns_beside(numbers, columns_)));
    }
    if (top.other_blocks > 0)
      out_ += table_row(numbers_of(top.other_bytes, top.other_blocks),
                        {fmt::format("({} more; see gpustrata top)", count_text(top.other_groups()))});
    const std::vector<size_t> said = repeats_to_say(report_.repeats);
    for (size_t i = 0; i < said.size(); ++i)
      paragraph(i == 0 ? "    Repeats: " : "             ",
                repeat_text(recording_, report_.repeats, said[i], report_.peak.bytes));
    categories();
  }

  void categories() {
    std::string text;
    for (const analysis::BlockSum& share : report_.categories_at_peak.sums.rows()) {
      const std::string& name = rules_.names[static_cast<size_t>(share.key)];
      if (share.key == 0 && percent(share.bytes, report_.peak.bytes) > 95) return;
      std::string words = name;  // "optimizer state"
      std::replace(words.begin(), words.end(), '_', ' ');
      text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", words, size_text(share.bytes),
                          percent_text(share.bytes, report_.peak.bytes));
    }
    if (!text.empty())
      paragraph("    ", (rules_.by_lifetime                        ? "By lifetime: "
                         : report_.categories->categories.labelled ? "By category (labels, else inferred): "
                                                                   : "By category, inferred: ") +
                            text);
  }

  void unused() {
    if (!is_fragmented()) return;
    const analysis::Fragmentation& found = *report_.harmful_fragmentation;
    heading(fmt::format(
        "Fragmentation {}: {} of {} reserved are free in pieces and held back, the largest piece apart ({})",
        after_text(found.event), size_text(found.lost()), size_text(found.reserved),
        percent_text(found.lost(), found.reserved)));
    size_t shown = 0;
    for (const analysis::Pin& pin : found.pins) {
      if (!pin.is_mostly_free() || ++shown > kMostPinsShown) break;
      const Who who =
          analysis::who_of(recording_, analysis::stack_of_block(context_, pin.largest_block).stack);
      paragraph(
          fmt::format("    {:>9}  ", size_text(pin.held_back_bytes)),
          fmt::format("held back by {} of {} in a segment of {}{}, there since {}",
                      counted(pin.blocks, "block"), size_text(pin.pinned_bytes), size_text(pin.segment_bytes),
                      who.kind == Who::Kind::nothing ? std::string() : ", " + who_text(recording_, who),
                      since_text(context_.history.born_of(pin.oldest_block))));
    }
    const int64_t more = found.pinned_segments - static_cast<int64_t>(std::min(shown, kMostPinsShown));
    if (more > 0)
      paragraph("  ", fmt::format("  {} with live blocks {} back the rest.",
                                  counted(more, shown > 0 ? "more segment" : "segment"),
                                  more == 1 ? "holds" : "hold"));
  }

  // Where it went, where much of it was not used; and what the device was too full for.
  void reserved() {
    if (report_.highest && is_worth_saying(*report_.highest)) {
      const std::string reserved = size_text(report_.highest->reserved);
      heading(has_history()
                  ? fmt::format("Reserved: {} at most, {}", reserved, after_text(report_.highest->event))
                  : fmt::format("Reserved: {} when it was saved", reserved));
      paragraph("    ", reserved_use_text(*report_.highest));
    }
    for (const std::string& text : flushes_texts(report_.cache_flushes)) heading(text);
  }

  void from_before() {
    const auto& before = report_.overview.from_before;
    if (!before || percent(before->bytes_at_peak, report_.peak.bytes) < 1) return;
    // A profiler tells their sum only.
    heading(fmt::format(
        "From before the first event: {} at the peak ({}), {} at the end{}", size_text(before->bytes_at_peak),
        percent_text(before->bytes_at_peak, report_.peak.bytes), size_text(before->bytes_at_end),
        context_.part.capabilities.profiled ? "" : ", " + counted(before->blocks, "block") + " in all"));
  }

  void missing() {
    if (report_.overview.missing.empty()) return;
    heading("Not recorded:");
    for (const analysis::Missing& one : report_.overview.missing) {
      const MissingText words = missing_text(report_.overview, one, context_.part.capabilities.profiled);
      paragraph("    ", words.text);
      if (!words.python.empty()) paragraph("      next time: ", words.python);
    }
  }

  const analysis::EventContext& context_;
  const model::Recording& recording_;
  const Report& report_;
  const analysis::CategoryRules& rules_;
  size_t columns_;
  std::string out_;
};

}  // namespace

std::string report_text(const analysis::EventContext& context, const Report& report,
                        const analysis::CategoryRules& rules, size_t columns) {
  return ReportPage(context, report, rules, columns).text();
}

}  // namespace gpustrata::answers