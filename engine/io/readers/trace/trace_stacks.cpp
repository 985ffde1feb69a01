#include "engine/io/readers/trace/trace_stacks.h"

#include <algorithm>
#include <charconv>

#include "engine/base/saturating.h"

namespace gpustrata::io::traces {

using model::SpanKind;

namespace {

// Real stacks have some hundred; a file that nests a million spans must not cost a million for each record.
constexpr size_t kMostFrames = 1000;
constexpr int32_t kMostSteps = 4000;
// Of ops that end before what they began; calls do not, but for what clocks round. Else n ops that overlap without nesting
// make n stacks of n frames.
constexpr int32_t kMostCrossings = 64;

// "model.py(41): forward".
struct Call {
  std::string_view file, function;
  int32_t line = 0;
};

[[nodiscard]] Call parts_of(std::string_view text) {
  const size_t colon = text.find("): ");
  const size_t bracket = colon == std::string_view::npos ? colon : text.rfind('(', colon);
  if (bracket == std::string_view::npos || bracket == 0) return {{}, text, 0};
  Call call{text.substr(0, bracket), text.substr(colon + 3), 0};
  const auto [end, error] = std::from_chars(text.data() + bracket + 1, text.data() + colon, call.line);
  if (error != std::errc() || end != text.data() + colon) return {{}, text, 0};
  return call;
}

}  // namespace

Stacks::Stacks(model::Recording& recording) : recording_(recording), no_file_(recording.strings.intern("")) {}

FrameId Stacks::frame_of(std::string_view call) {
  const Call parts = parts_of(call);
  const StringId name = recording_.strings.intern(parts.function);
  const StringId file = recording_.strings.intern(parts.file);
  if (name.is_none() || file.is_none()) return {};
  return recording_.frames.intern({name, file, parts.line});
}

FrameId Stacks::frame_of(StringId name, bool python) {
  if (name.is_none()) name = no_file_;
  if (!python) return recording_.frames.intern({name, no_file_, 0});
  if (frames_.size() <= name.index() && !frames_.resize(recording_.strings.size(), -1)) return {};
  if (frames_[name] >= 0) return FrameId{frames_[name]};
  const FrameId frame = frame_of(recording_.strings.view(name));
  frames_[name] = frame.value;
  return frame;
}

void Stacks::add_path(int32_t row, bool python) {
  const model::SpanTable& spans = recording_.spans;
  const auto end = [&](int32_t span) { return saturated_sum(spans.start[span], spans.duration[span]); };
  int32_t crossings = 0;
  int64_t inner_end = INT64_MIN;  // of the span before
  for (int32_t steps = 0; row >= 0 && steps < kMostSteps && path_.size() < kMostFrames;
       row = spans.parent[row], ++steps) {
    const int64_t outer_end = end(row);
    if (outer_end < inner_end && ++crossings > kMostCrossings) return;
    inner_end = outer_end;
    const SpanKind kind = spans.kind[row];
    const bool belongs =
        python ? kind == SpanKind::python : kind == SpanKind::op || kind == SpanKind::annotation;
    if (belongs) path_.push_back(frame_of(spans.name[row], python));
  }
}

void Stacks::add_calls(int32_t op) {
  const model::SpanTable& spans = recording_.spans;
  for (int32_t steps = 0; op >= 0 && steps < kMostSteps && spans.calls[op].is_none(); ++steps)
    op = spans.parent[op];
  if (op < 0 || spans.calls[op].is_none()) return;
  std::string_view calls = recording_.strings.view(spans.calls[op]);
  while (!calls.empty() && path_.size() < kMostFrames) {
    const size_t end = std::min(calls.find(';'), calls.size());
    path_.push_back(frame_of(calls.substr(0, end)));
    calls.remove_prefix(std::min(end + 1, calls.size()));
  }
}

StackId Stacks::of(int32_t op, int32_t python) {
  if (op == last_op_ && python == last_python_) return last_;
  last_op_ = op;
  last_python_ = python;
  path_.clear();
  add_path(op, false);
  if (python >= 0) {
    add_path(python, true);
  } else {
    add_calls(op);
  }
  const bool refused = no_file_.is_none() ||
                       std::any_of(path_.begin(), path_.end(), [](FrameId frame) { return frame.is_none(); });
  return last_ = refused ? StackId{} : recording_.stacks.intern(path_);
}

}  // namespace gpustrata::io::traces
