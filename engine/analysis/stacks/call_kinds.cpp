#include "engine/analysis/stacks/call_kinds.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/base/ascii.h"

namespace gpustrata::analysis {

namespace {

constexpr std::array<std::string_view, 10> kFusedAttentions = {
    "flash_attn",      "flash_attention", "flashattention", "flash_fwd", "efficient_attention",
    "cudnn_attention", "fused_attention", "flex_attention", "xformers",  "sage_attention"};
constexpr std::array<std::string_view, 4> kFusedLosses = {"liger", "linear_cross_entropy",
                                                          "cut_cross_entropy", "chunked"};

[[nodiscard]] bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
[[nodiscard]] bool has_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return has(text, part); });
}
// "train" in "train_step" and "forward_train", not in "from_pretrained".
[[nodiscard]] bool has_word(std::string_view function, std::string_view word) {
  const auto is_end = [](char c) { return c < 'a' || c > 'z'; };  // of a text in small letters
  for (size_t at = function.find(word); at != std::string_view::npos; at = function.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || is_end(function[at - 1])) && (end == function.size() || is_end(function[end])))
      return true;
  }
  return false;
}

}  // namespace

bool is_backward(std::string_view function) {
  return function == "backward" || function == "_engine_run_backward" ||
         has(function, "torch::autograd::Engine") || has(function, "autograd::python::PythonEngine");
}

uint16_t call_kind_of(std::string_view function, std::string_view file) {
  const std::string name = ascii::lower(function.substr(0, kLongestName));
  const std::string path = ascii::lower(file.substr(0, kLongestName));
  const std::string_view base = std::string_view(path).substr(path.find_last_of("/\\") + 1);
  uint16_t kind = 0;
  if (is_backward(function)) kind |= kCallsBackward;
  if (has(path, "/optim/") || has(path, "\\optim\\") || has(base, "optim")) kind |= kCallsOptimizer;
  if (name == "__init__") kind |= kCallsInit;
  if (name == "forward" || name == "_call_impl") kind |= kCallsForward;
  if (has(name, "checkpoint") || has(base, "checkpoint")) kind |= kCallsCheckpoint;
  for (const std::string_view word : {"train", "training"}) {
    if (has_word(name, word)) kind |= kCallsTraining;
  }
  const bool of_entropy = has(name, "cross_entropy") && !has(name, "binary_cross_entropy");
  if (of_entropy || has(name, "nlllossbackward") || has(name, "nll_loss_backward") ||
      has(name, "crossentropyloss"))
    kind |= kCallsCrossEntropy;
  if (has_any(name, kFusedLosses) || has_any(base, kFusedLosses)) kind |= kCallsFusedLoss;
  if (has(name, "softmax") && !has(name, "log_softmax") && !has(name, "logsoftmax")) kind |= kCallsSoftmax;
  for (const std::string_view word : {"attention", "attn"}) {
    if (has(name, word) || has(base, word)) kind |= kCallsAttention;
  }
  if (has_any(name, kFusedAttentions) || has_any(path, kFusedAttentions)) kind |= kCallsFusedAttention;
  return kind;
}

CallKinds::CallKinds(const model::Recording& recording) : recording_(recording) {}

bool CallKinds::find() {
  Column<uint16_t> of_frame(recording_.budget);
  const size_t nodes = recording_.stacks.node_count();
  if (!of_frame.resize(recording_.frames.size(), 0) || !of_node_.resize(nodes, 0)) return false;
  for (size_t i = 0; i < recording_.frames.size(); ++i) {
    const trace::Frame& frame = recording_.frames[FrameId{i}];
    of_frame[i] = call_kind_of(recording_.strings.view(frame.name), recording_.strings.view(frame.filename));
  }
  for (size_t i = 0; i < nodes; ++i) {  // callers have lower numbers
    const trace::StackTable::Node& node = recording_.stacks.node(static_cast<int32_t>(i));
    of_node_[i] =
        static_cast<uint16_t>(of_frame[node.frame.index()] | (node.caller < 0 ? 0 : of_node_[node.caller]));
  }
  return true;
}

uint16_t CallKinds::of(StackId stack) const {
  const int32_t leaf = stack.is_none() ? -1 : recording_.stacks.leaf(stack);
  return leaf < 0 ? uint16_t{0} : of_node_[leaf];
}

}  // namespace gpustrata::analysis
