#include "engine/analysis/device/stream_numbers.h"

#include <fmt/core.h>

namespace gpustrata::analysis {

StreamNumbers::StreamNumbers(const model::Recording& recording, const model::Part& part)
    : numbers_(recording.streams.size(), -1) {
  size_t left = numbers_.size();
  int32_t last = 0;
  const auto meet = [&](StreamId stream) {
    if (stream.is_none() || numbers_[stream.index()] >= 0) return;
    numbers_[stream.index()] = recording.streams[stream.index()] == 0 ? 0 : ++last;
    --left;
  };
  const auto meet_all = [&](const auto& streams, model::RowRange rows) {
    for (int32_t row = rows.first; row < rows.end() && left > 0; ++row)
      meet(streams[static_cast<size_t>(row)]);
  };
  for (const model::DeviceTrace& trace : part.traces) meet_all(recording.events.stream, trace.events);
  meet_all(recording.segments.stream, part.segments);
  meet_all(recording.events.stream, part.host_events);
  meet_all(recording.segments.stream, part.host_segments);
  for (int32_t& number : numbers_) {
    if (number < 0) number = 0;  // of another snapshot
  }
}

std::string handle_text(const model::Recording& recording, StreamId stream) {
  const int64_t handle = stream.is_none() ? 0 : recording.streams[stream.index()];
  return handle == 0 ? "0" : fmt::format("{:#x}", static_cast<uint64_t>(handle));
}

}  // namespace gpustrata::analysis
