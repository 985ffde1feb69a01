#include "engine/io/writers/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/utf8.h"
#include "engine/io/readers/snapshot/snapshot_words.h"
#include "engine/io/writers/snapshot_shape.h"
#include "engine/io/writers/text_size.h"

namespace gpustrata::io {

namespace {

using model::RowRange;

constexpr int64_t kFrameTextBytes = 5;  // " ()" and "; "

class CsvOutput {
 public:
  CsvOutput(const model::Recording& recording, ByteSink& sink, bool names_snapshots)
      : rec_(recording), sink_(sink), names_snapshots_(names_snapshots) {}

  void header(std::string_view names) {
    if (names_snapshots_) line_ += "snapshot,";
    line_ += names;
    line_ += '\n';
  }
  // Fields before those of the row.
  void begin_row(std::string_view part) {
    first_ = true;
    if (names_snapshots_) text(part);
  }
  void begin_row(std::string_view part, bool host, int64_t device) {
    begin_row(part);
    if (host) {
      plain("host");
    } else {
      number(device);
    }
  }
  void end_row() {
    line_ += '\n';
    if (line_.size() >= kSinkPiece) flush();
  }
  [[nodiscard]] Status end() {
    flush();
    return status_;
  }
  [[nodiscard]] bool failed() const { return !status_; }

  void plain(std::string_view text) {
    comma();
    line_ += text;
  }
  void number(int64_t number) {
    comma();
    fmt::format_to(std::back_inserter(line_), "{}", number);
  }
  void known_size(int64_t bytes) {
    if (bytes == model::kUnknownSize) return plain({});
    number(bytes);
  }
  void address(uint64_t address) {
    comma();
    fmt::format_to(std::back_inserter(line_), "{:#x}", address);
  }
  void pool(PoolId id) {
    comma();
    if (id.is_none()) return;
    const model::Pool& ids = rec_.pools[id.index()];
    fmt::format_to(std::back_inserter(line_), "{}:{}", static_cast<uint64_t>(ids.graph_id),
                   static_cast<uint64_t>(ids.user_id));
  }
  void text(StringId id) { text(rec_.strings.view(id)); }
  void text(std::string_view raw) {
    comma();
    if (raw.empty()) return;
    const bool quoted = needs_quotes(raw);
    begin_text(raw, quoted);
    escaped(raw);
    if (quoted) line_ += '"';
  }
  // Frame by frame: a stack may be longer than memory.
  void stack(StackId id) {
    if (id.is_none()) {
      plain({});
      return plain({});
    }
    number(id.value);
    comma();
    const int32_t leaf = rec_.stacks.leaf(id);
    if (leaf < 0) return;
    frame_text(leaf);
    // The separator of frames is one of what must be quoted.
    const bool quoted = rec_.stacks.node(leaf).caller >= 0 || needs_quotes(frame_);
    begin_text(frame_, quoted);
    escaped(frame_);
    for (int32_t node = rec_.stacks.node(leaf).caller; node >= 0 && !failed();
         node = rec_.stacks.node(node).caller) {
      line_ += "; ";
      frame_text(node);
      escaped(frame_);
      if (line_.size() >= kSinkPiece) flush();
    }
    if (quoted) line_ += '"';
  }

