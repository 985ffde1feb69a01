#include "engine/analysis/flame_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/analysis/frame_filter.h"
#include "engine/base/hash.h"
#include "engine/base/markup.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"
#include "engine/replay/links.h"

namespace memstrata::analysis {

namespace {

constexpr double kWidth = 1200, kRow = 17, kMargin = 10, kHead = 44;
constexpr double kNarrowest = 0.1;  // pixels
constexpr double kLetter = 6.6;     // pixels of one letter of the 11 pixel font, about

// Semicolons and line ends would start another frame or line.
[[nodiscard]] std::string one_entry(std::string_view text) {
  std::string out = utf8::cut(text, 500);
  for (char& c : out) {
    if (c == ';') c = ':';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return out;
}

[[nodiscard]] std::string frames_text(const model::Recording& recording, StackId stack) {
  std::string out;
  if (!stack.is_none()) {
    const auto lines = frame_lines(recording, stack);
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
      if (line->hidden) continue;
      std::string text = frame_text(recording, line->frame);
      const std::string_view file = recording.strings.view(recording.frames[line->frame].filename);
      const size_t folders = file.substr(0, kLongestName).rfind('/');
      if (folders != std::string_view::npos) text.erase(0, folders + 1);
      for (int32_t i = 0; i < std::min(line->repeats, 1000); ++i) out += ";" + one_entry(text);
    }
  }
  return out.empty() ? ";<non-python>" : out;
}

[[nodiscard]] std::string_view state_name(model::BlockState state) {
  return state == model::BlockState::active_allocated      ? "active_allocated"
         : state == model::BlockState::active_pending_free ? "active_pending_free"
                                                           : "inactive";
}

[[nodiscard]] StackId stack_of(const model::Recording& recording, const replay::StateHistory& history,
                               int32_t block) {
  const auto filled = [&](StackId stack) { return !stack.is_none() && recording.stacks.leaf(stack) >= 0; };
  const replay::BlockEvents events = events_of_block(recording, history, block);
  const auto at = [&](int32_t event) {
    return recording.events.stack[static_cast<size_t>(history.rows.events.first + event)];
  };
  if (events.alloc >= 0 && filled(at(events.alloc))) return at(events.alloc);
  const int32_t source = history.block_source[static_cast<size_t>(block)];
  if (source >= 0 && filled(recording.blocks.stack[static_cast<size_t>(source)]))
    return recording.blocks.stack[static_cast<size_t>(source)];
  return {};  // that of a free says nothing of where the memory is from
}

// Sorted stacks make a tree in order: a rectangle is open as long as lines share its beginning.
class FlamePicture {
 public:
  explicit FlamePicture(int64_t total)
      : scale_((kWidth - 2 * kMargin) / static_cast<double>(std::max<int64_t>(total, 1))) {}

  void add(std::string_view line, int64_t bytes) {
    std::vector<std::string_view> frames{"all"};
    while (!line.empty()) {
      const size_t end = std::min(line.find(';'), line.size());
      frames.push_back(line.substr(0, end));
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    size_t shared = 0;
    while (shared < open_.size() && shared < frames.size() && open_[shared].text == frames[shared]) ++shared;
    close_to(shared);
    for (size_t i = shared; i < frames.size(); ++i) open_.push_back({std::string(frames[i]), at_});
    at_ += bytes;
  }
  [[nodiscard]] std::string finish(const std::string& title) {
    close_to(0);
    const double height = kHead + static_cast<double>(deepest_) * kRow + kMargin;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
               "font-family=\"monospace\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
               "fill=\"#ffffff\"/>\n<text x=\"{2}\" y=\"26\" font-size=\"15\">{3}</text>\n",
               kWidth, height, kMargin, escaped_markup(title)) +
           body_ + "</svg>\n";
  }

 private:
  struct Open {
    std::string text;
    int64_t from;
  };
  void close_to(size_t depth) {
    for (; open_.size() > depth; open_.pop_back()) {
      const Open& frame = open_.back();
      const int64_t bytes = at_ - frame.from;
      const double width = static_cast<double>(bytes) * scale_;
      if (width < kNarrowest) continue;
      deepest_ = std::max(deepest_, open_.size());
      const double x = kMargin + static_cast<double>(frame.from) * scale_;
      const double y = kHead + static_cast<double>(open_.size() - 1) * kRow;
      const uint64_t hash = hash_text(frame.text);
      body_ += fmt::format(
          "<g><title>{}: {}</title><rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" rx=\"1\" "
          "fill=\"rgb({},{},{})\"/>",
          escaped_markup(frame.text), exact_size_text(bytes), x, y, width, kRow - 1, 205 + hash % 50,
          120 + (hash >> 8) % 90, 60 + (hash >> 16) % 50);
      const auto letters = static_cast<size_t>(width / kLetter);
      if (letters > 3) {
        const std::string text =
            frame.text.size() <= letters ? frame.text : utf8::cut(frame.text, letters > 6 ? letters - 3 : 3);
        body_ +=
            fmt::format("<text x=\"{:.2f}\" y=\"{:.1f}\">{}</text>", x + 3, y + 12, escaped_markup(text));
      }
      body_ += "</g>\n";
    }
  }

  double scale_;
  std::vector<Open> open_;
  int64_t at_ = 0;
  size_t deepest_ = 0;
  std::string body_;
};

}  // namespace

FoldedStacks fold_memory(const model::Recording& recording, const replay::StateHistory& history,
                         const replay::MemoryAt& memory, const StreamNumbers& streams,
                         const FlameOptions& options) {
  FoldedStacks stacks;
  const auto add = [&](const std::string& prefix, const replay::BlockAt& block) {
    const std::string root = prefix + ";" + std::string(state_name(block.state));
    if (block.row < 0) {
      if (options.inactive) stacks[root] += block.size;
      return;
    }
    const std::string frames = root + frames_text(recording, stack_of(recording, history, block.row));
    const int64_t used = std::min(block.requested_size, block.size);
    if (used > 0) stacks[frames] += used;
    if (block.size > used) stacks[frames + ";<gaps>"] += block.size - used;
  };
  for (const replay::SegmentAt& segment : memory.segments()) {
    std::string prefix =
        fmt::format("stream_{}", streams[history.range_stream[static_cast<size_t>(segment.row)]]);
    if (options.segments) prefix += fmt::format(";seg_{:#x}", segment.address);
    for (const replay::BlockAt& block : memory.blocks_of(segment)) add(prefix, block);
  }
  for (const replay::BlockAt& block : memory.outside()) add("no segment", block);
  return stacks;
}

std::string folded_text(const FoldedStacks& stacks) {
  std::string out;
  for (const auto& [text, bytes] : stacks) out += fmt::format("{} {}\n", text, bytes);
  return out;
}

std::string flame_svg(const FoldedStacks& stacks, const std::string& title) {
  int64_t total = 0;
  for (const auto& [text, bytes] : stacks) {
    if (__builtin_add_overflow(total, bytes, &total)) total = INT64_MAX;
  }
  FlamePicture picture(total);
  for (const auto& [text, bytes] : stacks) picture.add(text, bytes);
  return picture.finish(title);
}

}  // namespace memstrata::analysis
