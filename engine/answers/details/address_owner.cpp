#include "engine/answers/details/address_owner.h"

#include <fmt/core.h>

#include <string>
#include <vector>

#include "engine/analysis/device/block_name.h"
#include "engine/analysis/device/pool_id.h"
#include "engine/analysis/device/stream_numbers.h"
#include "engine/analysis/stacks/frame_filter.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/answers/common/moment.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/details/memory_after.h"
#include "engine/answers/live/top.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/text/bounded.h"
#include "engine/answers/text/fitted.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::AddressLife;
using analysis::AddressNeighbour;
using analysis::AddressOwner;
using analysis::AddressRange;
using analysis::EventContext;

namespace {

constexpr size_t kMostOwnerLines = 20;
constexpr size_t kMostBytes = size_t{16} << 10;

[[nodiscard]] std::string name_of(const AddressLife& life) {
  return analysis::block_name(life.block.address, life.block.version);
}
[[nodiscard]] std::string name_of(const AddressNeighbour& one) {
  return one.is_segment ? analysis::segment_name(one.address, one.version)
                        : analysis::block_name(one.address, one.version);
}

[[nodiscard]] std::string bytes_text(int64_t bytes) {
  return bytes < 1024 ? counted(bytes, "byte") : exact_size_text(bytes);
}

// What the recording says of an address, sentence by sentence.
class Sentences {
 public:
  Sentences(const EventContext& context, const AddressOwner& owner) : context_(context), owner_(owner) {}

  [[nodiscard]] std::vector<std::string> all() {
    if (owner_.holder) {
      of_holder(*owner_.holder);
    } else {
      of_nobody();
    }
    if (owner_.segment) of_segment();
    of_others();
    return std::move(lines_);
  }

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    lines_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  [[nodiscard]] std::string by(StackId stack) const {
    const std::string who = who_text(context_.recording, analysis::who_of(context_.recording, stack));
    return who.empty() ? ", by whom is not recorded" : " by " + who;
  }
  [[nodiscard]] std::string place(StreamId stream, PoolId pool) const {
    std::string text =
        stream.is_none() ? "stream unknown" : fmt::format("stream {}", context_.stream_number(stream));
    if (pool.is_none()) return text + ", pool unknown";
    const model::Pool& key = context_.recording.pools[pool.index()];
    if (key == model::Pool{}) return text + ", default pool";
    return fmt::format("{}, private pool ({})", text, analysis::pool_text(key));
  }

  [[nodiscard]] std::string allocated(const AddressLife& life) const {
    const int32_t event = life.block.events.alloc;
    return (event < 0 ? std::string("allocated before the first event")
                      : "allocated at event " + count_text(event)) +
           by(life.allocated_by);
  }
  [[nodiscard]] std::string freed(const AddressLife& life) const {
    const int32_t requested = life.block.events.free_requested;
    const int32_t completed = life.block.events.free_completed;
    if (requested >= 0) {
      const bool is_pending = life.block.state == model::BlockState::active_pending_free;
      if (completed == requested || (completed == requested + 1 && !is_pending))
        return fmt::format("freed at event {}{}", count_text(requested), by(life.freed_by));
      const std::string asked =
          fmt::format("free requested at event {}{}", count_text(requested), by(life.freed_by));
      if (completed >= 0) return fmt::format("{}, and completed at event {}", asked, count_text(completed));
      return life.block.end < 0 ? asked + ", and not completed when the recording ends" : asked;
    }
    if (completed >= 0) return fmt::format("freed at event {}{}", count_text(completed), by(life.freed_by));
    if (life.block.end >= 0)
      return fmt::format("gone after event {}, its free is not recorded", count_text(life.block.end));
    return "not freed in the recording";
  }

  void of_holder(const AddressLife& life) {
    say("Block {} holds it: byte {} of {}, of which {} were requested; {}.", name_of(life),
        count_text(life.offset), exact_size_text(life.block.size), exact_size_text(life.block.requested_size),
        place(life.block.stream, life.block.pool));
    if (life.is_rounding())
      say("That byte lies beyond what was requested: rounding made it a part of the block.");
    say("It was {}, {}.", allocated(life), freed(life));
    if (life.block.state == model::BlockState::active_pending_free)
      say("Its free was requested before but is not completed: the allocator does not use it again yet.");
  }

