// Are all ids and ranges of a sealed Recording in bounds? For tests on hostile input, and the fuzz target.
#pragma once

#include <fmt/format.h>

#include <string>

#include "engine/model/recording.h"

namespace gpustrata::tests {

[[nodiscard]] inline bool is_even(const auto& table) {
  bool even = true;
  table.each_column([&](const auto& column) { even = even && column.size() == table.size_rows(); });
  return even;
}

// Empty if everything is in order, else the first thing that is not.
inline std::string problem_of(const model::Recording& rec) {
  const auto outside = [](model::RowRange range, size_t rows) {
    return range.first < 0 || range.count < 0 ||
           static_cast<size_t>(range.first) + static_cast<size_t>(range.count) > rows;
  };
  const auto bad = [](auto id, size_t count) { return !id.is_none() && id.index() >= count; };
  const size_t strings = rec.strings.size();
  const size_t stacks = rec.stacks.size();

  const model::EventTable& e = rec.events;
  const size_t events = e.size_rows();
  if (!is_even(e)) return "event columns of different length";
  for (size_t i = 0; i < events; ++i) {
    const auto first_unknown = static_cast<size_t>(trace::Action::first_unknown);
    const auto action = static_cast<size_t>(e.action[i]);
    if (action >= first_unknown && action - first_unknown >= rec.unknown_actions.size())
      return fmt::format("action of event {}", i);
    if (e.size[i] < 0) return fmt::format("size of event {}", i);
    if (bad(e.stack[i], stacks) || bad(e.context[i], strings) || bad(e.metadata[i], strings) ||
        bad(e.pool[i], rec.pools.size())) {
      return fmt::format("an id of event {}", i);
    }
    if (e.stream[i].is_none() || bad(e.stream[i], rec.streams.size()))
      return fmt::format("stream of event {}", i);
  }

  const model::BlockTable& b = rec.blocks;
  const size_t blocks = b.size_rows();
  if (!is_even(b)) return "block columns of different length";
  const model::HistoryTable& h = rec.history;
  if (!is_even(h)) return "history columns of different length";
  for (size_t i = 0; i < h.size_rows(); ++i) {
    if (h.real_size[i] < 0 || bad(h.stack[i], stacks)) return fmt::format("history {}", i);
  }
  for (size_t i = 0; i < blocks; ++i) {
    if (b.size[i] < 0 || b.requested_size[i] < model::kUnknownSize || bad(b.stack[i], stacks) ||
        bad(b.metadata[i], strings) || outside(b.history[i], h.size_rows())) {
      return fmt::format("block {}", i);
    }
  }

  const model::SegmentTable& s = rec.segments;
  const size_t segments = s.size_rows();
  if (!is_even(s)) return "segment columns of different length";
  for (size_t i = 0; i < segments; ++i) {
    if (s.total_size[i] < 0 || bad(s.stack[i], stacks) || bad(s.metadata[i], strings) ||
        bad(s.pool[i], rec.pools.size()) || s.stream[i].is_none() || bad(s.stream[i], rec.streams.size()) ||
        outside(s.blocks[i], blocks)) {
      return fmt::format("segment {}", i);
    }
    for (int32_t row = s.blocks[i].first + 1; row < s.blocks[i].end(); ++row) {
      if (b.address[static_cast<size_t>(row)] < b.address[static_cast<size_t>(row) - 1]) {
        return fmt::format("blocks of segment {} are not in order", i);
      }
    }
  }

  const model::AnnotationTable& a = rec.annotations;
  if (!is_even(a)) return "annotation columns of different length";
  for (size_t i = 0; i < a.size_rows(); ++i) {
    if (bad(a.name[i], strings)) return fmt::format("annotation {}", i);
  }

  const model::PointTable& points = rec.points;
  if (!is_even(points)) return "point columns of different length";
  for (size_t i = 0; i < points.size_rows(); ++i) {
    if (bad(points.label[i], strings) || bad(points.note[i], strings)) return fmt::format("point {}", i);
  }
  const model::SeriesTable& series = rec.series;
  if (!is_even(series)) return "series columns of different length";
  for (size_t i = 0; i < series.size_rows(); ++i) {
    const model::RowRange rows = series.points[i];
    if (bad(series.name[i], strings) || outside(rows, points.size_rows())) return fmt::format("series {}", i);
    for (int32_t row = rows.first + 1; row < rows.end(); ++row) {
      if (points.time[row] < points.time[row - 1]) return fmt::format("series {} is not in order", i);
    }
  }

  for (size_t i = 0; i < stacks; ++i) {
    int32_t node = rec.stacks.leaf(StackId{i});
    if (node >= static_cast<int32_t>(rec.stacks.node_count())) return fmt::format("stack {}", i);
    for (size_t steps = 0; node >= 0; node = rec.stacks.node(node).caller) {
      if (++steps > rec.stacks.node_count()) return fmt::format("stack {} runs in a circle", i);
      const FrameId id = rec.stacks.node(node).frame;
      if (id.is_none() || bad(id, rec.frames.size())) return fmt::format("a frame of stack {}", i);
      const trace::Frame& frame = rec.frames[id];
      if (bad(frame.name, strings) || bad(frame.filename, strings))
        return fmt::format("a text of frame {}", id.value);
      if (frame.fx >= 0) {
        const trace::FxNode& fx = rec.frames.fx_of(frame);
        if (bad(fx.op, strings) || bad(fx.name, strings) || bad(fx.target, strings) ||
            bad(fx.original_trace, strings)) {
          return fmt::format("an FX text of frame {}", id.value);
        }
      }
    }
  }

  const model::SpanTable& p = rec.spans;
  const model::ThreadTable& t = rec.threads;
  const model::RecordTable& r = rec.records;
  if (!is_even(p) || !is_even(t) || !is_even(r)) return "span, thread or record columns of different length";
  for (size_t i = 0; i < t.size_rows(); ++i) {
    if (bad(t.process[i], strings) || bad(t.id[i], strings) || bad(t.name[i], strings))
      return fmt::format("thread {}", i);
  }
  const auto no_thread = [&](int32_t row) { return row < 0 || static_cast<size_t>(row) >= t.size_rows(); };
  const auto no_span = [&](int32_t row) { return row < -1 || row >= static_cast<int32_t>(p.size_rows()); };
  for (size_t i = 0; i < p.size_rows(); ++i) {
    if (bad(p.name[i], strings) || bad(p.category[i], strings) || bad(p.shapes[i], strings) ||
        bad(p.calls[i], strings) || bad(p.module[i], strings) || no_thread(p.thread[i]) ||
        p.parent[i] >= static_cast<int32_t>(i) || p.parent[i] < -1) {
      return fmt::format("span {}", i);
    }
  }
  for (size_t i = 0; i < r.size_rows(); ++i) {
    if (no_thread(r.thread[i]) || no_span(r.op[i])) return fmt::format("memory record {}", i);
  }

  for (const model::Part& part : rec.parts) {
    if (outside(part.spans, p.size_rows())) return fmt::format("spans of \"{}\"", part.name);
    if (outside(part.segments, segments) || outside(part.host_segments, segments) ||
        outside(part.host_events, events) || outside(part.annotations, a.size_rows()) ||
        outside(part.series, series.size_rows()) || bad(part.settings_json, strings)) {
      return fmt::format("snapshot \"{}\"", part.name);
    }
    for (const model::DeviceTrace& trace : part.traces) {
      if (outside(trace.from_start, blocks) ||
          (trace.first_record >= 0 && outside({trace.first_record, trace.events.count}, r.size_rows()))) {
        return fmt::format("records of device {}", trace.device);
      }
      if (outside(trace.events, events)) return fmt::format("trace of device {}", trace.device);
    }
  }

  const model::ExtraTable& x = rec.extras;
  for (size_t i = 0; i < x.size_rows(); ++i) {
    size_t rows = 0;
    switch (x.owner[i]) {
      case model::Owner::part:
        rows = rec.parts.size();
        break;
      case model::Owner::segment:
        rows = segments;
        break;
      case model::Owner::block:
        rows = blocks;
        break;
      case model::Owner::event:
        rows = events;
        break;
      case model::Owner::annotation:
        rows = a.size_rows();
        break;
      case model::Owner::point:
        rows = points.size_rows();
        break;
    }
    if (x.row[i] < 0 || static_cast<size_t>(x.row[i]) >= rows || x.key[i].is_none() ||
        bad(x.key[i], strings) || x.value[i].is_none() || bad(x.value[i], strings)) {
      return fmt::format("extra {}", i);
    }
    if (i > 0 && (x.owner[i] < x.owner[i - 1] || (x.owner[i] == x.owner[i - 1] && x.row[i] < x.row[i - 1]))) {
      return fmt::format("extra {} is out of order", i);
    }
  }
  return {};
}

}  // namespace gpustrata::tests
