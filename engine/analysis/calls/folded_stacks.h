// Bytes by stack, as flame graph tools have them: lines of entries, outermost first.
//
// An entry is a text without semicolons and line ends; a line is its entries joined by semicolons. Entries
// and the sequences that lines are made of are kept once, whatever the number of lines, and charged to the
// budget.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/base/string_pool.h"

namespace gpustrata::analysis {

class FoldedStacks {
 public:
  explicit FoldedStacks(Budget& budget);

  struct Line {
    int32_t root, stack;  // numbers of sequences
    bool gaps;            // an entry <gaps> follows
    int64_t bytes;        // > 0 once sealed
  };

  // None if the budget refuses. Semicolons become colons, control characters spaces; long texts are cut.
  [[nodiscard]] StringId entry(std::string_view text);
  // The number of a sequence of entries, -1 if the budget refuses. Two of the same entries are two sequences.
  [[nodiscard]] int32_t sequence(std::span<const StringId> entries);
  // False if the budget refuses.
  [[nodiscard]] bool add(const Line& line) { return lines_.push_back(line); }
  // Called once: sorts the lines by text, makes equal ones one, leaves empty ones out.
  // O(lines log lines * entries they have in common).
  void seal();

  // Of a sealed one: ascending by text, no two equal.
  [[nodiscard]] std::span<const Line> lines() const { return lines_.span(); }
  [[nodiscard]] int64_t total() const { return total_; }  // at most 2^63 - 1
  [[nodiscard]] size_t depth(const Line& line) const {
    return entries_of(line.root).size() + entries_of(line.stack).size() + (line.gaps ? 1 : 0);
  }
  // The entry of a line at 0, 1, ... depth() - 1.
  [[nodiscard]] std::string_view text(const Line& line, size_t at) const;
  [[nodiscard]] std::span<const StringId> entries_of(int32_t sequence) const;
  [[nodiscard]] std::string_view text(StringId entry) const { return names_->view(entry); }
  // "root;...;leaf"
  [[nodiscard]] std::string line_text(const Line& line) const;

  // The order of two lines by text, also of two graphs: < 0, 0, > 0.
  [[nodiscard]] static int compare(const FoldedStacks& a, const Line& x, const FoldedStacks& b,
                                   const Line& y);

 private:
  struct Range {
    int64_t first;
    int32_t count;
  };
  // Sorts, and adds up lines neither of which is less.
  template <typename Less>
  void merge(Less less);

  std::unique_ptr<StringPool> names_;
  Column<StringId> entries_;
  Column<Range> sequences_;
  Column<Line> lines_;
  int64_t total_ = 0;
};

}  // namespace gpustrata::analysis
