#include "engine/answers/clients/fleet.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "engine/answers/text/fitted.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

namespace {

using model::FleetColumn;

constexpr size_t kMostLargest = 10;
constexpr size_t kLongestSentence = 4096;

[[nodiscard]] int64_t whole(double number) {
  return std::isfinite(number) ? std::llround(std::clamp(number, -9e15, 9e15)) : 0;
}

// What is not known is no 0.
[[nodiscard]] std::string size_or_dash(double bytes) {
  return std::isfinite(bytes) ? size_text(whole(bytes)) : "-";
}
[[nodiscard]] std::string number_or_dash(double number) {
  return std::isfinite(number) ? fmt::format("{}", whole(number)) : "-";
}

class Page {
 public:
  Page(TextOut& out, const model::Fleet& fleet, size_t columns)
      : out_(out), fleet_(fleet), columns_(columns) {}

  void write() {
    out_.print("{}\n", shortened(fleet_.strings.view(fleet_.title), 200));
    for (const model::FleetCoverage& run : fleet_.coverage) coverage(run);
    size_t number = 0;
    for (const model::FleetFinding& one : fleet_.findings) finding(++number, one);
    if (fleet_.findings.empty()) out_.add("\n  Nothing is remarkable: no rank is far from the others.\n");
    if (!fleet_.says.empty()) {
      out_.add("\n  Not as it should be\n");
      for (const StringId sentence : fleet_.says) paragraph("    ", fleet_.strings.view(sentence));
    }
    largest();
  }

 private:
  void coverage(const model::FleetCoverage& run) {
    std::string text = "  ";
    const std::string_view name = fleet_.strings.view(run.run);
    if (!name.empty()) text += fmt::format("run {}: ", shortened(name, 100));
    text += counted(whole(run.rows), "row");
    if (std::isfinite(run.lowest_rank))
      text += fmt::format(", ranks {} to {}", whole(run.lowest_rank), whole(run.highest_rank));
    if (std::isfinite(run.world_size)) text += fmt::format(" of {}", count_text(whole(run.world_size)));
    out_.print("{}\n", text);
  }

  void finding(size_t number, const model::FleetFinding& one) {
    out_.add("\n");
    paragraph(fmt::format("  {:>2}  ", number), fleet_.strings.view(one.title));
    paragraph("      ", fleet_.strings.view(one.text));
    for (int32_t i = one.stacks.first; i < one.stacks.end(); ++i) {
      const model::FleetFindingStack& stack = fleet_.finding_stacks[i];
      std::string line = fmt::format("      {:>10}", size_or_dash(stack.value));
      if (std::isfinite(stack.median)) line += fmt::format("  others {:>10}", size_text(whole(stack.median)));
      const std::string_view who = fleet_.strings.view(stack.who);
      out_.print("{}  {}\n", line, who.empty() ? "(no name)" : shortened(who, 200));
    }
  }

  void paragraph(std::string_view begin, std::string_view sentence) {
    out_.add(begin);
    out_.print("{}\n", wrapped(words_of(shortened(sentence, kLongestSentence)), columns_, begin.size()));
  }

  void largest() {
    const FleetColumn* const peak = fleet_.column("peak_requested");
    const FleetColumn* const reserved = fleet_.column("peak_reserved");
    const FleetColumn* const rank = fleet_.column("rank");
    const FleetColumn* const device = fleet_.column("device");
    const FleetColumn* const file = fleet_.column("file");
    const FleetColumn* const damaged = fleet_.column("damaged");
    for (const FleetColumn* const one : {peak, reserved, rank, device, damaged}) {
      if (one == nullptr || one->numbers.size() != static_cast<size_t>(fleet_.row_count)) return;
    }
    if (file == nullptr || file->texts.size() != static_cast<size_t>(fleet_.row_count)) return;
    std::vector<size_t> rows(static_cast<size_t>(fleet_.row_count));
    std::iota(rows.begin(), rows.end(), size_t{0});
    const size_t shown = std::min(kMostLargest, rows.size());
    std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
                      [&](size_t one, size_t other) {
                        const auto known = [&](size_t row) {
                          const double bytes = peak->numbers[row];
                          return std::isfinite(bytes) && !(damaged->numbers[row] > 0) ? bytes : -INFINITY;
                        };
                        const double first = known(one), second = known(other);
                        return first != second ? first > second : one < other;
                      });
    out_.print("\n  {:>10} {:>10} {:>8} {:>6}  file\n", "peak", "reserved", "rank", "device");
    for (size_t i = 0; i < shown; ++i) {
      const size_t row = rows[i];
      const bool is_damaged = damaged->numbers[row] > 0;
      const auto if_whole = [&](double bytes) { return is_damaged ? "-" : size_or_dash(bytes); };
      out_.print("  {:>10} {:>10} {:>8} {:>6}  {}{}\n", if_whole(peak->numbers[row]),
                 if_whole(reserved->numbers[row]), number_or_dash(rank->numbers[row]),
                 number_or_dash(device->numbers[row]),
                 shortened(fleet_.strings.view(file->texts[row]), std::max<size_t>(columns_, 60) - 54),
                 is_damaged ? " (damaged)" : "");
    }
  }

  TextOut& out_;
  const model::Fleet& fleet_;
  size_t columns_;
};

}  // namespace

void to_text(TextOut& out, const model::Fleet& fleet, size_t columns) { Page(out, fleet, columns).write(); }

}  // namespace gpustrata::answers
