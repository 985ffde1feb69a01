#include "engine/analysis/stacks/keys.h"

#include <unordered_map>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/base/charge.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] tl::unexpected<Error> out_of_memory(const model::Recording& recording) {
  return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to tell who asked in {} stacks.",
              recording.stacks.size());
}

// Numbers of modules by what tells them apart, in order of appearance.
class Numbers {
 public:
  explicit Numbers(Budget& budget) : charge_(budget) {}
  // -1 = no memory.
  [[nodiscard]] int32_t of(uint64_t key, bool& is_new) {
    constexpr int64_t kEntryBytes = 64;
    const auto known = numbers_.find(key);
    is_new = known == numbers_.end();
    if (!is_new) return known->second;
    if (!charge_.more(kEntryBytes)) return -1;
    const auto number = static_cast<int32_t>(numbers_.size());
    numbers_.emplace(key, number);
    return number;
  }

 private:
  Charge charge_;
  std::unordered_map<uint64_t, int32_t> numbers_;
};

[[nodiscard]] uint64_t both(int32_t a, int32_t b) {
  return static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b);
}

enum FrameIs : uint8_t { kOther, kOfModulePy, kCallImpl, kNamed };

// Modules of the nodes of the stack table.
class Modules {
 public:
  Modules(const model::Recording& recording, Keys& keys) : recording_(recording), keys_(keys) {}

  [[nodiscard]] bool prepare() {
    const size_t nodes = recording_.stacks.node_count();
    if (!sort_frames() || !find_frame_keys(recording_, FrameKey::line, line_) ||
        !find_frame_keys(recording_, FrameKey::function, function_) || !module_.resize(nodes, -1) ||
        !site_.resize(nodes, -1))
      return false;
    for (size_t i = 0; i < nodes; ++i) {  // callers have lower numbers
      const trace::StackTable::Node& node = recording_.stacks.node(static_cast<int32_t>(i));
      const auto kind = static_cast<FrameIs>(is_[node.frame.index()]);
      const int32_t caller = node.caller;
      module_[i] = caller < 0 ? -1 : module_[caller];
      // The innermost frame outside of module.py.
      site_[i] = kind == kOther || caller < 0 ? static_cast<int32_t>(i) : site_[caller];
      if (kind == kNamed) {
        if (!add(i, node.frame, FrameId{})) return false;
      } else if (kind == kOther && caller >= 0 && is_[frame_of(caller).index()] == kCallImpl) {
        const int32_t site = site_[caller];
        const bool has_site = site >= 0 && is_[frame_of(site).index()] == kOther;
        if (!add(i, node.frame, has_site ? frame_of(site) : FrameId{})) return false;
      }
    }
    return true;
  }
  [[nodiscard]] int32_t of(StackId stack) const {
    const int32_t leaf = stack.is_none() ? -1 : recording_.stacks.leaf(stack);
    return leaf < 0 ? -1 : module_[leaf];
  }

 private:
  [[nodiscard]] FrameId frame_of(int32_t node) const { return recording_.stacks.node(node).frame; }
  [[nodiscard]] bool sort_frames() {
    if (!is_.resize(recording_.frames.size(), kOther)) return false;
    for (size_t i = 0; i < is_.size(); ++i) {
      const trace::Frame& frame = recording_.frames[FrameId{i}];
      const std::string_view name = recording_.strings.view(frame.name).substr(0, kLongestName);
      const std::string_view file = recording_.strings.view(frame.filename).substr(0, kLongestName);
      if (file.ends_with("torch/nn/modules/module.py") || file.ends_with("torch\\nn\\modules\\module.py")) {
        is_[i] = name == "_call_impl" ? kCallImpl : kOfModulePy;
      } else if (name.starts_with("nn.Module: ")) {
        is_[i] = kNamed;
      }
    }
    return true;
  }
  [[nodiscard]] bool add(size_t node, FrameId frame, FrameId site) {
    bool is_new = false;
    const int32_t site_key = site.is_none() ? -1 : line_[site.index()];
    module_[node] = numbers_.of(both(function_[frame.index()], site_key), is_new);
    if (module_[node] < 0) return false;
    return !is_new || (keys_.frame.push_back(frame) && keys_.site.push_back(site));
  }

  const model::Recording& recording_;
  Keys& keys_;
  Column<uint8_t> is_{recording_.budget};                                  // per frame
  Column<int32_t> line_{recording_.budget}, function_{recording_.budget};  // keys of frames
  Column<int32_t> module_{recording_.budget}, site_{recording_.budget};    // per node
  Numbers numbers_{recording_.budget};
};

[[nodiscard]] bool find_modules(const model::Recording& recording, Keys& keys) {
  Modules modules(recording, keys);
  if (!modules.prepare()) return false;
  for (size_t i = 0; i < keys.of_stack.size(); ++i) keys.of_stack[i] = modules.of(StackId{i});
  return true;
}

[[nodiscard]] bool find_askers(const model::Recording& recording, const WhoOfStacks& who, FrameKey by,
                               Keys& keys) {
  Column<int32_t> frame_keys(recording.budget);
  Column<int32_t> number(recording.budget);  // by key of a frame
  if (!find_frame_keys(recording, by, frame_keys) || !number.resize(recording.frames.size(), -1))
    return false;
  for (size_t i = 0; i < keys.of_stack.size(); ++i) {
    const int32_t leaf = recording.stacks.leaf(StackId{i});
    if (leaf < 0) continue;
    const FrameId frame = who.frame_of_node(leaf);
    if (frame.is_none()) continue;
    int32_t& known = number[frame_keys[frame.index()]];
    if (known < 0) {
      known = static_cast<int32_t>(keys.frame.size());
      if (!keys.frame.push_back(frame)) return false;
    }
    keys.of_stack[i] = known;
  }
  return true;
}

}  // namespace

Result<Keys> find_keys(const model::Recording& recording, const WhoOfStacks& who, By by) {
  Keys keys(recording.budget);
  keys.by = by;
  if (!keys.of_stack.resize(recording.stacks.size(), -1)) return out_of_memory(recording);
  const bool done =
      by == By::module ? find_modules(recording, keys) : find_askers(recording, who, frame_key_of(by), keys);
  if (!done) return out_of_memory(recording);
  return keys;
}

Result<Keys> find_keys(const model::Recording& recording, By by) {
  WhoOfStacks who(recording);
  if (!who.prepare()) return out_of_memory(recording);
  return find_keys(recording, who, by);
}

}  // namespace gpustrata::analysis
