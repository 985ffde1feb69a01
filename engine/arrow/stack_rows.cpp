#include "engine/arrow/stack_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/analysis/stacks/own_frame.h"
#include "engine/analysis/stacks/shown_stacks.h"
#include "engine/answers/compare/carried_stacks.h"

namespace gpustrata::arrow {

namespace {

using model::Recording;

// Frames that one batch has at most, if no stack alone has more: 12 bytes each.
constexpr int64_t kBatchFrames = int64_t{1} << 20;

// Frames of each node's stack: a caller comes before what it calls. False: no memory.
[[nodiscard]] bool find_depths(const Recording& recording, Column<int32_t>& depths) {
  if (!depths.reserve(recording.stacks.node_count())) return false;
  for (const trace::StackTable::Node& node : recording.stacks.nodes()) {
    const int32_t above = node.caller < 0 ? 0 : depths[node.caller];
    (void)depths.push_back(above + 1);
  }
  return true;
}

// The column `who`.
class WhoColumn {
 public:
  explicit WhoColumn(TableBuilder& table)
      : table_(table),
        who_(table.recording()),
        text_of_frame_(table.recording().frames.size(), -1),
        dictionary_(table.later()) {
    if (!who_.prepare()) table.refuse();
  }
  void add(size_t first, size_t count) {
    std::vector<bool> is_null(count);
    Array array = table_.made<int32_t>(count, [&](size_t i) {
      const int32_t number = number_of(StackId(first + i));
      is_null[i] = number < 0;
      return std::max(number, 0);  // polars looks at the numbers of nulls, too
    });
    table_.set_nulls(array, [&](size_t i) { return bool{is_null[i]}; });
    table_.add({"who", "i", true, {}, dictionary_}, std::move(array));
  }
  void finish() { table_.fill(dictionary_, std::vector<std::string_view>(texts_.begin(), texts_.end())); }

 private:
  [[nodiscard]] int32_t number_of(StackId stack) {
    const analysis::Who one = who_(stack);
    if (one.kind == analysis::Who::Kind::nothing || one.frame.is_none()) return -1;
    int32_t& text = text_of_frame_[one.frame.index()];
    if (text < 0) {
      const Recording& recording = table_.recording();
      text = static_cast<int32_t>(texts_.size());
      const trace::Frame& frame = recording.frames[one.frame];
      texts_.push_back(one.is_frame() ? fmt::format("{}:{} {}", recording.strings.view(frame.filename),
                                                    frame.line, recording.strings.view(frame.name))
                                      : std::string(one.name));
    }
    return text;
  }

  TableBuilder& table_;
  analysis::WhoOfStacks who_;
  std::vector<std::string> texts_;
  std::vector<int32_t> text_of_frame_;
  int32_t dictionary_;
};

// The column `frames`.
class FramesColumn {
 public:
  explicit FramesColumn(TableBuilder& table)
      : table_(table),
        depths_(table.recording().budget),
        files_(table.counted_texts()),
        names_(table.counted_texts()) {
    if (!find_depths(table.recording(), depths_)) table.refuse();
  }
  // The frames of a stack.
  [[nodiscard]] int64_t count_of(StackId stack) const {
    const int32_t leaf = table_.recording().stacks.leaf(stack);
    return leaf < 0 ? 0 : depths_[leaf];
  }
  void add(size_t first, size_t count) {
    const Recording& recording = table_.recording();
    Column<int32_t> offsets(recording.budget);
    if (!offsets.reserve(count + 1)) return (void)table_.refuse();
    int64_t frames = 0;
    (void)offsets.push_back(0);
    for (size_t i = 0; i < count; ++i) {
      frames += count_of(StackId(first + i));
      if (frames > std::numeric_limits<int32_t>::max()) return (void)table_.refuse();
      (void)offsets.push_back(static_cast<int32_t>(frames));
    }
    const auto frame_count = static_cast<size_t>(frames);
    Column<int32_t> names(recording.budget), files(recording.budget), lines(recording.budget);
    if (!names.reserve(frame_count) || !files.reserve(frame_count) || !lines.reserve(frame_count))
      return (void)table_.refuse();
    for (size_t i = first; i < first + count; ++i) {
      for (int32_t node = recording.stacks.leaf(StackId(i)); node >= 0;
           node = recording.stacks.node(node).caller) {
        const trace::Frame& frame = recording.frames[recording.stacks.node(node).frame];
        (void)files.push_back(table_.number_of(files_, frame.filename));
        (void)names.push_back(table_.number_of(names_, frame.name));
        (void)lines.push_back(frame.line);
      }
      if (table_.stopped()) return;
    }
    const auto numbers = [&](Column<int32_t>&& column) {
      return TableBuilder::flat(frame_count, table_.keep(std::move(column)));
    };
    const Array frame{frames,
                      0,
                      {nullptr},
                      {numbers(std::move(files)), numbers(std::move(lines)), numbers(std::move(names))}};
    Array list = TableBuilder::flat(count, table_.keep(std::move(offsets)));
    list.children.push_back(frame);
    const Field item{"item",
                     "+s",
                     false,
                     {{"filename", "i", false, {}, files_}, {"line", "i"}, {"name", "i", false, {}, names_}}};
    table_.add({"frames", "+l", false, {item}}, std::move(list));
  }

 private:
  TableBuilder& table_;
  Column<int32_t> depths_;
  int32_t files_, names_;
};

// The column `hash`.
class HashColumn {
 public:
  explicit HashColumn(TableBuilder& table) : table_(table), stacks_(table.recording()) {
    if (!stacks_.prepare()) table.refuse();
  }
  void add(size_t first, size_t count) {
    std::vector<std::string> texts;
    texts.reserve(count);
    for (size_t i = first; i < first + count; ++i)
      texts.push_back(answers::key_text(stacks_.key(StackId(i))));
    table_.add({"hash", "u"}, table_.texts(std::vector<std::string_view>(texts.begin(), texts.end())));
  }

 private:
  TableBuilder& table_;
  analysis::ShownStacks stacks_;
};

}  // namespace

void add_stacks(TableBuilder& table) {
  WhoColumn who(table);
  FramesColumn frames(table);
  HashColumn hashes(table);
  if (table.stopped()) return;
  const auto add = [&](size_t first, size_t count) {
    table.begin_batch(count);
    who.add(first, count);
    frames.add(first, count);
    hashes.add(first, count);
    table.end_batch();
  };
  const int64_t most_frames = table.is_streamed() ? kBatchFrames : std::numeric_limits<int64_t>::max();
  table.in_pieces(table.recording().stacks.size(), [&](size_t first, size_t count) {
    if (count == 0) return add(0, 0);
    for (const size_t end = first + count; first < end && !table.stopped();) {
      size_t next = first;
      for (int64_t sum = 0; next < end && (next == first || sum <= most_frames); ++next)
        sum += frames.count_of(StackId(next));
      add(first, next - first);
      first = next;
    }
  });
  who.finish();
}

}  // namespace gpustrata::arrow