  void of_nobody() {
    if (owner_.free) {
      say("No block holds it: it lies in {} of free memory that begin at {:#x}.",
          exact_size_text(owner_.free->size), owner_.free->address);
    } else if (owner_.segment) {
      say("No block holds it.");
    } else if (no_segments_known()) {
      say("No block holds it. The file names no segments, so it is not known whether it is the allocator's.");
    } else {
      say("No segment of the caching allocator holds it.");
    }
    if (owner_.segment_before) of_range("had it", *owner_.segment_before);
    if (owner_.segment_after) of_range("has it later", *owner_.segment_after);
    if (owner_.below)
      say("Nearest below: {} {}, {}; its last byte is {} below.",
          owner_.below->is_segment ? "segment" : "block", name_of(*owner_.below),
          exact_size_text(owner_.below->size), bytes_text(owner_.below->distance));
    if (owner_.above)
      say("Nearest above: {} {}, {}; its first byte is {} above.",
          owner_.above->is_segment ? "segment" : "block", name_of(*owner_.above),
          exact_size_text(owner_.above->size), bytes_text(owner_.above->distance));
    if (!owner_.below && !owner_.above)
      say("{}",
          owner_.segment ? "No other block is in this segment." : "Nothing else of the device is known.");
  }

  [[nodiscard]] bool no_segments_known() const {
    const auto is_block = [](const std::optional<AddressNeighbour>& one) { return one && !one->is_segment; };
    const bool nothing = !owner_.below && !owner_.above;
    return context_.history.ranges.count() == 0 &&
           (nothing || is_block(owner_.below) || is_block(owner_.above));
  }

  void of_range(std::string_view has, const AddressRange& range) {
    std::string text = fmt::format("Segment {}, {}, {}", analysis::segment_name(range.address, range.version),
                                   exact_size_text(range.size), has);
    if (range.begin >= 0) text += fmt::format(" from event {}", count_text(range.begin));
    if (range.end >= 0)
      text += fmt::format(" until event {} ({})", count_text(range.end),
                          in_list(context_.recording.action_name(*range.end_action)));
    say("{}.", text);
  }

  void of_segment() {
    const analysis::StateSegment& segment = *owner_.segment;
    say("Segment {}, {}{}: byte {} of it; {}.",
        analysis::segment_name(segment.segment.address, segment.version),
        exact_size_text(segment.segment.size), segment.expandable ? ", expandable" : "",
        count_text(static_cast<int64_t>(owner_.address - segment.segment.address)),
        place(segment.stream, segment.pool));
    if (!segment.pool.is_none() && context_.recording.pools[segment.pool.index()] != model::Pool{})
      say("Private pools are those of CUDA graphs and of torch.cuda.MemPool: a graph that is replayed uses the "
          "addresses of its capture, whoever has them by then.");
  }

  void of_life(std::string_view when, const AddressLife& life) {
    say("{}: block {}, {}, {}, {}.", when, name_of(life), exact_size_text(life.block.size), allocated(life),
        freed(life));
  }
  void of_others() {
    for (const AddressLife& life : owner_.before) of_life("Before", life);
    if (owner_.before_left_out > 0) say("{} before those.", counted(owner_.before_left_out, "block"));
    if (!owner_.has_history) {
      say("The file has no history: who had it before is not known.");
      return;
    }
    const bool is_from_start = owner_.holder && owner_.holder->block.begin < 0;
    if (owner_.before.empty() && !is_from_start)
      say("No {}block had it earlier in the recording; what was before its first event is not known.",
          owner_.holder ? "other " : "");
    for (const AddressLife& life : owner_.after) of_life("After", life);
    if (owner_.after_left_out > 0) say("{} after those.", counted(owner_.after_left_out, "block"));
    if (owner_.after.empty() && owner_.event + 1 < owner_.event_count)
      say("No {}block has it later in the recording.", owner_.holder ? "other " : "");
  }

