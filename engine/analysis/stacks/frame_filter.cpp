#include "engine/analysis/stacks/frame_filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "engine/base/utf8.h"

namespace gpustrata::analysis {

namespace {

constexpr int32_t kFewestRepeats = 3;

constexpr std::array<std::string_view, 8> kHiddenFunctions = {
    "unwind::unwind",    "CapturedTraceback::gather",
    "gather_with_cpp",   "_start",
    "__libc_start_main", "PyEval_",
    "PyObject_",         "PyFunction_"};
constexpr std::array<std::string_view, 10> kHiddenFiles = {"core/boxing",
                                                           "/Register",
                                                           "/Redispatch",
                                                           "pythonrun.c",
                                                           "Modules/main.c",
                                                           "Objects/call.c",
                                                           "Objects/methodobject.c",
                                                           "pycore_ceval.h",
                                                           "ceval.c",
                                                           "cpython/abstract.h"};

[[nodiscard]] bool contains_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

}  // namespace

bool is_hidden_function(std::string_view function) {
  return contains_any(function.substr(0, kLongestName), kHiddenFunctions);
}

bool is_hidden_file(std::string_view file) {
  return contains_any(file.substr(0, kLongestName), kHiddenFiles);
}

bool is_hidden(std::string_view function, std::string_view file) {
  return is_hidden_function(function) || is_hidden_file(file);
}

std::string frame_text(const model::Recording& recording, FrameId id) {
  const trace::Frame& frame = recording.frames[id];
  return fmt::format("{}:{}:{}", utf8::cut(recording.strings.view(frame.filename), kLongestName),
                     std::max(frame.line, 0), utf8::cut(recording.strings.view(frame.name), kLongestName));
}

std::vector<std::string> fx_lines(const model::Recording& recording, FrameId id) {
  std::vector<std::string> lines;
  const trace::Frame& frame = recording.frames[id];
  if (frame.fx < 0) return lines;
  const trace::FxNode& fx = recording.frames.fx_of(frame);
  std::string node;
  const auto add = [&](std::string_view what, StringId text) {
    if (text.is_none()) return;
    node += fmt::format("{}{}={}", node.empty() ? "" : ", ", what,
                        utf8::cut(recording.strings.view(text), kLongestName));
  };
  add("node", fx.name);
  add("op", fx.op);
  add("target", fx.target);
  if (!node.empty()) lines.push_back(">> FX: " + node);
  std::string_view trace = recording.strings.view(fx.original_trace).substr(0, kMostFxLines * kLongestName);
  if (!trace.empty()) lines.push_back(">> Original Model Code:");
  for (size_t count = 0; !trace.empty() && count < kMostFxLines; ++count) {
    const size_t end = std::min(trace.find('\n'), trace.size());
    lines.push_back(utf8::cut(trace.substr(0, end), kLongestName));
    trace.remove_prefix(std::min(end + 1, trace.size()));
  }
  return lines;
}

bool HiddenFrames::operator()(FrameId id) {
  uint8_t& known = hidden_[id.index()];
  if (known == kNotYet) {
    const trace::Frame& frame = recording_.frames[id];
    known = is_hidden(recording_.strings.view(frame.name), recording_.strings.view(frame.filename)) ? 1 : 0;
  }
  return known != 0;
}

namespace {

template <typename IsHidden>
[[nodiscard]] std::vector<FrameLine> lines_of(const model::Recording& recording, StackId stack,
                                              IsHidden is_hidden_frame) {
  std::vector<FrameLine> all;
  for (const FrameId id : recording.stacks.frames_of(stack)) {
    if (all.size() == kMostFrames) break;
    all.push_back({id, 1, is_hidden_frame(id)});
  }
  const auto same_line = [&](FrameId a, FrameId b) {
    if (a == b) return true;
    const trace::Frame &x = recording.frames[a], &y = recording.frames[b];
    return x.name == y.name && x.filename == y.filename && x.fx == y.fx &&
           std::max(x.line, 0) == std::max(y.line, 0);
  };
  // For every visible line that starts a run: how many it stands for. The others of the run get 0.
  for (size_t start = 0; start < all.size();) {
    int32_t run = 1;
    size_t next = start + 1;
    if (!all[start].hidden) {
      for (; next < all.size(); ++next) {
        if (all[next].hidden) continue;
        if (!same_line(all[start].frame, all[next].frame)) break;
        ++run;
      }
      if (run >= kFewestRepeats) {
        all[start].repeats = run;
        for (size_t i = start + 1; i < next; ++i) {
          if (!all[i].hidden) all[i].repeats = 0;
        }
      }
    }
    start = next;
  }
  std::erase_if(all, [](const FrameLine& line) { return line.repeats == 0; });
  return all;
}

}  // namespace

std::vector<FrameLine> frame_lines(const model::Recording& recording, StackId stack) {
  return lines_of(recording, stack, [&](FrameId id) {
    const trace::Frame& frame = recording.frames[id];
    return is_hidden(recording.strings.view(frame.name), recording.strings.view(frame.filename));
  });
}

std::vector<FrameLine> frame_lines(const model::Recording& recording, StackId stack, HiddenFrames& hidden) {
  return lines_of(recording, stack, [&](FrameId id) { return hidden(id); });
}

}  // namespace gpustrata::analysis
