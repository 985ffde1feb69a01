#include "engine/analysis/steps/call_sites.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/hash.h"

namespace gpustrata::analysis {

namespace {

enum FrameKind : uint8_t {
  kIsPython = 1,
  kIsWithin = 2,
  kIsOptimizer = 4,
  kIsBackward = 8,
  kIsOtherThread = 16
};

template <size_t Count>
[[nodiscard]] bool holds_any(std::string_view text, const std::array<std::string_view, Count>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// What repeats below such a function are layers, parameters or nodes of a graph.
[[nodiscard]] bool is_within(std::string_view function, std::string_view file) {
  constexpr std::array<std::string_view, 6> kFunctions = {
      "forward", "backward", "_call_impl", "_wrapped_call_impl", "_call_impl_wrapper", "__init__"};
  constexpr std::array<std::string_view, 2> kFiles = {"torch/nn/modules/module.py", "torch/autograd/"};
  return std::find(kFunctions.begin(), kFunctions.end(), function) != kFunctions.end() ||
         holds_any(file, kFiles);
}

[[nodiscard]] bool is_of_optimizer(std::string_view function, std::string_view file) {
  const std::string_view base = file.substr(file.find_last_of("/\\") + 1);
  return function.find("optim") != std::string_view::npos || base.find("optim") != std::string_view::npos ||
         file.find("/optim/") != std::string_view::npos;
}

[[nodiscard]] bool is_of_backward(std::string_view function, std::string_view file) {
  constexpr std::array<std::string_view, 2> kFiles = {"torch/autograd/__init__.py",
                                                      "torch/autograd/graph.py"};
  return function == "backward" || holds_any(file, kFiles);
}

// As the outermost one: a library started this thread. A folder of the program may be called torch, too.
[[nodiscard]] bool begins_other_thread(std::string_view function, std::string_view file) {
  return file.ends_with("threading.py") ||
         (file.find("/torch/") != std::string_view::npos && origin_of(function, file) == Origin::library);
}

[[nodiscard]] uint8_t frame_kind(std::string_view function, std::string_view file) {
  if (!file.ends_with(".py")) return 0;
  uint8_t kind = kIsPython;
  if (is_of_optimizer(function, file)) kind |= kIsOptimizer | kIsWithin;
  if (is_within(function, file)) kind |= kIsWithin;
  if (is_of_backward(function, file)) kind |= kIsBackward;
  if (begins_other_thread(function, file)) kind |= kIsOtherThread;
  return kind;
}

}  // namespace

CallSites::CallSites(const model::Recording& recording)
    : sites(recording.budget), event(recording.budget), site(recording.budget), recording_(recording) {}

bool CallSites::walk(model::RowRange events) {
  if (!number_functions() || !add_sites()) return false;
  for (int32_t i = 0; i < events.count; ++i) {
    const auto row = static_cast<size_t>(events.first + i);
    if (recording_.events.action[row] != trace::Action::alloc) continue;
    const int32_t here = of_stack(recording_.events.stack[row]);
    if (here == kRoot || own_[here] == 0) continue;
    if (!event.push_back(i) || !site.push_back(here)) return false;
  }
  return true;
}

int32_t CallSites::of_stack(StackId stack) const {
  const int32_t leaf = stack.is_none() ? -1 : recording_.stacks.leaf(stack);
  return leaf < 0 ? kRoot : site_of_node_[leaf];
}

int32_t CallSites::line(int32_t one) const {
  return one == kRoot ? 0 : recording_.frames[sites[one].frame].line;
}

CallSites::Parting CallSites::parting(int32_t from, int32_t to) const {
  Parting found{-1, -1, -1};
  while (from != to) {
    if (sites[from].depth >= sites[to].depth) {
      found.from = from;
      from = sites[from].caller;
    } else {
      found.to = to;
      to = sites[to].caller;
    }
  }
  found.at = from;
  return found;
}

bool CallSites::number_functions() {
  const size_t count = recording_.frames.size();
  Column<FrameId> order(recording_.budget);
  if (!function_of_frame_.resize(count, 0) || !kind_of_frame_.resize(count, 0) || !order.reserve(count))
    return false;
  for (size_t i = 0; i < count; ++i) {
    const FrameId id{i};
    const trace::Frame& frame = recording_.frames[id];
    kind_of_frame_[i] =
        frame_kind(recording_.strings.view(frame.name), recording_.strings.view(frame.filename));
    if (!order.push_back(id)) return false;
  }
  const auto key = [&](FrameId id) {
    return std::tuple(recording_.frames[id].name, recording_.frames[id].filename);
  };
  std::sort(order.data(), order.data() + count,
            [&](FrameId a, FrameId b) { return std::tuple(key(a), a) < std::tuple(key(b), b); });
  int32_t function = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && key(order[i]) != key(order[i - 1])) ++function;
    function_of_frame_[order[i]] = function;
  }
  return true;
}

bool CallSites::add_sites() {
  const size_t nodes = recording_.stacks.node_count();
  if (!site_of_node_.resize(nodes, kRoot) || !sites.push_back({-1, {}, 0, -1, false, false, false}) ||
      !own_.push_back(0))
    return false;
  for (size_t i = 0; i < nodes; ++i) {  // callers have lower numbers
    const trace::StackTable::Node& node = recording_.stacks.node(static_cast<int32_t>(i));
    const int32_t caller = node.caller < 0 ? kRoot : site_of_node_[node.caller];
    const uint8_t kind = kind_of_frame_[node.frame];
    if ((kind & kIsPython) == 0 || sites[caller].depth >= kMostCallDepth) {
      site_of_node_[i] = caller;
      continue;
    }
    const int32_t number =
        find_or_add({caller, node.frame, sites[caller].depth + 1, function_of_frame_[node.frame],
                     sites[caller].within || (kind & kIsWithin) != 0, (kind & kIsOptimizer) != 0,
                     (kind & kIsBackward) != 0});
    if (number < 0) return false;
    site_of_node_[i] = number;
    if (static_cast<size_t>(number) < own_.size()) continue;
    const bool own = caller == kRoot ? (kind & kIsOtherThread) == 0 : own_[caller] != 0;
    if (!own_.push_back(own ? 1 : 0)) return false;
  }
  return true;
}

int32_t CallSites::find_or_add(const CallSite& one) {
  if (sites.size() * 2 >= table_.size() && !grow_table()) return -1;
  size_t place = slot_of(one.caller, one.frame);
  for (; table_[place] >= 0; place = (place + 1) & (table_.size() - 1)) {
    const CallSite& known = sites[table_[place]];
    if (known.caller == one.caller && known.frame == one.frame) return table_[place];
  }
  const auto number = static_cast<int32_t>(sites.size());
  table_[place] = number;
  return sites.push_back(one) ? number : -1;
}

size_t CallSites::slot_of(int32_t caller, FrameId frame) const {
  const uint64_t both =
      static_cast<uint64_t>(static_cast<uint32_t>(caller)) << 32 | static_cast<uint32_t>(frame.value);
  return static_cast<size_t>(mix_hash(both)) & (table_.size() - 1);
}

bool CallSites::grow_table() {
  const size_t size = std::max<size_t>(64, table_.size() * 2);
  table_.clear();
  if (!table_.resize(size, -1)) return false;
  for (size_t i = 1; i < sites.size(); ++i) {
    size_t place = slot_of(sites[i].caller, sites[i].frame);
    while (table_[place] >= 0) place = (place + 1) & (size - 1);
    table_[place] = static_cast<int32_t>(i);
  }
  return true;
}

}  // namespace gpustrata::analysis
