// Stacks that a person sees as the same: their shown lines (frame_filter.h) are equal, whatever is hidden between
// them. Nothing but texts is compared, so stacks of two recordings can be, too.
#pragma once

#include <compare>
#include <cstdint>
#include <unordered_map>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/base/charge.h"
#include "engine/base/column.h"
#include "engine/base/hash.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

// Two hashes of what is shown: that they both agree by chance does not happen.
struct ShownKey {
  uint64_t first = 0, second = 0;

  auto operator<=>(const ShownKey&) const = default;
  void add(uint64_t hash) {
    first = mix_hash(first * 31 + hash);
    second = mix_hash(second ^ hash) + 0x9e3779b97f4a7c15ULL;
  }
};

class ShownStacks {
 public:
  explicit ShownStacks(const model::Recording& recording) : recording_(recording), hidden_(recording) {}
  // False = no memory.
  [[nodiscard]] bool prepare() {
    return hidden_.prepare() && lines_.resize(recording_.frames.size(), 0) &&
           places_.resize(recording_.frames.size(), 0);
  }

  // All zero for no stack. O(frames of the stack).
  [[nodiscard]] ShownKey key(StackId stack) { return key(stack, lines_, true); }
  // The same without the numbers of lines: what stays when somebody edits the file above.
  [[nodiscard]] ShownKey key_without_lines(StackId stack) { return key(stack, places_, false); }

 private:
  [[nodiscard]] ShownKey key(StackId stack, Column<uint64_t>& hashes, bool with_line);
  [[nodiscard]] uint64_t hash_of(FrameId frame, Column<uint64_t>& hashes, bool with_line);

  const model::Recording& recording_;
  HiddenFrames hidden_;
  Column<uint64_t> lines_{recording_.budget}, places_{recording_.budget};  // per frame, 0 = not yet
};

// Numbers for stacks of one recording, the same for those that are shown alike. Each stack is looked at once.
class StackGroups {
 public:
  explicit StackGroups(const model::Recording& recording)
      : shown_(recording),
        group_of_stack_(recording.budget),
        first_(recording.budget),
        charge_(recording.budget) {}
  // False = no memory.
  [[nodiscard]] bool prepare(const model::Recording& recording) {
    return shown_.prepare() && group_of_stack_.resize(recording.stacks.size(), kNotYet) &&
           first_.push_back({});
  }
  // 0 = no stack. -1 = no memory.
  [[nodiscard]] int32_t operator()(StackId stack);
  // The first stack of the group that was asked for.
  [[nodiscard]] StackId stack_of(int32_t group) const { return first_[group]; }
  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(first_.size()); }

 private:
  static constexpr int32_t kNotYet = -2;
  struct Mixed {
    size_t operator()(const ShownKey& key) const { return static_cast<size_t>(key.first); }
  };

  ShownStacks shown_;
  Column<int32_t> group_of_stack_;
  Column<StackId> first_;
  Charge charge_;
  std::unordered_map<ShownKey, int32_t, Mixed> groups_;
};

}  // namespace gpustrata::analysis
