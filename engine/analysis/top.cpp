#include "engine/analysis/top.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "engine/analysis/block_sources.h"
#include "engine/analysis/frame_filter.h"
#include "engine/base/column.h"
#include "engine/base/utf8.h"

namespace memstrata::analysis {

namespace {

// Finds the frame that stands for a stack, once per stack and once per frame.
class Representative {
 public:
  explicit Representative(const model::Recording& recording)
      : recording_(recording), hidden_(recording.budget), frame_(recording.budget) {}

  [[nodiscard]] bool prepare() {
    return hidden_.resize(recording_.frames.size(), kUnknown) &&
           frame_.resize(recording_.stacks.size(), kNotYet);
  }
  // None for an empty stack.
  [[nodiscard]] FrameId operator()(StackId stack) {
    int32_t& known = frame_[stack.index()];
    if (known == kNotYet) known = find(stack).value;
    return FrameId{known};
  }

 private:
  static constexpr uint8_t kUnknown = 2;
  static constexpr int32_t kNotYet = -2;

  [[nodiscard]] FrameId find(StackId stack) {
    const trace::StackTable& stacks = recording_.stacks;
    const int32_t leaf = stacks.leaf(stack);
    FrameId shown;
    int32_t node = leaf;
    for (size_t depth = 0; node >= 0 && depth < kMostFrames; ++depth) {
      const FrameId frame = stacks.node(node).frame;
      if (is_python(frame)) return frame;
      if (shown.is_none() && !is_hidden_frame(frame)) shown = frame;
      node = stacks.node(node).caller;
    }
    return shown.is_none() && leaf >= 0 ? stacks.node(leaf).frame : shown;
  }
  [[nodiscard]] bool is_python(FrameId id) const {
    return recording_.strings.view(recording_.frames[id].filename).ends_with(".py");
  }
  [[nodiscard]] bool is_hidden_frame(FrameId id) {
    uint8_t& known = hidden_[id.index()];
    if (known == kUnknown) {
      const trace::Frame& frame = recording_.frames[id];
      known = is_hidden(recording_.strings.view(frame.name), recording_.strings.view(frame.filename)) ? 1 : 0;
    }
    return known != 0;
  }

  const model::Recording& recording_;
  Column<uint8_t> hidden_;
  Column<int32_t> frame_;
};

// One block alive: its group and size.
struct Share {
  int32_t first, second;  // what the groups differ in: stack; or name and file; -1 = none
  int32_t rank;
  int64_t bytes;
};

}  // namespace

Result<Top> find_top(const model::Recording& recording, const model::Part& part,
                     const replay::BlockLives& lifetimes, int32_t event, TopBy by, size_t limit) {
  const auto out_of_memory = [&] {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to group {} blocks.", lifetimes.count());
  };
  Top top;
  top.device = lifetimes.device;
  top.event = event;
  Representative representative(recording);
  Column<AddressAndRow> final_blocks(recording.budget);
  Column<Share> shares(recording.budget);
  if (!representative.prepare() ||
      !collect_final_blocks(recording, part, lifetimes.device, final_blocks)) {
    return out_of_memory();
  }
  for (int32_t rank = 0; rank < lifetimes.count(); ++rank) {
    const auto r = static_cast<size_t>(rank);
    const int32_t born = lifetimes.born[r];
    if (born > event) break;  // ranks are in the order of birth
    if (lifetimes.freed[r] <= event) continue;
    StackId stack;
    if (born >= 0) stack = recording.events.stack[static_cast<size_t>(lifetimes.events.first + born)];
    if (stack.is_none() || recording.stacks.leaf(stack) < 0) {
      int32_t final_block = born < 0 ? lifetimes.source[r] : -1;
      if (final_block < 0 && lifetimes.freed[r] >= lifetimes.events.count) {
        final_block = row_at(final_blocks, lifetimes.address(recording, rank));
      }
      const int32_t freed = find_free(recording, lifetimes, rank, final_block).event;
      const BlockStack chosen = choose_stack(recording, lifetimes, rank, final_block, freed);
      stack = chosen.from == StackFrom::nothing ? StackId{} : chosen.stack;
    }
    Share share{-1, -1, rank, lifetimes.size[r]};
    if (by == TopBy::stack) {
      share.first = stack.value;
    } else if (!stack.is_none()) {
      const trace::Frame& frame = recording.frames[representative(stack)];
      share.first = by == TopBy::function ? frame.name.value : -1;
      share.second = frame.filename.value;
    }
    if (!shares.push_back(share)) return out_of_memory();
    top.bytes += share.bytes;
    ++top.count;
  }

  const auto group_of = [](const Share& share) { return std::tuple(share.first, share.second); };
  std::sort(shares.data(), shares.data() + shares.size(), [&](const Share& a, const Share& b) {
    return std::tuple(group_of(a), a.rank) < std::tuple(group_of(b), b.rank);
  });
  struct Ordered {
    TopGroup group;
    int32_t first_rank;
  };
  std::vector<Ordered> groups;
  for (size_t i = 0; i < shares.size(); ++i) {
    const Share& share = shares[i];
    if (i == 0 || group_of(share) != group_of(shares[i - 1])) {
      Ordered next{{}, share.rank};
      if (by == TopBy::stack) {
        next.group.stack = StackId{share.first};
      } else {
        next.group.name = StringId{share.first};
        next.group.file = StringId{share.second};
      }
      groups.push_back(next);
    }
    groups.back().group.bytes += share.bytes;
    ++groups.back().group.count;
  }
  std::sort(groups.begin(), groups.end(), [](const Ordered& a, const Ordered& b) {
    return std::tuple(-a.group.bytes, -a.group.count, a.first_rank) <
           std::tuple(-b.group.bytes, -b.group.count, b.first_rank);
  });
  top.all_groups = static_cast<int64_t>(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i < limit) {
      top.groups.push_back(groups[i].group);
    } else {
      top.other_bytes += groups[i].group.bytes;
      top.other_count += groups[i].group.count;
    }
  }
  return top;
}

