#include "engine/analysis/calls/flame_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/replay/links.h"

namespace gpustrata::analysis {

namespace {

constexpr int32_t kMostRepeats = 1000;  // of a frame in a line
constexpr int32_t kNotYet = -1;

[[nodiscard]] std::string_view name_of(model::BlockState state) {
  return state == model::BlockState::active_allocated      ? "active_allocated"
         : state == model::BlockState::active_pending_free ? "active_pending_free"
                                                           : "inactive";
}

[[nodiscard]] StackId stack_of(const model::Recording& recording, const replay::StateHistory& history,
                               int32_t block) {
  const auto filled = [&](StackId stack) { return !stack.is_none() && recording.stacks.leaf(stack) >= 0; };
  const replay::BlockEvents events = events_of_block(recording, history, block);
  const auto at = [&](int32_t event) { return recording.events.stack[history.rows.events.first + event]; };
  if (events.alloc >= 0 && filled(at(events.alloc))) return at(events.alloc);
  const int32_t source = history.block_source[block];
  if (source >= 0 && filled(recording.blocks.stack[source])) return recording.blocks.stack[source];
  return {};  // that of a free says nothing of where the memory is from
}

// Blocks as lines.
class Folding {
 public:
  explicit Folding(const model::Recording& recording) : recording_(recording), hidden_(recording) {}

  [[nodiscard]] bool prepare() {
    const StringId none = folded_.entry("<non-python>");
    nothing_ = folded_.sequence({});
    no_frames_ = none.is_none() ? -1 : folded_.sequence({&none, 1});
    return nothing_ >= 0 && no_frames_ >= 0 && hidden_.prepare() &&
           entry_of_frame_.resize(recording_.frames.size(), StringId{}) &&
           sequence_of_stack_.resize(recording_.stacks.size(), kNotYet);
  }

  // -1 = no memory.
  [[nodiscard]] int32_t root(std::initializer_list<std::string_view> names) {
    scratch_.clear();
    for (const std::string_view name : names) {
      if (name.empty()) continue;
      const StringId entry = folded_.entry(name);
      if (entry.is_none() || !scratch_.push_back(entry)) return -1;
    }
    return folded_.sequence(scratch_.span());
  }
  [[nodiscard]] bool add_inactive(int32_t root, int64_t bytes) {
    return folded_.add({root, nothing_, false, bytes});
  }
  [[nodiscard]] bool add_block(int32_t root, StackId stack, const replay::BlockAt& block) {
    const int32_t frames = sequence_of(stack);
    const int64_t used = std::min(block.requested_size, block.size);
    return frames >= 0 && folded_.add({root, frames, false, used}) &&
           (block.size <= used || folded_.add({root, frames, true, block.size - used}));
  }
  [[nodiscard]] FoldedStacks finish() && {
    folded_.seal();
    return std::move(folded_);
  }

 private:
  [[nodiscard]] StringId entry_of(FrameId frame) {
    StringId& known = entry_of_frame_[frame.index()];
    if (known.is_none()) {
      std::string text = frame_text(recording_, frame);
      const std::string_view file = recording_.strings.view(recording_.frames[frame].filename);
      const size_t folders = file.substr(0, kLongestName).rfind('/');
      if (folders != std::string_view::npos) text.erase(0, folders + 1);
      known = folded_.entry(text);
    }
    return known;
  }
  [[nodiscard]] int32_t sequence_of(StackId stack) {
    if (stack.is_none()) return no_frames_;
    int32_t& known = sequence_of_stack_[stack.index()];
    if (known == kNotYet) known = make_sequence(stack);
    return known;
  }
  [[nodiscard]] int32_t make_sequence(StackId stack) {
    scratch_.clear();
    const std::vector<FrameLine> lines = frame_lines(recording_, stack, hidden_);
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
      if (line->hidden) continue;
      const StringId entry = entry_of(line->frame);
      if (entry.is_none()) return kNotYet;
      for (int32_t i = 0; i < std::min(line->repeats, kMostRepeats); ++i) {
        if (!scratch_.push_back(entry)) return kNotYet;
      }
    }
    return scratch_.empty() ? no_frames_ : folded_.sequence(scratch_.span());
  }

