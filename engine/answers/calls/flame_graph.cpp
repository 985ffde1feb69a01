#include "engine/answers/calls/flame_graph.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/answers/common/parts.h"
#include "engine/answers/text/printable.h"
#include "engine/base/hash.h"
#include "engine/base/markup.h"
#include "engine/base/saturating.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::FoldedStacks;

namespace {

constexpr double kWidth = 1200, kRow = 17, kMargin = 10, kHead = 44;
constexpr double kNarrowest = 0.1;  // pixels
constexpr double kLetter = 6.6;     // pixels of one letter of the 11 pixel font, about
constexpr int64_t kMostRectangles = 200'000;

struct Rectangle {
  std::string_view text;
  int64_t from, bytes;
  size_t depth;
};

// Sorted stacks make a tree in order: a rectangle is open as long as lines share its beginning. Calls `see`
// for each when it is closed; false from it stops.
template <typename See>
[[nodiscard]] bool each_rectangle(const FoldedStacks& stacks, See see) {
  struct Open {
    std::string_view text;
    int64_t from;
  };
  std::vector<Open> open{{"all", 0}};
  int64_t at = 0;
  const auto close_to = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back()) {
      if (!see({open.back().text, open.back().from, at - open.back().from, open.size() - 1})) return false;
    }
    return true;
  };
  for (const FoldedStacks::Line& line : stacks.lines()) {
    const size_t depth = stacks.depth(line);
    size_t shared = 0;
    while (shared + 1 < open.size() && shared < depth && open[shared + 1].text == stacks.text(line, shared))
      ++shared;
    if (!close_to(shared + 1)) return false;
    for (size_t i = shared; i < depth; ++i) open.push_back({stacks.text(line, i), at});
    add_saturated(at, line.bytes);
  }
  return close_to(0);
}

class FlamePicture {
 public:
  FlamePicture(TextOut& out, const FoldedStacks& stacks)
      : out_(out),
        stacks_(stacks),
        scale_((kWidth - 2 * kMargin) / static_cast<double>(std::max<int64_t>(stacks.total(), 1))) {}

  void draw(std::string_view title) {
    find_size();
    const double height = kHead + static_cast<double>(rows_) * kRow + kMargin;
    out_.print(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "font-family=\"monospace\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#ffffff\"/>\n<text x=\"{2}\" y=\"26\" font-size=\"15\">{3}</text>\n",
        kWidth, height, kMargin, escaped_markup(title));
    (void)each_rectangle(stacks_, [&](const Rectangle& one) {
      if (width_of(one) >= narrowest_) add(one);
      return !out_.failed();
    });
    out_.add("</svg>\n");
  }

 private:
  [[nodiscard]] double width_of(const Rectangle& one) const {
    return static_cast<double>(one.bytes) * scale_;
  }
  // How narrow rectangles may be, and how many rows there are then.
  void find_size() {
    std::array<int64_t, 16> wider{};  // than kNarrowest << i
    std::array<size_t, 16> rows{};
    (void)each_rectangle(stacks_, [&](const Rectangle& one) {
      double limit = kNarrowest;
      for (size_t i = 0; i < wider.size() && width_of(one) >= limit; ++i, limit *= 2) {
        ++wider[i];
        rows[i] = std::max(rows[i], one.depth + 1);
      }
      return true;
    });
    size_t i = 0;
    for (; i + 1 < wider.size() && wider[i] > kMostRectangles; ++i) narrowest_ *= 2;
    rows_ = rows[i];
  }

  void add(const Rectangle& one) {
    const double width = width_of(one);
    const double x = kMargin + static_cast<double>(one.from) * scale_;
    const double y = kHead + static_cast<double>(one.depth) * kRow;
    const uint64_t hash = hash_text(one.text);
    out_.print(
        "<g><title>{}: {}</title><rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" rx=\"1\" "
        "fill=\"rgb({},{},{})\"/>",
        escaped_markup(one.text), exact_size_text(one.bytes), x, y, width, kRow - 1, 205 + hash % 50,
        120 + (hash >> 8) % 90, 60 + (hash >> 16) % 50);
    const auto letters = static_cast<size_t>(width / kLetter);
    if (letters > 3) {
      const std::string text = one.text.size() <= letters
                                   ? std::string(one.text)
                                   : utf8::cut(one.text, letters > 6 ? letters - 3 : 3);
      out_.print("<text x=\"{:.2f}\" y=\"{:.1f}\">{}</text>", x + 3, y + 12, escaped_markup(text));
    }
    out_.add("</g>\n");
  }

  TextOut& out_;
  const FoldedStacks& stacks_;
  double scale_;
  double narrowest_ = kNarrowest;
  size_t rows_ = 0;
};

}  // namespace

void folded_to_text(TextOut& out, const FoldedStacks& stacks) {
  for (const FoldedStacks::Line& line : stacks.lines()) {
    out.print("{} {}\n", printable(stacks.line_text(line)), line.bytes);
    if (out.failed()) return;
  }
}

void describe(Members& m, const FoldedStacks& stacks, int32_t device, int32_t event, bool damaged) {
  m.line({"flamegraph --json", "What is alive after an event."});
  describe_damage(m, damaged);
  m.count("device", device);
  m.count("event", event);
  m.by_name(
      As::bytes, {"stacks", "By the stack as a text, the outermost frame first."},
      [&] { return stacks.lines(); }, [&](const FoldedStacks::Line& line) { return stacks.line_text(line); },
      [](const FoldedStacks::Line& line) { return line.bytes; });
}

void flame_to_svg(TextOut& out, const FoldedStacks& stacks, std::string_view title) {
  FlamePicture(out, stacks).draw(title);
}

}  // namespace gpustrata::answers
