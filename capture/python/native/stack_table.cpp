#include "capture/python/native/stack_table.h"

#include <fmt/core.h>

#include <limits>
#include <string>
#include <utility>

#include "engine/analysis/own_frame.h"

namespace memstrata::python {

namespace {

using model::Recording;

// Frames of each node's stack: a caller comes before what it calls. False: no memory.
[[nodiscard]] bool find_depths(const Recording& recording, Column<int32_t>& depths) {
  if (!depths.reserve(recording.stacks.node_count())) return false;
  for (const trace::StackTable::Node& node : recording.stacks.nodes()) {
    const int32_t above = node.caller < 0 ? 0 : depths[node.caller];
    (void)depths.push_back(above + 1);
  }
  return true;
}

void add_who(TableBuilder& table) {
  const Recording& recording = table.recording();
  const size_t count = recording.stacks.size();
  analysis::WhoOfStacks who(recording);
  if (!who.prepare()) return (void)table.refuse();
  std::vector<std::string> texts;
  std::vector<int32_t> text_of_frame(recording.frames.size(), -1);
  std::vector<int32_t> of_stack(count, -1);
  for (size_t i = 0; i < count; ++i) {
    const analysis::Who one = who(StackId(i));
    if (one.kind == analysis::Who::Kind::nothing || one.frame.is_none()) continue;
    int32_t& text = text_of_frame[one.frame.index()];
    if (text < 0) {
      text = static_cast<int32_t>(texts.size());
      const trace::Frame& frame = recording.frames[one.frame];
      texts.push_back(one.is_frame() ? fmt::format("{}:{} {}", recording.strings.view(frame.filename),
                                                   frame.line, recording.strings.view(frame.name))
                                     : std::string(one.name));
    }
    of_stack[i] = text;
  }
  Array array = table.made<int32_t>(count, [&](size_t i) { return of_stack[i]; });
  table.set_nulls(array, [&](size_t i) { return of_stack[i] < 0; });
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  array.dictionary.push_back(table.texts(views));
  table.add(TableBuilder::dictionary_field("who", "i", true), std::move(array));
}

}  // namespace

void add_stacks(TableBuilder& table) {
  const Recording& recording = table.recording();
  const trace::StackTable& stacks = recording.stacks;
  Column<int32_t> depths(recording.budget), offsets(recording.budget);
  if (!find_depths(recording, depths) || !offsets.reserve(stacks.size() + 1)) return (void)table.refuse();
  int64_t frames = 0;
  (void)offsets.push_back(0);
  for (size_t i = 0; i < stacks.size(); ++i) {
    const int32_t leaf = stacks.leaf(StackId(i));
    frames += leaf < 0 ? 0 : depths[leaf];
    if (frames > std::numeric_limits<int32_t>::max()) return (void)table.refuse();
    (void)offsets.push_back(static_cast<int32_t>(frames));
  }
  const auto count = static_cast<size_t>(frames);
  Column<int32_t> names(recording.budget), files(recording.budget), lines(recording.budget);
  if (!names.reserve(count) || !files.reserve(count) || !lines.reserve(count)) return (void)table.refuse();
  TableBuilder::CountedTexts name_texts(recording), file_texts(recording);
  for (size_t i = 0; i < stacks.size(); ++i) {
    for (int32_t node = stacks.leaf(StackId(i)); node >= 0; node = stacks.node(node).caller) {
      const trace::Frame& frame = recording.frames[stacks.node(node).frame];
      const int32_t name = name_texts.index_of(recording, frame.name);
      const int32_t file = file_texts.index_of(recording, frame.filename);
      if (name < 0 || file < 0) return (void)table.refuse();
      (void)names.push_back(name);
      (void)files.push_back(file);
      (void)lines.push_back(frame.line);
    }
  }
  Array file = TableBuilder::flat(count, table.keep(std::move(files)));
  file.dictionary.push_back(table.texts(file_texts.views()));
  const Array line = TableBuilder::flat(count, table.keep(std::move(lines)));
  Array name = TableBuilder::flat(count, table.keep(std::move(names)));
  name.dictionary.push_back(table.texts(name_texts.views()));
  const Field frame_field{
      "item",
      "+s",
      false,
      {TableBuilder::dictionary_field("filename", "i", false), Field{"line", "i", false, {}, {}},
       TableBuilder::dictionary_field("name", "i", false)},
      {}};
  const Array frame{static_cast<int64_t>(count), 0, {nullptr}, {std::move(file), line, std::move(name)}, {}};
  Array list = TableBuilder::flat(stacks.size(), table.keep(std::move(offsets)));
  list.children.push_back(frame);

  table.begin_batch(stacks.size());
  add_who(table);
  table.add({"frames", "+l", false, {frame_field}, {}}, std::move(list));
  table.end_batch();
}

}  // namespace memstrata::python