 private:
  void comma() {
    if (!first_) line_ += ',';
    first_ = false;
  }
  void frame_text(int32_t node) {
    const trace::Frame& frame = rec_.frames[rec_.stacks.node(node).frame];
    frame_.clear();
    fmt::format_to(std::back_inserter(frame_), "{} ({}", rec_.strings.view(frame.name),
                   rec_.strings.view(frame.filename));
    if (frame.line > 0) fmt::format_to(std::back_inserter(frame_), ":{}", frame.line);
    frame_ += ')';
  }
  // Spreadsheets also take semicolons and tabs for the end of a field.
  [[nodiscard]] static bool needs_quotes(std::string_view text) {
    return text.find_first_of(",;\"\t\r\n") != std::string_view::npos;
  }
  // What a spreadsheet takes for a formula, also in the wide forms of East Asian keyboards and behind what
  // some skip.
  [[nodiscard]] static bool looks_like_formula(std::string_view text) {
    constexpr std::string_view kSigns[] = {"=", "+", "-", "@", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};
    constexpr std::string_view kSkipped[] = {" ", "\t", "\r", "\n", "\uFEFF", "\u00A0"};
    if (text.find_first_of("\t\r\n") == 0) return true;
    for (bool more = true; more;) {
      more = false;
      for (const std::string_view skipped : kSkipped) {
        if (!text.starts_with(skipped)) continue;
        text.remove_prefix(skipped.size());
        more = true;
      }
    }
    return std::any_of(std::begin(kSigns), std::end(kSigns),
                       [&](std::string_view sign) { return text.starts_with(sign); });
  }
  void begin_text(std::string_view text, bool quoted) {
    if (quoted) line_ += '"';
    if (looks_like_formula(text)) line_ += '\'';
  }
  // Inside of a field: quotes doubled, UTF-8, control characters other than those of lines as in JSON.
  void escaped(std::string_view text) {
    size_t plain = 0;  // start of what is not copied yet
    for (size_t at = 0; at < text.size();) {
      const utf8::Sequence sequence = utf8::sequence_at(text, at);
      const char first = text[at];
      const bool ends_line = first == '\t' || first == '\r' || first == '\n';
      const bool control = sequence.valid && !ends_line && utf8::is_control(text, at, sequence);
      if (!sequence.valid || control || first == '"') {
        line_ += text.substr(plain, at - plain);
        plain = at + sequence.length;
        if (control) {
          fmt::format_to(std::back_inserter(line_), "\\u{:04x}",
                         unsigned{static_cast<unsigned char>(text[plain - 1])});
        } else {
          line_ += sequence.valid ? "\"\"" : utf8::kReplacement;
        }
      }
      at += sequence.length;
    }
    line_ += text.substr(plain);
  }
  void flush() {
    if (status_) status_ = sink_.write(bytes_of(line_));
    line_.clear();
  }

