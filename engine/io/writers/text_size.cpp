#include "engine/io/writers/text_size.h"

#include <algorithm>

#include "engine/base/units.h"
#include "engine/io/limits.h"

namespace gpustrata::io {

TextSize::TextSize(const model::Recording& recording, int64_t bytes_per_frame)
    : rec_(recording), bytes_per_frame_(bytes_per_frame) {}

bool TextSize::measure_stacks() {
  const std::span<const trace::StackTable::Node> nodes = rec_.stacks.nodes();
  if (!of_node_.resize(nodes.size(), 0)) return false;
  for (size_t i = 0; i < nodes.size(); ++i) {  // callers come before those they call
    const trace::Frame& frame = rec_.frames[nodes[i].frame];
    const size_t texts = rec_.strings.view(frame.name).size() + rec_.strings.view(frame.filename).size();
    const int64_t outer = nodes[i].caller < 0 ? 0 : of_node_[nodes[i].caller];
    const int64_t own = static_cast<int64_t>(texts) + bytes_per_frame_;
    of_node_[i] = own > INT64_MAX - outer ? INT64_MAX : own + outer;
  }
  return true;
}

void TextSize::add_row(StackId stack, StringId first, StringId second) {
  ++rows_;
  add_bytes(static_cast<int64_t>(rec_.strings.view(first).size() + rec_.strings.view(second).size()));
  if (stack.is_none()) return;
  if (const int32_t leaf = rec_.stacks.leaf(stack); leaf >= 0) add_bytes(of_node_[leaf]);
}

void TextSize::add_events(model::RowRange events) {
  const model::EventTable& e = rec_.events;
  for (int32_t row = events.first; row < events.end(); ++row) {
    add_row(e.stack[row], e.context[row], e.metadata[row]);
  }
}

void TextSize::add_segments(model::RowRange segments) {
  const model::SegmentTable& s = rec_.segments;
  add_blocks(segments);
  for (int32_t segment = segments.first; segment < segments.end(); ++segment) {
    add_row(s.stack[segment], s.metadata[segment]);
    for (int32_t block = s.blocks[segment].first; block < s.blocks[segment].end(); ++block) {
      const model::RowRange history = rec_.blocks.history[block];
      for (int32_t entry = history.first; entry < history.end(); ++entry) add_row(rec_.history.stack[entry]);
    }
  }
}

void TextSize::add_blocks(model::RowRange segments) {
  const model::BlockTable& b = rec_.blocks;
  for (int32_t segment = segments.first; segment < segments.end(); ++segment) {
    const model::RowRange blocks = rec_.segments.blocks[segment];
    for (int32_t block = blocks.first; block < blocks.end(); ++block)
      add_row(b.stack[block], b.metadata[block]);
  }
}

void TextSize::add_points(model::RowRange series) {
  const model::PointTable& p = rec_.points;
  for (int32_t row = series.first; row < series.end(); ++row) {
    const model::RowRange points = rec_.series.points[row];
    for (int32_t point = points.first; point < points.end(); ++point) {
      add_row({}, p.label[point], p.note[point]);
      add_bytes(static_cast<int64_t>(rec_.strings.view(rec_.series.name[row]).size()));
    }
  }
}

void TextSize::add(const model::Part& part) {
  for (const model::DeviceTrace& trace : part.traces) add_events(trace.events);
  add_events(part.host_events);
  add_segments(part.segments);
  add_segments(part.host_segments);
  rows_ += part.annotations.count;
}

void TextSize::add_rows(const model::Part& part) {
  for (const model::DeviceTrace& trace : part.traces) rows_ += trace.events.count;
  rows_ += int64_t{part.host_events.count} + part.annotations.count;
  for (const model::RowRange segments : {part.segments, part.host_segments}) {
    rows_ += segments.count;
    for (int32_t row = segments.first; row < segments.end(); ++row) {
      rows_ += rec_.segments.blocks[row].count;
    }
  }
}

int64_t TextSize::limit() const {
  const int64_t rows = std::min(rows_, (INT64_MAX - kFreeWrittenBytes) / kWrittenBytesPerRow);
  return kFreeWrittenBytes + rows * kWrittenBytesPerRow;
}

Status too_long_as(std::string_view form, int64_t limit) {
  return fail(
      ErrorCode::limit_exceeded, -1,
      "as {} this file would be longer than {}, because what many of its rows share is written out at "
      "each of them{}",
      form, size_text(limit),
      form == "a pickle" ? "" : "; a pickle says a stack only once: convert it to that");
}

Status BoundedSink::write(std::span<const std::byte> bytes) {
  if (static_cast<int64_t>(bytes.size()) > left_) {
    left_ = 0;
    return too_long_as(form_, limit_);
  }
  left_ -= static_cast<int64_t>(bytes.size());
  return sink_.write(bytes);
}

}  // namespace gpustrata::io
