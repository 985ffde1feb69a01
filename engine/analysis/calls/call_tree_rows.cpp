#include "engine/analysis/calls/call_tree_rows.h"

#include <algorithm>
#include <tuple>

namespace gpustrata::analysis {

namespace {

// Adds up the nodes, depth first: a frame that is open already counts no second time.
class Adding {
 public:
  Adding(const model::Recording& recording, const CallTree& tree)
      : tree_(tree), rows_(recording.budget), open_(recording.budget), path_(recording.budget) {}

  [[nodiscard]] bool run() {
    int32_t highest = CallTree::kNoStack;
    for (const CallTree::Node& node : tree_.nodes) highest = std::max(highest, node.key);
    // By key + 1.
    if (!rows_.resize(static_cast<size_t>(highest) + 2, FrameRow{}) || !open_.resize(rows_.size(), 0) ||
        !path_.push_back({0, 0}))
      return false;
    while (!path_.empty()) {
      Step& step = path_.back();
      const auto children = tree_.children(step.node);
      if (step.next == children.size()) {
        if (step.node != 0) --open_[tree_.nodes[step.node].key + 1];
        path_.pop_back();
        continue;
      }
      const int32_t child = children[step.next++];
      add(tree_.nodes[child]);
      if (!path_.push_back({child, 0})) return false;
    }
    return true;
  }
  [[nodiscard]] const Column<FrameRow>& rows() const { return rows_; }

 private:
  struct Step {
    int32_t node;
    size_t next;
  };

  void add(const CallTree::Node& node) {
    FrameRow& row = rows_[node.key + 1];
    row.key = node.key;
    if (open_[node.key + 1]++ == 0) {
      row.total += node.width;
      row.total_grew += node.grew;
      row.blocks += node.blocks;
    }
    if (!tree_.asked.inverted) {
      row.self += node.self;
      row.self_grew += node.self_grew;
    } else if (node.parent == 0) {
      row.self += node.width;
      row.self_grew += node.grew;
    }
  }

  const CallTree& tree_;
  Column<FrameRow> rows_;
  Column<int32_t> open_;
  Column<Step> path_;
};

[[nodiscard]] double change_of(double width, double grew) { return grew - (width - grew); }

}  // namespace

Result<Column<FrameRow>> find_frame_rows(const model::Recording& recording, const CallTree& tree,
                                         RowOrder order, bool descending, std::span<const uint8_t> keys) {
  Adding adding(recording, tree);
  Column<FrameRow> found(recording.budget);
  bool fits = adding.run();
  for (const FrameRow& row : adding.rows()) {
    if (row.blocks == 0 && row.total == 0) continue;
    if (!keys.empty() && (row.key < 0 || keys[static_cast<size_t>(row.key)] == 0)) continue;
    fits = fits && found.push_back(row);
  }
  if (!fits) return fail(ErrorCode::limit_exceeded, -1, "Not enough memory for the table of frames.");
  const auto number = [&](const FrameRow& row) {
    switch (order) {
      case RowOrder::self:
        return row.self;
      case RowOrder::blocks:
        return static_cast<double>(row.blocks);
      case RowOrder::change:
        return change_of(row.total, row.total_grew);
      default:
        return row.total;
    }
  };
  const auto text = [&](const FrameRow& row) {
    if (row.key < 0) return std::tuple(std::string_view(), std::string_view(), 0);
    const trace::Frame& frame = recording.frames[FrameId{row.key}];
    const std::string_view name = recording.strings.view(frame.name),
                           file = recording.strings.view(frame.filename);
    return std::tuple(tree.asked.by == FrameKey::file ? file : name, file, frame.line);
  };
  std::sort(found.data(), found.data() + found.size(), [&](const FrameRow& left, const FrameRow& right) {
    const FrameRow &a = descending ? right : left, &b = descending ? left : right;
    if (order == RowOrder::name) {
      if (const auto x = text(a), y = text(b); x != y) return x < y;
    } else if (const double x = number(a), y = number(b); x != y) {
      return x < y;
    }
    return left.key < right.key;
  });
  return found;
}

}  // namespace gpustrata::analysis