  const model::Recording& rec_;
  ByteSink& sink_;
  Status status_;
  std::string line_;
  std::string frame_;  // scratch
  bool names_snapshots_;
  bool first_ = true;
};

void write_events(const model::Recording& rec, CsvOutput& out, const model::Clock& clock,
                  std::string_view part, bool host, int32_t device, RowRange range) {
  const model::EventTable& e = rec.events;
  for (int32_t row = range.first; row < range.end() && !out.failed(); ++row) {
    const auto i = static_cast<size_t>(row);
    out.begin_row(part, host, device);
    out.number(row - range.first);
    out.text(rec.action_name(e.action[i]));
    if (e.action[i] == trace::Action::oom) {
      out.plain({});
      if (const auto free = model::device_free(e, i)) {
        out.number(*free);
      } else {
        out.plain({});
      }
    } else {
      out.address(e.address[i]);
      out.plain({});
    }
    out.number(e.size[i]);
    out.number(rec.streams[e.stream[i].index()]);
    if (const auto us = clock.microseconds(e.time[i])) {
      out.number(*us);
    } else {
      out.plain({});
    }
    out.pool(e.pool[i]);
    out.text(e.context[i]);
    out.text(e.metadata[i]);
    out.stack(e.stack[i]);
    out.end_row();
  }
}

[[nodiscard]] std::string_view text_of(model::BlockState state) {
  switch (state) {
    case model::BlockState::active_allocated:
      return kWordTexts[static_cast<size_t>(Word::active_allocated)];
    case model::BlockState::active_pending_free:
      return kWordTexts[static_cast<size_t>(Word::active_pending_free)];
    case model::BlockState::inactive:
      return kWordTexts[static_cast<size_t>(Word::inactive)];
    case model::BlockState::unknown:
      break;
  }
  return {};
}

void write_blocks(const model::Recording& rec, CsvOutput& out, std::string_view part, bool host,
                  RowRange segments) {
  const model::SegmentTable& s = rec.segments;
  const model::BlockTable& b = rec.blocks;
  for (int32_t row = segments.first; row < segments.end() && !out.failed(); ++row) {
    for (int32_t block = s.blocks[row].first; block < s.blocks[row].end() && !out.failed(); ++block) {
      out.begin_row(part, host, s.device[row]);
      out.address(s.address[row]);
      out.number(s.total_size[row]);
      out.plain(s.type[row] == model::SegmentType::small   ? "small"
                : s.type[row] == model::SegmentType::large ? "large"
                                                           : "");
      out.plain(s.expandable[row] == model::Tristate::yes  ? "True"
                : s.expandable[row] == model::Tristate::no ? "False"
                                                           : "");
      out.pool(s.pool[row]);
      out.number(rec.streams[s.stream[row].index()]);
      out.address(b.address[block]);
      out.number(b.size[block]);
      out.known_size(b.requested_size[block]);
      out.plain(text_of(b.state[block]));
      out.text(b.metadata[block]);
      out.stack(b.stack[block]);
      out.end_row();
    }
  }
}

void write_points(const model::Recording& rec, CsvOutput& out, const model::Part& part,
                  std::string_view name) {
  const model::PointTable& p = rec.points;
  for (int32_t row = part.series.first; row < part.series.end(); ++row) {
    const RowRange points = rec.series.points[row];
    for (int32_t point = points.first; point < points.end() && !out.failed(); ++point) {
      out.begin_row(name);
      out.text(rec.series.name[row]);
      if (rec.series.device[row] == model::kUnknownDevice) {
        out.plain({});
      } else {
        out.number(rec.series.device[row]);
      }
      const int64_t time = p.time[point];
      if (const auto shown = part.has_clock ? part.clock.nanoseconds(time) : std::optional(time)) {
        out.number(*shown);
      } else {
        out.plain({});
      }
      if (p.value[point] == model::kNoValue) {
        out.plain({});
      } else {
        out.number(p.value[point]);
      }
      out.text(p.label[point]);
      out.text(p.note[point]);
      out.end_row();
    }
  }
}

[[nodiscard]] std::string_view columns_of(CsvTable table) {
  switch (table) {
    case CsvTable::events:
      return "device,index,action,address,device_free,size,stream,time_us,pool,compile_context,"
             "user_metadata,stack,frames";
    case CsvTable::blocks:
      return "device,segment,segment_size,segment_type,is_expandable,pool,stream,address,size,"
             "requested_size,state,user_metadata,stack,frames";
    case CsvTable::points:
      return "series,device,time,value,label,note";
  }
  return {};
}

}  // namespace

Status write_csv(const model::Recording& recording, ByteSink& sink, CsvTable table, size_t only) {
  const bool several = only == kAllSnapshots && recording.parts.size() > 1;
  const std::vector<std::string> keys = several ? snapshot_keys(recording) : std::vector<std::string>();
  TextSize size(recording, kFrameTextBytes);
  if (!size.measure_stacks()) return fail(ErrorCode::limit_exceeded, -1, "no memory for writing");
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    if (only != kAllSnapshots && only != i) continue;
    const model::Part& part = recording.parts[i];
    if (table == CsvTable::events) {
      for (const model::DeviceTrace& trace : part.traces) size.add_events(trace.events);
      size.add_events(part.host_events);
    } else if (table == CsvTable::blocks) {
      size.add_blocks(part.segments);
      size.add_blocks(part.host_segments);
    } else {
      size.add_points(part.series);
    }
  }
  if (size.at_least() > size.limit()) return too_long_as("CSV", size.limit());
  BoundedSink bounded(sink, size.limit(), "CSV");
  CsvOutput out(recording, bounded, several);
  out.header(columns_of(table));
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    if (only != kAllSnapshots && only != i) continue;
    const model::Part& part = recording.parts[i];
    const std::string name = keys.empty() ? fmt::format("{}", i) : keys[i];
    if (table == CsvTable::events) {
      for (const model::DeviceTrace& trace : part.traces) {
        write_events(recording, out, part.clock, name, false, trace.device, trace.events);
      }
      write_events(recording, out, part.clock, name, true, -1, part.host_events);
    } else if (table == CsvTable::blocks) {
      write_blocks(recording, out, name, false, part.segments);
      write_blocks(recording, out, name, true, part.host_segments);
    } else {
      write_points(recording, out, part, name);
    }
  }
  return out.end();
}

}  // namespace gpustrata::io