  const EventContext& context_;
  const AddressOwner& owner_;
  std::vector<std::string> lines_;
};

void describe_who(Members& m, Name who, Name frames, const model::Recording& recording, StackId stack) {
  m.text(who, [&] { return who_or_none(recording, analysis::who_of(recording, stack)); });
  describe_frames(m, recording, stack, frames);
}

void describe_life(Members& m, const EventContext& context, const AddressLife& life) {
  const model::Recording& recording = context.recording;
  const analysis::StateBlock& block = life.block;
  m.is({"AddressLife", "A block that has the address, had it or will have it."});
  m.block_row("block", block.row);
  m.rank("rank", block.rank);
  m.text("name", [&] { return name_of(life); });
  m.address("address", block.address);
  m.bytes("size", block.size);
  m.bytes("requested_size", block.requested_size);
  m.bytes({"offset", "Of the address in the block."}, life.offset);
  m.word({"state", "Null: it does not exist after the event."}, kLiveStates, block.state);
  m.count("begin", block.begin);
  m.count({"end", "The event after which it is gone; -1 = never."}, block.end);
  m.count({"alloc_event", "-1 = not in the trace, as of the next two."}, block.events.alloc);
  m.count("free_requested_event", block.events.free_requested);
  m.count("free_completed_event", block.events.free_completed);
  m.count("stream", [&] { return context.stream_number(block.stream); });
  m.text("stream_handle", [&] {
    return block.stream.is_none() ? std::nullopt
                                  : std::optional(analysis::handle_text(recording, block.stream));
  });
  describe_pool(m, recording, block.pool);
  describe_who(m, "allocated_by", "allocated_frames", recording, life.allocated_by);
  describe_who(m, "freed_by", "freed_frames", recording, life.freed_by);
}

void describe_neighbour(Members& m, Name name, const std::optional<AddressNeighbour>& neighbour) {
  m.object(name, neighbour, [&](const AddressNeighbour& one) {
    m.is({"AddressNeighbour", "The nearest on one side."});
    m.flag("segment", one.is_segment);
    m.text("name", [&] { return name_of(one); });
    m.address("address", one.address);
    m.bytes("size", one.size);
    m.bytes({"distance", "To its nearest byte."}, one.distance);
  });
}

void describe_range(Members& m, Name name, const model::Recording& recording,
                    const std::optional<AddressRange>& range) {
  m.object(name, range, [&](const AddressRange& one) {
    m.is({"AddressRange", "A segment that has the address at another moment."});
    m.text("name", [&] { return analysis::segment_name(one.address, one.version); });
    m.address("address", one.address);
    m.bytes("size", one.size);
    m.count("begin", one.begin);
    m.count("end", one.end);
    m.text("end_action", [&] {
      return one.end_action ? std::optional(in_list(recording.action_name(*one.end_action))) : std::nullopt;
    });
    describe_pool(m, recording, one.pool);
  });
}

// The program's own frames, innermost first; all that are shown where there is none of them.
void stack_to_text(TextOut& out, std::string_view title, const model::Recording& recording, StackId stack) {
  if (stack.is_none()) return;
  ShownLines shown;
  const analysis::OwnFrames own(recording, stack);
  for (const analysis::FrameLine& line : analysis::frame_lines(recording, stack)) {
    if (line.hidden || !own.is_own(line.frame)) continue;
    if (shown.lines.size() < kMostOwnerLines) {
      shown.lines.push_back(analysis::frame_text(recording, line.frame));
    } else {
      ++shown.left_out;
    }
  }
  if (shown.lines.empty()) shown = shown_lines(recording, stack, kMostOwnerLines, kMostBytes);
  if (shown.lines.empty()) return;
  out.print("\n  {}\n", title);
  for (const std::string& line : shown.lines) out.print("    {}\n", printable(line));
  if (shown.left_out > 0) out.print("    {}\n", more_text(shown.left_out));
}

}  // namespace

void describe(Members& m, const EventContext& context, const AddressOwner& owner) {
  m.is({"AddressOwner", "Whose an address is after the event, who had it before and who has it later."});
  m.line("owner --json");
  describe_damage(m, m.found([&] { return context.recording.diagnostics.incomplete(); }));
  m.address("address", owner.address);
  m.count("device", owner.device);
  m.count("event", owner.event);
  m.microseconds("time_us", owner.time_us);
  m.flag({"known", "The device has it at some moment."}, [&] { return owner.is_known(); });
  m.object("holder", owner.holder, [&](const AddressLife& life) { describe_life(m, context, life); });
  m.object("segment", owner.segment,
           [&](const analysis::StateSegment& segment) { describe(m, context, segment); });
  m.object({"free", "The free memory that it lies in."}, owner.free, [&](const auto& free) {
    m.address("address", free.address);
    m.bytes("size", free.size);
  });
  const auto life = [&](const AddressLife& one) { describe_life(m, context, one); };
  m.list("before", owner.before, life);
  m.count("before_left_out", owner.before_left_out);
  m.list("after", owner.after, life);
  m.count("after_left_out", owner.after_left_out);
  describe_neighbour(m, "below", owner.below);
  describe_neighbour(m, "above", owner.above);
  describe_range(m, "segment_before", context.recording, owner.segment_before);
  describe_range(m, "segment_after", context.recording, owner.segment_after);
  m.texts({"lines", "The same in sentences."}, [&] { return Sentences(context, owner).all(); });
}

void to_text(TextOut& out, const EventContext& context, const AddressOwner& owner, size_t columns) {
  out.print("{:#x} on {}, {}\n", owner.address, device_text(owner.device),
            moment_text(owner.event, {owner.event_count, context.lifetimes.peak_event}));
  for (const std::string& line : Sentences(context, owner).all())
    out.print("  {}\n", wrapped(words_of(printable(line)), columns, 2));
  const AddressLife* const told = owner.holder            ? &*owner.holder
                                  : !owner.before.empty() ? owner.before.data()
                                                          : nullptr;
  if (told == nullptr) return;
  stack_to_text(out, fmt::format("{} was allocated by", name_of(*told)), context.recording,
                told->allocated_by);
  stack_to_text(out, fmt::format("{} was freed by", name_of(*told)), context.recording, told->freed_by);
}

}  // namespace gpustrata::answers
