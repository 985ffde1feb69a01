#include "engine/analysis/calls/call_tree_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/base/ascii.h"

namespace gpustrata::analysis {

namespace {

// As a reader sees it, in small letters.
void write_key(const model::Recording& recording, FrameKey by, int32_t key, std::string& text) {
  const trace::Frame& frame = recording.frames[FrameId{key}];
  const std::string_view file = recording.strings.view(frame.filename).substr(0, kLongestName);
  const std::string_view name = recording.strings.view(frame.name).substr(0, kLongestName);
  text.assign(file);
  if (by == FrameKey::line) text += fmt::format(":{}", std::max(frame.line, 0));
  if (by != FrameKey::file) {
    text += ':';
    text += name;
  }
  for (char& c : text) c = ascii::lower(c);
}

}  // namespace

Result<TreeLayout> lay_out(const model::Recording& recording, const CallTree& tree,
                           const TreeWindow& window) {
  TreeLayout layout(recording.budget);
  bool fits = true;
  const auto add = [&](const TreeRect& rect) {
    if (rect.row >= window.rows || layout.rects.size() >= TreeLayout::kMostRects) {
      layout.cut = true;
      return false;
    }
    fits = fits && layout.rects.push_back(rect);
    layout.rows = std::max(layout.rows, rect.row + 1);
    return fits;
  };
  const auto width = static_cast<double>(window.width);
  TreeRect top;
  top.right = static_cast<float>(width);
  (void)add(top);
  for (const int32_t key : window.path) {
    const int32_t next = tree.child_with(top.node, key);
    if (next < 0 || tree.nodes[next].width <= 0) break;
    top = {next, top.row, top.row + 1, 0, static_cast<float>(width)};
    if (!add(top)) break;
    ++layout.steps;
  }
  const double whole = tree.nodes[top.node].width;
  const double scale = whole > 0 ? width / whole : 0;
  for (size_t i = layout.rects.size() - std::min<size_t>(layout.rects.size(), 1); i < layout.rects.size();
       ++i) {
    const TreeRect parent = layout.rects[i];
    double left = parent.left;
    for (const int32_t child : tree.children(parent.node)) {
      const double pixels = tree.nodes[child].width * scale;
      if (!(pixels >= 1)) break;  // the others are narrower
      if (!add({child, static_cast<int32_t>(i), parent.row + 1, static_cast<float>(left),
                static_cast<float>(left + pixels)}))
        break;
      left += pixels;
    }
  }
  if (!fits)
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory for the rectangles of a flame graph.");
  return layout;
}

bool find_keys_with(const model::Recording& recording, const CallTree& tree, std::string_view text,
                    Column<uint8_t>& keys) {
  if (!keys.resize(recording.frames.size(), 0)) return false;
  std::string wanted(text);
  for (char& c : wanted) c = ascii::lower(c);
  if (wanted.find_first_not_of(" \t\r\n") == std::string::npos) return true;
  constexpr uint8_t kAsked = 2;
  std::string line;
  for (const CallTree::Node& node : tree.nodes) {
    if (node.key < 0 || keys[node.key] != 0) continue;
    write_key(recording, tree.asked.by, node.key, line);
    keys[node.key] = line.find(wanted) != std::string::npos ? 1 : kAsked;
  }
  for (uint8_t& one : keys.span()) one &= 1;
  return true;
}

bool find_in_tree(const model::Recording& recording, const CallTree& tree, const Column<uint8_t>& keys,
                  TreeFound& found) {
  struct Below {
    double width = 0, grew = 0;
  };
  Column<Below> below(recording.budget);
  if (!below.resize(tree.nodes.size(), Below{})) return false;
  for (size_t i = tree.nodes.size(); i-- > 1;) {
    const CallTree::Node& node = tree.nodes[i];
    if (node.key >= 0 && keys[node.key] != 0) below[i] = {node.width, node.grew};
    below[node.parent].width += below[i].width;
    below[node.parent].grew += below[i].grew;
  }
  found.width = below[0].width;
  found.grew = below[0].grew;
  for (const uint8_t one : keys) found.frames += one;
  return true;
}

}  // namespace gpustrata::analysis
