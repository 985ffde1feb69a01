#include "engine/io/writers/csv.h"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <vector>

#include "engine/base/utf8.h"
#include "engine/io/readers/snapshot_words.h"
#include "engine/io/writers/snapshot_shape.h"

namespace memstrata::io {

namespace {

using model::RowRange;

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
  void begin_row(std::string_view part, bool host, int64_t device) {
    first_ = true;
    if (names_snapshots_) text(part);
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
    const std::string text = utf8::sanitized(raw);
    const bool formula = std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
    const bool quoted = text.find_first_of(",\"\r\n") != std::string::npos;
    if (!quoted) {
      if (formula) line_ += '\'';
      line_ += text;
      return;
    }
    line_ += '"';
    if (formula) line_ += '\'';
    for (const char c : text) {
      if (c == '"') line_ += '"';
      line_ += c;
    }
    line_ += '"';
  }
  void stack(StackId id) {
    if (id.is_none()) {
      plain({});
      return plain({});
    }
    number(id.value);
    frames_.clear();
    for (int32_t node = rec_.stacks.leaf(id); node >= 0; node = rec_.stacks.node(node).caller) {
      const trace::Frame& frame = rec_.frames[rec_.stacks.node(node).frame];
      if (!frames_.empty()) frames_ += "; ";
      fmt::format_to(std::back_inserter(frames_), "{} ({}", rec_.strings.view(frame.name),
                     rec_.strings.view(frame.filename));
      if (frame.line > 0) fmt::format_to(std::back_inserter(frames_), ":{}", frame.line);
      frames_ += ')';
    }
    text(std::string_view(frames_));
  }

 private:
  void comma() {
    if (!first_) line_ += ',';
    first_ = false;
  }
  void flush() {
    if (status_) status_ = sink_.write(bytes_of(line_));
    line_.clear();
  }

  const model::Recording& rec_;
  ByteSink& sink_;
  Status status_;
  std::string line_;
  std::string frames_;
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
      out.number(static_cast<int64_t>(e.address[i]));
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
    const auto i = static_cast<size_t>(row);
    for (int32_t block = s.blocks[i].first; block < s.blocks[i].end(); ++block) {
      const auto k = static_cast<size_t>(block);
      out.begin_row(part, host, s.device[i]);
      out.address(s.address[i]);
      out.number(s.total_size[i]);
      out.plain(s.type[i] == model::SegmentType::small   ? "small"
                : s.type[i] == model::SegmentType::large ? "large"
                                                         : "");
      out.plain(s.expandable[i] == model::Tristate::yes  ? "True"
                : s.expandable[i] == model::Tristate::no ? "False"
                                                         : "");
      out.pool(s.pool[i]);
      out.number(rec.streams[s.stream[i].index()]);
      out.address(b.address[k]);
      out.number(b.size[k]);
      out.known_size(b.requested_size[k]);
      out.plain(text_of(b.state[k]));
      out.text(b.metadata[k]);
      out.stack(b.stack[k]);
      out.end_row();
    }
  }
}

}  // namespace

Status write_csv(const model::Recording& recording, ByteSink& sink, CsvTable table, size_t only) {
  const bool several = only == kAllSnapshots && recording.parts.size() > 1;
  const std::vector<std::string> keys = several ? snapshot_keys(recording) : std::vector<std::string>();
  CsvOutput out(recording, sink, several);
  out.header(table == CsvTable::events
                 ? "device,index,action,address,device_free,size,stream,time_us,pool,compile_context,"
                   "user_metadata,stack,frames"
                 : "device,segment,segment_size,segment_type,is_expandable,pool,stream,address,size,"
                   "requested_size,state,user_metadata,stack,frames");
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    if (only != kAllSnapshots && only != i) continue;
    const model::Part& part = recording.parts[i];
    const std::string name = keys.empty() ? fmt::format("{}", i) : keys[i];
    if (table == CsvTable::events) {
      for (const model::DeviceTrace& trace : part.traces) {
        write_events(recording, out, part.clock, name, false, trace.device, trace.events);
      }
      write_events(recording, out, part.clock, name, true, -1, part.host_events);
    } else {
      write_blocks(recording, out, name, false, part.segments);
      write_blocks(recording, out, name, true, part.host_segments);
    }
  }
  return out.end();
}

}  // namespace memstrata::io
