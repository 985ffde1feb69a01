#include "engine/analysis/stacks/shown_stacks.h"

#include <algorithm>

namespace gpustrata::analysis {

uint64_t ShownStacks::hash_of(FrameId frame, Column<uint64_t>& hashes, bool with_line) {
  uint64_t& known = hashes[frame];
  if (known != 0) return known;
  if (with_line) {
    known = hash_text(frame_text(recording_, frame)) | 1;
  } else {
    const trace::Frame& one = recording_.frames[frame];
    known = mix_hash(hash_text(recording_.strings.view(one.name).substr(0, kLongestName)) * 31 +
                     hash_text(recording_.strings.view(one.filename).substr(0, kLongestName))) |
            1;
  }
  return known;
}

ShownKey ShownStacks::key(StackId stack, Column<uint64_t>& hashes, bool with_line) {
  if (stack.is_none()) return {};
  ShownKey key{1, 2};
  const std::vector<FrameLine> lines = frame_lines(recording_, stack, hidden_);
  const bool all_hidden =
      std::all_of(lines.begin(), lines.end(), [](const FrameLine& line) { return line.hidden; });
  for (const FrameLine& line : lines) {
    if (line.hidden && !all_hidden) continue;
    key.add(hash_of(line.frame, hashes, with_line));
    key.add(static_cast<uint64_t>(line.repeats));
  }
  return key;
}

int32_t StackGroups::operator()(StackId stack) {
  constexpr int64_t kEntryBytes = 64;  // of the map
  if (stack.is_none()) return 0;
  int32_t& known = group_of_stack_[stack];
  if (known != kNotYet) return known;
  const ShownKey key = shown_.key(stack);
  const auto found = groups_.find(key);
  if (found != groups_.end()) return known = found->second;
  if (!charge_.more(kEntryBytes) || !first_.push_back(stack)) return -1;
  known = count() - 1;
  groups_.emplace(key, known);
  return known;
}

}  // namespace gpustrata::analysis
