#include "engine/analysis/stacks/own_frame.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <unordered_map>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/analysis/stacks/runtime_frames.h"
#include "engine/base/ascii.h"
#include "engine/base/charge.h"

namespace gpustrata::analysis {

namespace {

// What a frame can be for its stack; the larger one wins.
enum class Rank : uint8_t { none, hidden, shown, op, autograd_node, python, package, own };

[[nodiscard]] bool is_slash(char c) { return c == '/' || c == '\\'; }

// Calls `see(component)` for the parts of a path, outermost first, until it says true.
template <typename See>
bool any_component(std::string_view path, See see) {
  while (!path.empty()) {
    size_t end = 0;
    while (end < path.size() && !is_slash(path[end])) ++end;
    if (see(path.substr(0, end))) return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

template <size_t Count>
[[nodiscard]] bool is_one_of(std::string_view text, const std::array<std::string_view, Count>& all) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

[[nodiscard]] std::string_view last_component(std::string_view path) {
  size_t begin = path.size();
  while (begin > 0 && !is_slash(path[begin - 1])) --begin;
  return path.substr(begin);
}

constexpr std::array<std::string_view, 13> kNativeEndings = {"c",   "cc", "cpp", "cxx", "cu",  "cuh", "h",
                                                             "hpp", "hh", "inl", "o",   "pyx", "s"};
// Packages below everybody's code; the others installed beside them may be the program itself.
constexpr std::array<std::string_view, 8> kFoundation = {
    "torch", "functorch", "triton", "numpy", "nvidia", "apex", "lightning_fabric", "torchgen"};
constexpr std::array<std::string_view, 5> kStandardFiles = {"runpy.py", "threading.py", "contextlib.py",
                                                            "functools.py", "queue.py"};
constexpr std::array<std::string_view, 8> kTorchFolders = {"nn",          "utils", "autograd", "optim",
                                                           "distributed", "cuda",  "fx",       "func"};

// A source or library file of compiled code: its ending says so, not a ".h" somewhere in its path.
[[nodiscard]] bool is_native(std::string_view file) {
  const std::string_view name = last_component(file);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string ending;
  for (const char c : name.substr(dot + 1, 8)) ending += ascii::lower(c);
  if (is_one_of(std::string_view(ending), kNativeEndings)) return true;
  // libcuda.so, libcuda.so.1.2
  const size_t so = name.rfind(".so");
  return so != std::string_view::npos &&
         name.substr(so + 3).find_first_not_of(".0123456789") == std::string_view::npos;
}

// lib/python3.11/..., ".../torch/nn/...": libraries that lie in no packages folder; "torch/overrides.py", as PyTorch names its own
// files where it was compiled with relative ones.
[[nodiscard]] bool is_standard(std::string_view file) {
  if (file.starts_with('<') || is_one_of(last_component(file), kStandardFiles)) return true;
  const size_t first = file.find_first_of("/\\");
  if (first != std::string_view::npos && is_one_of(file.substr(0, first), kFoundation)) return true;
  std::string_view before;
  return any_component(file, [&](std::string_view part) {
    const bool found = part.starts_with("torchinductor_") ||
                       (before == "lib" && part.size() > 6 && part.starts_with("python") && part[6] >= '0' &&
                        part[6] <= '9') ||
                       (before == "torch" && (part.starts_with('_') || is_one_of(part, kTorchFolders)));
    before = part;
    return found;
  });
}

// The package that a file is installed as, "torch"; empty if it lies in no packages folder.
[[nodiscard]] std::string_view installed_package(std::string_view file) {
  std::string_view package;
  bool inside = false;
  any_component(file, [&](std::string_view part) {
    if (inside) package = part.substr(0, part.find('.'));
    inside = part == "site-packages" || part == "dist-packages";
    return false;
  });
  return package;
}

[[nodiscard]] bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

// "torch::autograd::generated::DivBackward0::apply(...)" -> "DivBackward0"; empty if it is none.
[[nodiscard]] std::string_view autograd_node(std::string_view function) {
  constexpr std::string_view kRoot = "torch::autograd::", kGenerated = "generated::";
  if (!function.starts_with(kRoot)) return {};
  function.remove_prefix(kRoot.size());
  if (function.starts_with(kGenerated)) function.remove_prefix(kGenerated.size());
  const size_t end = function.find("::apply(");
  if (end == std::string_view::npos) return {};
  const std::string_view name = function.substr(0, end);
  return is_word(name) && name != "Node" && name != "PyNode" ? name : std::string_view();
}

// "at::_ops::add_Tensor::call(...)" -> "add": overloads are one operator; empty if it is none.
[[nodiscard]] std::string_view op(std::string_view function) {
  constexpr std::string_view kRoot = "at::_ops::";
  if (!function.starts_with(kRoot)) return {};
  function.remove_prefix(kRoot.size());
  const size_t end = function.find("::");
  if (end == std::string_view::npos || !is_word(function.substr(0, end))) return {};
  const std::string_view name = function.substr(0, end);
  for (size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == '_' && name[i + 1] >= 'A' && name[i + 1] <= 'Z') return name.substr(0, i);
  }
  return name;
}

[[nodiscard]] Rank rank_of(const model::Recording& recording, FrameId id) {
  const trace::Frame& frame = recording.frames[id];
  const std::string_view function = recording.strings.view(frame.name).substr(0, kLongestName);
  const std::string_view file = recording.strings.view(frame.filename).substr(0, kLongestName);
  switch (origin_of(function, file)) {
    case Origin::own:
      return Rank::own;
    case Origin::package:
      return Rank::package;
    case Origin::interpreter:
      return Rank::hidden;
    case Origin::library:
      break;
  }
  if (file.ends_with(".py")) return Rank::python;
  if (!autograd_node(function).empty()) return Rank::autograd_node;
  return op(function).empty() ? Rank::shown : Rank::op;
}

// Is a frame with `rank` who stands for the stack, where its callers have `callers`? Of operators the
// outermost one counts, of all others the innermost one.
[[nodiscard]] bool wins(Rank rank, Rank callers) {
  return rank == Rank::op ? rank > callers : rank >= callers;
}

[[nodiscard]] Who who(const model::Recording& recording, FrameId frame, Rank rank) {
  Who found;
  if (frame.is_none()) return found;
  const std::string_view function = recording.strings.view(recording.frames[frame].name);
  found.frame = frame;
  found.own = rank >= Rank::package;
  if (rank == Rank::autograd_node) {
    found.kind = Who::Kind::autograd_node;
    found.name = autograd_node(function.substr(0, kLongestName));
  } else if (rank == Rank::op) {
    found.kind = Who::Kind::op;
    found.name = op(function.substr(0, kLongestName));
  } else {
    found.kind = Who::Kind::frame;
    found.name = function;
  }
  return found;
}

}  // namespace

Origin origin_of(std::string_view function, std::string_view file) {
  function = function.substr(0, kLongestName);
  file = file.substr(0, kLongestName);
  const bool no_file = file.empty() || file == "??";
  if (is_hidden(function, file) || is_of_runtime(function, file)) return Origin::interpreter;
  if (no_file || is_native(file)) return Origin::library;
  const std::string_view package = installed_package(file);
  if (!package.empty()) return is_one_of(package, kFoundation) ? Origin::library : Origin::package;
  return is_standard(file) ? Origin::library : Origin::own;
}

Origin origin_of(const model::Recording& recording, FrameId id) {
  const trace::Frame& frame = recording.frames[id];
  return origin_of(recording.strings.view(frame.name), recording.strings.view(frame.filename));
}

Who who_of(const model::Recording& recording, StackId stack) {
  Rank best = Rank::none;
  FrameId frame;
  if (stack.is_none()) return {};
  size_t seen = 0;
  for (const FrameId id : recording.stacks.frames_of(stack)) {  // innermost first
    if (seen++ == kMostFrames) break;
    const Rank rank = rank_of(recording, id);
    if (rank > best || (rank == Rank::op && best == Rank::op)) {
      best = rank;
      frame = id;
    }
    if (rank == Rank::own) break;
  }
  return who(recording, frame, best);
}

Who who_of_frame(const model::Recording& recording, FrameId frame) {
  return frame.is_none() ? Who() : who(recording, frame, rank_of(recording, frame));
}

OwnFrames::OwnFrames(const model::Recording& recording, StackId stack) : recording_(recording) {
  if (stack.is_none()) return;
  size_t seen = 0;
  for (const FrameId id : recording.stacks.frames_of(stack)) {
    if (seen++ == kMostFrames) break;
    if (origin_of(recording, id) != Origin::own) continue;
    packages_are_own_ = false;
    break;
  }
}

bool OwnFrames::is_own(FrameId frame) const {
  const Origin origin = origin_of(recording_, frame);
  return origin == Origin::own || (origin == Origin::package && packages_are_own_);
}

WhoOfStacks::WhoOfStacks(const model::Recording& recording) : recording_(recording) {}

bool WhoOfStacks::prepare() {
  constexpr int64_t kEntryBytes = 64;  // of a map
  const size_t frames = recording_.frames.size(), nodes = recording_.stacks.node_count();
  Column<uint8_t> rank_of_frame(recording_.budget);
  if (!rank_of_frame.resize(frames, 0) || !frame_.resize(frames, 0) || !rank_.resize(nodes, 0) ||
      !answer_.resize(nodes, -1)) {
    return false;
  }
  Charge charge(recording_.budget);
  std::unordered_map<std::string_view, int32_t>
      first_with;  // nodes begin with a large letter, operators do not
  for (size_t i = 0; i < frames; ++i) {
    const FrameId id{i};
    const Rank rank = rank_of(recording_, id);
    rank_of_frame[i] = static_cast<uint8_t>(rank);
    frame_[i] = id.value;
    if (rank != Rank::autograd_node && rank != Rank::op) continue;
    if (!charge.more(kEntryBytes)) return false;
    frame_[i] = first_with.try_emplace(who(recording_, id, rank).name, id.value).first->second;
  }
  // Callers have lower numbers.
  for (size_t i = 0; i < nodes; ++i) {
    const trace::StackTable::Node& node = recording_.stacks.node(static_cast<int32_t>(i));
    const Rank rank = static_cast<Rank>(rank_of_frame[node.frame.index()]);
    const auto caller = static_cast<size_t>(node.caller);
    const Rank callers = node.caller < 0 ? Rank::none : static_cast<Rank>(rank_[caller]);
    const bool is_this = wins(rank, callers);
    rank_[i] = static_cast<uint8_t>(is_this ? rank : callers);
    answer_[i] = is_this ? frame_[node.frame.index()] : answer_[caller];
  }
  return true;
}

Who WhoOfStacks::operator()(StackId stack) const {
  const int32_t leaf = stack.is_none() ? -1 : recording_.stacks.leaf(stack);
  if (leaf < 0) return {};
  return who(recording_, FrameId{answer_[leaf]}, static_cast<Rank>(rank_[leaf]));
}

}  // namespace gpustrata::analysis