std::vector<std::string> shown_lines(const model::Recording& recording, StackId stack) {
  std::vector<std::string> lines;
  const std::vector<FrameLine> all = frame_lines(recording, stack);
  const bool all_hidden =
      std::all_of(all.begin(), all.end(), [](const FrameLine& line) { return line.hidden; });
  for (const FrameLine& line : all) {
    if (line.hidden && !all_hidden) continue;
    std::string text = frame_text(recording, line.frame);
    if (line.repeats > 1) text += fmt::format(" (repeats {} times)", line.repeats);
    lines.push_back(std::move(text));
  }
  return lines;
}

void write_group(JsonWriter& json, const model::Recording& recording, const TopGroup& group, TopBy by) {
  const auto text = [&](std::string_view key, StringId id) {
    if (id.is_none()) {
      json.key(key);
      json.null();
    } else {
      json.member(key, utf8::cut(recording.strings.view(id), kLongestName));
    }
  };
  switch (by) {
    case TopBy::stack:
      json.key("stack");
      if (group.stack.is_none()) {
        json.null();
        break;
      }
      json.begin_array();
      for (const std::string& line : shown_lines(recording, group.stack)) json.value(line);
      json.end_array();
      break;
    case TopBy::function:
      text("function", group.name);
      [[fallthrough]];
    case TopBy::file:
      text("file", group.file);
  }
}

void write_top(JsonWriter& json, const model::Recording& recording, const Top& top, TopBy by) {
  json.member("device", top.device);
  json.member("event", top.event);
  json.member("requested_bytes", top.bytes);
  json.member("blocks", top.count);
  json.member("groups", top.all_groups);
  json.key("rows");
  json.begin_array();
  for (const TopGroup& group : top.groups) {
    json.begin_object();
    json.member("bytes", group.bytes);
    json.member("blocks", group.count);
    json.member("share",
                top.bytes > 0 ? static_cast<double>(group.bytes) / static_cast<double>(top.bytes) : 0.0);
    write_group(json, recording, group, by);
    json.end_object();
  }
  json.end_array();
  json.key("other");
  json.begin_object();
  json.member("bytes", top.other_bytes);
  json.member("blocks", top.other_count);
  json.end_object();
}

}  // namespace memstrata::analysis