  const model::Recording& recording_;
  FoldedStacks folded_{recording_.budget};
  HiddenFrames hidden_;
  Column<StringId> entry_of_frame_{recording_.budget};
  Column<int32_t> sequence_of_stack_{recording_.budget};
  Column<StringId> scratch_{recording_.budget};
  int32_t nothing_ = -1, no_frames_ = -1;
};

// The roots of one place by state, -1 = not yet needed.
using Roots = std::array<int32_t, 4>;
constexpr Roots kNoRoots{-1, -1, -1, -1};

}  // namespace

Result<FoldedStacks> fold_memory(const model::Recording& recording, const replay::StateHistory& history,
                                 const replay::MemoryAt& memory, const StreamNumbers& streams,
                                 const FlameOptions& options) {
  const auto out_of_memory = [&] {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory for the stacks of {} blocks.",
                memory.blocks().size() + memory.outside().size());
  };
  Folding folding(recording);
  if (!folding.prepare()) return out_of_memory();
  const auto add = [&](Roots& roots, std::string_view place, std::string_view segment,
                       const replay::BlockAt& block) {
    if (block.row < 0 && !options.inactive) return true;
    int32_t& root = roots[static_cast<size_t>(block.state)];
    if (root < 0) root = folding.root({place, segment, name_of(block.state)});
    if (root < 0) return false;
    return block.row < 0 ? folding.add_inactive(root, block.size)
                         : folding.add_block(root, stack_of(recording, history, block.row), block);
  };
  std::vector<Roots> of_streams(recording.streams.size() + 1, kNoRoots);  // by number
  for (const replay::SegmentAt& segment : memory.segments()) {
    const int32_t number = streams[history.range_stream[segment.row]];
    const std::string stream = fmt::format("stream_{}", number);
    const std::string address = options.segments ? fmt::format("seg_{:#x}", segment.address) : "";
    Roots own = kNoRoots;
    Roots& roots = options.segments ? own : of_streams[static_cast<size_t>(number)];
    for (const replay::BlockAt& block : memory.blocks_of(segment)) {
      if (!add(roots, stream, address, block)) return out_of_memory();
    }
  }
  Roots outside = kNoRoots;
  for (const replay::BlockAt& block : memory.outside()) {
    if (!add(outside, "no segment", {}, block)) return out_of_memory();
  }
  return std::move(folding).finish();
}

Status add_difference(FoldedStacks& into, const FoldedStacks& before, const FoldedStacks& after,
                      std::string_view place) {
  bool fits = true;
  // Copies a line of `from` below another root; sequences follow each other, so the last one is kept.
  const auto copy = [&](const char* side, const FoldedStacks& from, const FoldedStacks::Line& line,
                        int64_t bytes) {
    std::vector<StringId> entries{into.entry(side)};
    if (!place.empty()) entries.push_back(into.entry(place));
    for (const StringId id : from.entries_of(line.root)) entries.push_back(into.entry(from.text(id)));
    const int32_t root = into.sequence(entries);
    entries.clear();
    for (const StringId id : from.entries_of(line.stack)) entries.push_back(into.entry(from.text(id)));
    const int32_t stack = into.sequence(entries);
    fits = fits && root >= 0 && stack >= 0 &&
           std::none_of(entries.begin(), entries.end(), [](StringId id) { return id.is_none(); }) &&
           into.add({root, stack, line.gaps, bytes});
  };
  const auto a = before.lines(), b = after.lines();
  for (size_t i = 0, k = 0; (i < a.size() || k < b.size()) && fits;) {
    const int order = i == a.size()   ? 1
                      : k == b.size() ? -1
                                      : FoldedStacks::compare(before, a[i], after, b[k]);
    if (order < 0) {
      copy("only_before", before, a[i], a[i].bytes);
    } else if (order > 0) {
      copy("only_after", after, b[k], b[k].bytes);
    } else if (a[i].bytes > b[k].bytes) {
      copy("only_before", before, a[i], a[i].bytes - b[k].bytes);
    } else if (b[k].bytes > a[i].bytes) {
      copy("only_after", after, b[k], b[k].bytes - a[i].bytes);
    }
    i += order <= 0 ? 1 : 0;
    k += order >= 0 ? 1 : 0;
  }
  if (fits) return {};
  return fail(ErrorCode::limit_exceeded, -1, "Not enough memory for the stacks that only one file has.");
}

}  // namespace gpustrata::analysis
