#include "tests/unit/io/read_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "engine/io/any_reader.h"
#include "engine/io/readers/snapshot/torch_snapshot.h"

namespace gpustrata::tests {

using model::Owner;

std::string ReadFile::extra(Owner owner, int32_t row, std::string_view key) const {
  const model::RowRange range = recording.extras_of(owner, row);
  for (int32_t i = range.first; i < range.end(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (text(recording.extras.key[at]) == key) return std::string(text(recording.extras.value[at]));
  }
  return "-";
}

std::string ReadFile::stack(StackId id) const {
  if (id.is_none()) return "-";
  std::string line;
  for (const FrameId frame_id : recording.stacks.frames_of(id)) {
    const trace::Frame& frame = recording.frames[frame_id];
    if (!line.empty()) line += ' ';
    line += fmt::format("{}@{}:{}", text(frame.name), text(frame.filename), frame.line);
    if (frame.fx >= 0) {
      const trace::FxNode& fx = recording.frames.fx_of(frame);
      line +=
          fmt::format("[{}|{}|{}|{}]", text(fx.op), text(fx.name), text(fx.target), text(fx.original_trace));
    }
  }
  return line;
}

namespace {

std::unique_ptr<ReadFile> read_with(io::Reader& reader, std::unique_ptr<ReadFile> file,
                                    std::string_view bytes, const ReadOptions& options) {
  std::mt19937_64 random(options.random_chunks);
  if (options.tell_size) reader.expect_bytes(static_cast<int64_t>(bytes.size()));
  for (size_t at = 0; at < bytes.size() && file->status;) {
    const std::span<std::byte> target = reader.writable();
    size_t count = std::min(target.size(), bytes.size() - at);
    if (options.chunk != 0) count = std::min(count, options.chunk);
    if (options.random_chunks != 0) count = std::min<size_t>(count, 1 + random() % options.chunk);
    std::memcpy(target.data(), bytes.data() + at, count);
    file->status = reader.commit(count);
    at += count;
  }
  if (file->status) file->status = reader.finish();
  return file;
}

}  // namespace

std::unique_ptr<ReadFile> read_bytes(std::string_view bytes, const ReadOptions& options) {
  auto made = std::make_unique<ReadFile>(options.limit);
  const auto reader = options.plain ? io::plain_torch_snapshot_reader(made->recording)
                                    : io::torch_snapshot_reader(made->recording);
  auto file = read_with(*reader, std::move(made), bytes, options);
  if (file->status) file->recording.seal();
  return file;
}

std::unique_ptr<ReadFile> read_any(std::string_view bytes, const ReadOptions& options) {
  auto file = std::make_unique<ReadFile>(options.limit);
  io::AnyReader reader(file->recording);
  return read_with(reader, std::move(file), bytes, options);
}

namespace {

std::string extras_text(const ReadFile& file, Owner owner, int32_t row) {
  std::string text;
  const model::RowRange range = file.recording.extras_of(owner, row);
  for (int32_t i = range.first; i < range.end(); ++i) {
    const auto at = static_cast<size_t>(i);
    text += fmt::format(" {}={}", file.text(file.recording.extras.key[at]),
                        file.text(file.recording.extras.value[at]));
  }
  return text;
}

std::string pool_text(const ReadFile& file, PoolId id) {
  if (id.is_none()) return "-";
  const model::Pool& pool = file.recording.pools[id.index()];
  return fmt::format("({},{})", pool.graph_id, pool.user_id);
}

std::string optional_text(const ReadFile& file, StringId id) {
  return id.is_none() ? "-" : fmt::format("\"{}\"", file.text(id));
}

void add_events(const ReadFile& file, model::RowRange events, std::string& text) {
  const model::EventTable& e = file.recording.events;
  for (int32_t row = events.first; row < events.end(); ++row) {
    const auto i = static_cast<size_t>(row);
    text += fmt::format("  {} {:#x} {} time {} stream {} pool {} context {} metadata {} stack {}{}\n",
                        file.recording.action_name(e.action[i]), e.address[i], e.size[i],
                        e.time[i] == model::kNoTime ? "-" : fmt::format("{}", e.time[i]),
                        file.recording.streams[e.stream[i].index()], pool_text(file, e.pool[i]),
                        optional_text(file, e.context[i]), optional_text(file, e.metadata[i]),
                        file.stack(e.stack[i]), extras_text(file, Owner::event, row));
  }
}

void add_segments(const ReadFile& file, model::RowRange segments, std::string& text) {
  const model::SegmentTable& s = file.recording.segments;
  const model::BlockTable& b = file.recording.blocks;
  const model::HistoryTable& h = file.recording.history;
  for (int32_t row = segments.first; row < segments.end(); ++row) {
    const auto i = static_cast<size_t>(row);
    text += fmt::format(
        " segment {:#x} device {} size {} allocated {} active {} requested {} stream {} pool {} type {} "
        "expandable {} metadata {} stack {}{}\n",
        s.address[i], s.device[i], s.total_size[i], s.allocated_size[i], s.active_size[i],
        s.requested_size[i], file.recording.streams[s.stream[i].index()], pool_text(file, s.pool[i]),
        static_cast<int>(s.type[i]), static_cast<int>(s.expandable[i]), optional_text(file, s.metadata[i]),
        file.stack(s.stack[i]), extras_text(file, Owner::segment, row));
    for (int32_t block = s.blocks[i].first; block < s.blocks[i].end(); ++block) {
      const auto k = static_cast<size_t>(block);
      text += fmt::format("  block {:#x} size {} requested {} state {} metadata {} stack {}{}\n",
                          b.address[k], b.size[k], b.requested_size[k], static_cast<int>(b.state[k]),
                          optional_text(file, b.metadata[k]), file.stack(b.stack[k]),
                          extras_text(file, Owner::block, block));
      for (int32_t entry = b.history[k].first; entry < b.history[k].end(); ++entry) {
        const auto m = static_cast<size_t>(entry);
        text += fmt::format("   history {:#x} {} stack {}\n", h.address[m], h.real_size[m],
                            file.stack(h.stack[m]));
      }
    }
  }
}

}  // namespace

std::string text_of(const ReadFile& file) {
  if (!file.status) {
    return fmt::format("{} @{}: {}\n", name_of(file.status.error().code), file.status.error().offset,
                       file.status.error().message);
  }
  std::string text;
  const model::Recording& rec = file.recording;
  for (size_t i = 0; i < rec.parts.size(); ++i) {
    const model::Part& part = rec.parts[i];
    text += fmt::format("snapshot \"{}\" settings {} host {}{}\n", part.name,
                        optional_text(file, part.settings_json), part.has_host,
                        extras_text(file, Owner::part, static_cast<int32_t>(i)));
    add_segments(file, part.segments, text);
    for (const model::DeviceTrace& trace : part.traces) {
      text += fmt::format(" device {}\n", trace.device);
      add_events(file, trace.events, text);
    }
    if (part.has_host) text += " host\n";
    add_segments(file, part.host_segments, text);
    add_events(file, part.host_events, text);
    for (int32_t row = part.annotations.first; row < part.annotations.end(); ++row) {
      const auto k = static_cast<size_t>(row);
      const model::AnnotationTable& a = rec.annotations;
      text += fmt::format(" annotation {} stage {} device {} time {}{}\n", file.text(a.name[k]),
                          static_cast<int>(a.stage[k]), a.device[k], a.time[k],
                          extras_text(file, Owner::annotation, row));
    }
    for (int32_t row = part.series.first; row < part.series.end(); ++row) {
      const model::SeriesTable& s = rec.series;
      text += fmt::format(" series {} device {}\n", file.text(s.name[row]), s.device[row]);
      for (int32_t point = s.points[row].first; point < s.points[row].end(); ++point) {
        const model::PointTable& p = rec.points;
        text += fmt::format("  {} {} {} {}{}\n", p.time[point], p.value[point],
                            optional_text(file, p.label[point]), optional_text(file, p.note[point]),
                            extras_text(file, Owner::point, point));
      }
    }
  }
  for (size_t i = 0; i < static_cast<size_t>(model::Diag::kCount); ++i) {
    const auto diag = static_cast<model::Diag>(i);
    if (file.count(diag) > 0) text += fmt::format("{} x {}\n", file.count(diag), kind_of(diag).name);
  }
  return text;
}

}  // namespace gpustrata::tests
