// Are two recordings the same to the last id? For the tests that hold a fast way of reading against the plain
// one.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "engine/model/recording.h"

namespace gpustrata::tests {

namespace detail {

// Empty if the tables are the same, else the first row of each column that differs.
template <typename Table>
[[nodiscard]] std::string difference_of_tables(const Table& a, const Table& b) {
  std::string places;
  int which = 0;
  const auto look = [&](const auto& left, const auto& right) {
    if (left.size() != right.size()) {
      places += fmt::format(" column {}: {} rows, {} rows", which, left.size(), right.size());
    } else {
      size_t row = 0;
      while (row < left.size() && left[row] == right[row]) ++row;
      if (row < left.size()) places += fmt::format(" column {}: row {}", which, row);
    }
    ++which;
  };
  std::apply([&](auto... field) { (look(a.*field.column, b.*field.column), ...); }, Table::columns());
  return places;
}

}  // namespace detail

// Empty if they are, else the first thing that differs.
[[nodiscard]] inline std::string difference_of(model::Recording& a, model::Recording& b) {
  if (a.strings.size() != b.strings.size())
    return fmt::format("{} strings, {} strings", a.strings.size(), b.strings.size());
  for (size_t i = 0; i < a.strings.size(); ++i) {
    if (a.strings.view(StringId{i}) != b.strings.view(StringId{i})) return fmt::format("string {}", i);
  }
  if (a.frames.size() != b.frames.size()) return "number of frames";
  for (size_t i = 0; i < a.frames.size(); ++i) {
    const trace::Frame& left = a.frames[FrameId{i}];
    const trace::Frame& right = b.frames[FrameId{i}];
    if (!(left == right)) return fmt::format("frame {}", i);
    if (left.fx >= 0 && !(a.frames.fx_of(left) == b.frames.fx_of(right)))
      return fmt::format("FX of frame {}", i);
  }
  if (a.stacks.size() != b.stacks.size())
    return fmt::format("{} stacks, {} stacks", a.stacks.size(), b.stacks.size());
  for (size_t i = 0; i < a.stacks.size(); ++i) {
    if (a.stacks.frames_of(StackId{i}) != b.stacks.frames_of(StackId{i})) return fmt::format("stack {}", i);
  }
  if (a.streams != b.streams) return "streams";
  if (!std::equal(
          a.pools.begin(), a.pools.end(), b.pools.begin(), b.pools.end(),
          [](const auto& x, const auto& y) { return x.graph_id == y.graph_id && x.user_id == y.user_id; }))
    return "pools";
  if (a.unknown_actions != b.unknown_actions) return "unknown actions";
  if (const auto d = detail::difference_of_tables(a.events, b.events); !d.empty()) return "events:" + d;
  if (const auto d = detail::difference_of_tables(a.blocks, b.blocks); !d.empty()) return "blocks:" + d;
  if (const auto d = detail::difference_of_tables(a.history, b.history); !d.empty())
    return "block history:" + d;
  if (const auto d = detail::difference_of_tables(a.segments, b.segments); !d.empty()) return "segments:" + d;
  if (const auto d = detail::difference_of_tables(a.annotations, b.annotations); !d.empty())
    return "annotations:" + d;
  if (const auto d = detail::difference_of_tables(a.extras, b.extras); !d.empty()) return "extras:" + d;
  if (const auto d = detail::difference_of_tables(a.spans, b.spans); !d.empty()) return "spans:" + d;
  if (const auto d = detail::difference_of_tables(a.threads, b.threads); !d.empty()) return "threads:" + d;
  if (const auto d = detail::difference_of_tables(a.records, b.records); !d.empty()) return "records:" + d;
  if (a.parts.size() != b.parts.size()) return "number of snapshots";
  for (size_t i = 0; i < a.parts.size(); ++i) {
    const model::Part& x = a.parts[i];
    const model::Part& y = b.parts[i];
    const auto same_trace = [](const model::DeviceTrace& s, const model::DeviceTrace& t) {
      return s.device == t.device && s.events == t.events && s.first_record == t.first_record &&
             s.from_start == t.from_start;
    };
    if (x.name != y.name || x.segments != y.segments || x.has_host != y.has_host ||
        x.host_segments != y.host_segments || x.host_events != y.host_events ||
        x.annotations != y.annotations || x.spans != y.spans || x.settings_json != y.settings_json ||
        x.most_devices != y.most_devices ||
        !std::equal(x.traces.begin(), x.traces.end(), y.traces.begin(), y.traces.end(), same_trace))
      return fmt::format("snapshot {}", i);
  }
  for (size_t i = 0; i < static_cast<size_t>(model::Diag::kCount); ++i) {
    const auto& x = a.diagnostics[static_cast<model::Diag>(i)];
    const auto& y = b.diagnostics[static_cast<model::Diag>(i)];
    if (x.count != y.count || x.first_offset != y.first_offset || x.detail != y.detail) {
      return fmt::format("{}: {} times first at {} ({}), {} times first at {} ({})",
                         kind_of(static_cast<model::Diag>(i)).name, x.count, x.first_offset, x.detail,
                         y.count, y.first_offset, y.detail);
    }
  }
  if (a.input_bytes != b.input_bytes) return "input bytes";
  return {};
}

}  // namespace gpustrata::tests
