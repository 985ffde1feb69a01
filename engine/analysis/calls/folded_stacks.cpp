#include "engine/analysis/calls/folded_stacks.h"

#include <algorithm>
#include <tuple>

#include "engine/base/saturating.h"
#include "engine/base/utf8.h"

namespace gpustrata::analysis {

namespace {

constexpr size_t kLongestEntry = 500;
constexpr std::string_view kGaps = "<gaps>";

}  // namespace

FoldedStacks::FoldedStacks(Budget& budget)
    : names_(std::make_unique<StringPool>(budget)), entries_(budget), sequences_(budget), lines_(budget) {}

StringId FoldedStacks::entry(std::string_view text) {
  std::string clean = utf8::cut(text, kLongestEntry);
  for (char& c : clean) {
    if (c == ';') c = ':';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return names_->intern(clean);
}

int32_t FoldedStacks::sequence(std::span<const StringId> entries) {
  const auto first = static_cast<int64_t>(entries_.size());
  if (!entries_.append(entries) || !sequences_.push_back({first, static_cast<int32_t>(entries.size())}))
    return -1;
  return static_cast<int32_t>(sequences_.size()) - 1;
}

std::span<const StringId> FoldedStacks::entries_of(int32_t sequence) const {
  const Range& range = sequences_[sequence];
  return entries_.span().subspan(static_cast<size_t>(range.first), static_cast<size_t>(range.count));
}

std::string_view FoldedStacks::text(const Line& line, size_t at) const {
  const auto root = entries_of(line.root), stack = entries_of(line.stack);
  if (at < root.size()) return names_->view(root[at]);
  at -= root.size();
  return at < stack.size() ? names_->view(stack[at]) : kGaps;
}

std::string FoldedStacks::line_text(const Line& line) const {
  std::string out;
  for (size_t i = 0; i < depth(line); ++i) {
    if (i > 0) out += ';';
    out += text(line, i);
  }
  return out;
}

int FoldedStacks::compare(const FoldedStacks& a, const Line& x, const FoldedStacks& b, const Line& y) {
  const size_t depth_x = a.depth(x), depth_y = b.depth(y);
  const size_t shared = std::min(depth_x, depth_y);
  size_t at = 0;
  if (&a == &b && x.root == y.root) {
    at = a.entries_of(x.root).size();
    if (x.stack == y.stack) at += a.entries_of(x.stack).size();
  }
  for (; at < shared; ++at) {
    const std::string_view p = a.text(x, at), q = b.text(y, at);
    if (p.data() == q.data() && p.size() == q.size()) continue;
    const size_t common = std::min(p.size(), q.size());
    if (const int order = p.substr(0, common).compare(q.substr(0, common)); order != 0) return order;
    if (p.size() == q.size()) continue;
    // One goes on where the other has its semicolon, or ends.
    if (p.size() == common) return at + 1 < depth_x && ';' > q[common] ? 1 : -1;
    return at + 1 < depth_y && ';' > p[common] ? -1 : 1;
  }
  return depth_x == depth_y ? 0 : depth_x < depth_y ? -1 : 1;
}

void FoldedStacks::seal() {
  const auto numbers = [](const Line& line) { return std::tuple(line.root, line.stack, line.gaps); };
  // Of many blocks few lines are different ones: texts are compared when the others are gone.
  merge([&](const Line& x, const Line& y) { return numbers(x) < numbers(y); });
  merge([this](const Line& x, const Line& y) { return compare(*this, x, *this, y) < 0; });
  lines_.shrink_to_fit();
  total_ = 0;
  for (const Line& line : lines_) add_saturated(total_, line.bytes);
}

template <typename Less>
void FoldedStacks::merge(Less less) {
  std::sort(lines_.data(), lines_.data() + lines_.size(), less);
  size_t kept = 0;
  for (const Line& line : lines_) {
    if (line.bytes <= 0) continue;
    if (kept > 0 && !less(lines_[kept - 1], line)) {
      add_saturated(lines_[kept - 1].bytes, line.bytes);
    } else {
      lines_[kept++] = line;
    }
  }
  lines_.truncate(kept);
}

}  // namespace gpustrata::analysis
