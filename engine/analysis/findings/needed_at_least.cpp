#include "engine/analysis/findings/needed_at_least.h"

#include <algorithm>
#include <utility>

#include "engine/analysis/stacks/call_kinds.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

constexpr int32_t kMostEarlierSteps = 3;  // the last ones

// Allocations of events [first, end) of a device: ranks in the order of the events. Those of the step before, if there is one, have
// the ranks from `before_rank` on.
struct Stretch {
  const replay::BlockLives& lives;
  int32_t first, end;
  int32_t before_rank, first_rank, count;
};

[[nodiscard]] Stretch stretch_of(const replay::BlockLives& lives, int32_t before, int32_t first,
                                 int32_t end) {
  const int32_t* const begin = lives.born.begin() + lives.from_start;
  const auto rank_from = [&](int32_t event) {
    return static_cast<int32_t>(std::lower_bound(begin, lives.born.end(), event) - lives.born.begin());
  };
  const int32_t first_rank = rank_from(first);
  return {lives, first, end, rank_from(before), first_rank, rank_from(end) - first_rank};
}

[[nodiscard]] Stretch step_of(const replay::BlockLives& lives, const Steps& steps, int32_t step,
                              int32_t end) {
  const auto begin = [&](int32_t i) { return steps.begin[i]; };
  return stretch_of(lives, begin(std::max(step - 1, 0)), begin(step), end);
}

class Needing {
 public:
  Needing(const EventContext& context, const Keys& lines, bool steps_are_sure, int32_t failure)
      : context_(context),
        recording_(context.recording),
        lines_(lines),
        steps_are_sure_(steps_are_sure),
        failure_(failure),
        least_(recording_.budget),
        changes_(recording_.budget),
        from_before_(recording_.budget),
        from_before_there_(recording_.budget) {}

  // False = no memory.
  [[nodiscard]] bool compare(const Stretch& own, const Stretch& reference, int32_t step) {
    const int32_t done = own.count;
    if (done < kFewestSame || reference.count <= done) return true;
    bool same_sizes = true;
    for (int32_t i = 0; i <= done; ++i) {
      const StackId stack = i < done ? stack_of(own, i) : recording_.events.stack[context_.row(failure_)];
      const int32_t line = lines_.of(stack);
      if (line != lines_.of(stack_of(reference, i)) || (i == done && line < 0)) return true;
      same_sizes = same_sizes && (i < done ? size_of(own, i) == size_of(reference, i)
                                           : is_rounded(requested(), size_of(reference, i)));
    }
    if (!same_sizes && !find_least(own)) return false;
    return follow(own, reference, step, same_sizes);
  }

  // By the gradients that a step from event `begin` to `end` had at the end of its backward pass.
  void add_gradients(const CallKinds& kinds, int32_t begin, int32_t end, int32_t step) {
    const replay::BlockLives& lives = context_.lifetimes;
    const auto is_backward_pass = [&](int32_t rank) {
      const int32_t born = lives.born[rank];
      return (kinds.of(recording_.events.stack[context_.row(born)]) & kCallsBackward) != 0;
    };
    const Stretch of_step = stretch_of(lives, begin, begin, end);
    int32_t last = -1;  // allocation of its backward pass
    for (int32_t i = 0; i < of_step.count; ++i) {
      if (is_backward_pass(static_cast<int32_t>(rank(of_step, i)))) last = lives.born[rank(of_step, i)];
    }
    if (last < 0) return;
    int64_t gradients = 0, needed = 0;
    for (int32_t i = 0; i < of_step.count; ++i) {
      const auto one = static_cast<int32_t>(rank(of_step, i));
      if (!is_backward_pass(one)) continue;
      if (lives.is_live_after(one, failure_)) return;  // kept from step to step: they are in use
      if (lives.is_live_after(one, last)) add_saturated(gradients, size_of(of_step, i));
    }
    for (int32_t older = 0; older < of_step.first_rank; ++older) {
      if (!lives.is_live_after(older, failure_)) continue;
      add_saturated(needed, lives.size[older]);
    }
    add_saturated(needed, gradients);
    if (needed <= in_use_and_asked() || (found_ && needed <= found_->bytes)) return;
    found_.emplace();
    found_->bytes = needed;
    found_->more = needed - in_use_and_asked();
    found_->device = lives.device;
    found_->step = step;
    found_->event = last;
    found_->gradients = gradients;
    missing_.clear();
    done_.clear();
  }

  [[nodiscard]] Result<std::optional<NeededAtLeast>> take() {
    if (found_) find_largest_part();
    return found_;
  }

 private:
  struct Block {
    StackId stack;
    int64_t bytes;
  };

  [[nodiscard]] int64_t requested() const {
    return std::max<int64_t>(recording_.events.size[context_.row(failure_)], 0);
  }
  [[nodiscard]] int64_t in_use_and_asked() const {
    return saturated_sum(context_.lifetimes.level_after(failure_), requested());
  }
  // The event of a failure has the size of the block, rounded up to 512 bytes at least.
  [[nodiscard]] static bool is_rounded(int64_t block, int64_t size) {
    return block >= size && block - size < 512;
  }

  [[nodiscard]] static size_t rank(const Stretch& of, int32_t i) {
    return static_cast<size_t>(of.first_rank + i);
  }
  [[nodiscard]] static int64_t size_of(const Stretch& of, int32_t i) { return of.lives.size[rank(of, i)]; }
  [[nodiscard]] StackId stack_of(const Stretch& of, int32_t i) const {
    const int32_t event = of.lives.born[rank(of, i)];
    return recording_.events.stack[of.lives.events.first + event];
  }

  // Per line the smallest block here; 0 = none.
  [[nodiscard]] bool find_least(const Stretch& own) {
    least_.clear();
    if (!least_.resize(static_cast<size_t>(lines_.frame.size()), 0)) return false;
    for (int32_t i = 0; i <= own.count; ++i) {
      const StackId stack =
          i < own.count ? stack_of(own, i) : recording_.events.stack[context_.row(failure_)];
      if (lines_.of(stack) < 0) continue;
      int64_t& least = least_[lines_.of(stack)];
      const int64_t size = i < own.count ? size_of(own, i) : requested();
      if (least == 0 || size < least) least = size;
    }
    return true;
  }
  [[nodiscard]] int64_t least_of(StackId stack) const {
    const int32_t line = lines_.of(stack);
    return line < 0 ? 0 : least_[line];
  }
  // What block `i` of the reference takes here.
  [[nodiscard]] int64_t taken_here(const Stretch& own, const Stretch& reference, int32_t i, bool same_sizes) {
    if (i < own.count) return own.lives.freed[rank(own, i)] > failure_ ? size_of(own, i) : 0;
    if (i == own.count) return requested();
    if (is_kept(own, reference, i)) return 0;
    return same_sizes ? size_of(reference, i) : least_of(stack_of(reference, i));
  }
  // An earlier step made it once: it is there still, as the state of an optimizer. In a loop that may lie within the step, all
  // that outlives a repeat may be made once.
  [[nodiscard]] bool is_kept(const Stretch& own, const Stretch& reference, int32_t i) const {
    if (&reference.lives != &own.lives) return false;
    const int32_t freed = reference.lives.freed[rank(reference, i)];
    return freed > failure_ || (!steps_are_sure_ && freed >= reference.end);
  }

  // Blocks of the step before that are in use. Some are of use to the beginning of the next step only, as a batch that is fetched
  // early: they count where the reference had such ones by the same stack, the smallest with the smallest.
  [[nodiscard]] bool add_from_before(const Stretch& own, const Stretch& reference, int32_t begin,
                                     int64_t& level) {
    const auto list = [this](const Stretch& of, int32_t after, Column<Block>& blocks) {
      blocks.clear();
      for (int32_t i = of.before_rank; i < of.first_rank; ++i) {
        if (of.lives.freed[i] <= after) continue;
        if (!blocks.push_back({stack_of(of, i - of.first_rank), of.lives.size[i]})) return false;
      }
      std::sort(blocks.data(), blocks.data() + blocks.size(), [](const Block& a, const Block& b) {
        return a.stack != b.stack ? a.stack < b.stack : a.bytes < b.bytes;
      });
      return true;
    };
    if (!list(own, failure_, from_before_) || !list(reference, begin, from_before_there_)) return false;
    size_t there = 0;
    for (const Block& block : from_before_) {
      while (there < from_before_there_.size() && from_before_there_[there].stack < block.stack) ++there;
      if (there == from_before_there_.size()) break;
      if (from_before_there_[there].stack != block.stack) continue;
      add_saturated(level, std::min(block.bytes, from_before_there_[there].bytes));
      ++there;
    }
    return true;
  }

  struct Change {
    int32_t event;
    int64_t bytes;
  };
  [[nodiscard]] bool follow(const Stretch& own, const Stretch& reference, int32_t step, bool same_sizes) {
    const replay::BlockLives& there = reference.lives;
    const int32_t begin = there.born[rank(reference, own.count)];
    int64_t level = 0;
    for (int32_t older = 0; older < own.before_rank; ++older) {
      if (own.lives.freed[older] > failure_) add_saturated(level, own.lives.size[older]);
    }
    if (!add_from_before(own, reference, begin, level)) return false;
    changes_.clear();
    int32_t end = reference.end;
    for (int32_t older = 0; older < reference.first_rank; ++older) {
      const int32_t freed = there.freed[older];
      if (freed <= begin || freed >= reference.end) continue;
      if (!same_sizes) end = std::min(end, freed);
      if (!changes_.push_back({freed, -there.size[older]})) return false;
    }
    for (int32_t i = 0; i < reference.count; ++i) {
      const int32_t born = there.born[rank(reference, i)], freed = there.freed[rank(reference, i)];
      if (freed <= begin) continue;
      const int64_t bytes = taken_here(own, reference, i, same_sizes);
      if (born <= begin) {
        add_saturated(level, bytes);
      } else if (!changes_.push_back({born, bytes})) {
        return false;
      }
      if (freed < reference.end && !changes_.push_back({freed, -bytes})) return false;
    }
    std::sort(changes_.data(), changes_.data() + changes_.size(),
              [](const Change& a, const Change& b) { return a.event < b.event; });
    int64_t highest = level;
    int32_t at = begin;
    for (size_t i = 0; i < changes_.size() && changes_[i].event < end; ++i) {
      level = saturated_sum(level, changes_[i].bytes);
      const bool is_last_of_event = i + 1 == changes_.size() || changes_[i + 1].event != changes_[i].event;
      if (!is_last_of_event || level <= highest) continue;
      highest = level;
      at = changes_[i].event;
    }
    const int64_t in_use = in_use_and_asked();
    if (highest <= in_use || (found_ && highest <= found_->bytes)) return true;
    found_.emplace();
    found_->bytes = highest;
    found_->more = highest - in_use;
    found_->device = there.device;
    found_->step = step;
    found_->event = at;
    found_->same = own.count;
    found_->same_sizes = same_sizes;
    return list_missing(own, reference, same_sizes);
  }

  // The blocks in use then that are not allocated here yet, and those here that are.
  [[nodiscard]] bool list_missing(const Stretch& own, const Stretch& reference, bool same_sizes) {
    missing_.clear();
    done_.clear();
    for (int32_t i = own.count; i < reference.count; ++i) {
      if (!reference.lives.is_live_after(static_cast<int32_t>(rank(reference, i)), found_->event)) continue;
      const int64_t bytes = taken_here(own, reference, i, same_sizes);
      if (!missing_.push_back({stack_of(reference, i), bytes})) return false;
    }
    for (int32_t i = 0; i < own.count; ++i) {
      if (own.lives.freed[rank(own, i)] > failure_ && !done_.push_back({stack_of(own, i), 0})) return false;
    }
    return true;
  }

  void find_largest_part() {
    int32_t best = -1;
    std::sort(missing_.data(), missing_.data() + missing_.size(),
              [&](const Block& a, const Block& b) { return lines_.of(a.stack) < lines_.of(b.stack); });
    for (size_t i = 0; i < missing_.size();) {
      const int32_t line = lines_.of(missing_[i].stack);
      int64_t blocks = 0, bytes = 0;
      for (; i < missing_.size() && lines_.of(missing_[i].stack) == line; ++i) {
        ++blocks;
        add_saturated(bytes, missing_[i].bytes);
      }
      if (line < 0 || bytes <= found_->blocks_bytes) continue;
      best = line;
      found_->blocks = blocks;
      found_->blocks_bytes = bytes;
    }
    found_->who = lines_.who_of(recording_, best);
    found_->done = std::count_if(done_.begin(), done_.end(),
                                 [&](const Block& one) { return best >= 0 && lines_.of(one.stack) == best; });
  }

  const EventContext& context_;
  const model::Recording& recording_;
  const Keys& lines_;
  bool steps_are_sure_;
  int32_t failure_;
  Column<int64_t> least_;
  Column<Change> changes_;
  Column<Block> from_before_, from_before_there_;
  Column<Block> missing_{recording_.budget}, done_{recording_.budget};
  std::optional<NeededAtLeast> found_;
};

// Of the step that failed: the last beginning before it; -1 = none.
[[nodiscard]] int32_t failed_step(const Steps& steps, int32_t failure) {
  const int32_t* const next = std::upper_bound(steps.begin.begin(), steps.begin.end(), failure);
  return static_cast<int32_t>(next - steps.begin.begin()) - 1;
}

// An allocation of a backward pass in [first, end)?
[[nodiscard]] bool has_backward(const EventContext& context, const CallKinds& kinds, int32_t first,
                                int32_t end) {
  const model::EventTable& events = context.recording.events;
  for (int32_t event = first; event < end; ++event) {
    const size_t row = context.row(event);
    if (events.action[row] == trace::Action::alloc && (kinds.of(events.stack[row]) & kCallsBackward) != 0)
      return true;
  }
  return false;
}

}  // namespace

Result<std::optional<NeededAtLeast>> find_needed_at_least(const EventContext& context, const Steps& steps,
                                                          int32_t failure, const Keys* lines) {
  const auto no_memory = [] {
    return fail(ErrorCode::limit_exceeded, -1, "What the rest of the run needs does not fit into memory.");
  };
  const replay::BlockLives& lives = context.lifetimes;
  std::optional<Keys> own_lines;
  if (lines == nullptr) {
    auto found = find_keys(context.recording, By::line);
    if (!found) return tl::unexpected(found.error());
    lines = &own_lines.emplace(std::move(*found));
  }
  const bool steps_are_sure = steps.from != StepsFrom::loop || steps.sureness >= kSureLoop;
  Needing needing(context, *lines, steps_are_sure, failure);
  const int32_t failed = failed_step(steps, failure);
  CallKinds kinds(context.recording);
  if (!kinds.find()) return no_memory();
  const bool lacks_gradients =
      failed > 1 && steps_are_sure &&
      (kinds.of(context.recording.events.stack[context.row(failure)]) & kCallsBackward) == 0 &&
      !has_backward(context, kinds, steps.begin[failed], failure);
  for (int32_t step = failed - 1; step > 0 && step >= failed - kMostEarlierSteps; --step) {
    const auto i = static_cast<size_t>(step);
    const Stretch own = step_of(lives, steps, failed, failure);
    if (!needing.compare(own, step_of(lives, steps, step, steps.begin[i + 1]), step)) return no_memory();
    if (lacks_gradients) needing.add_gradients(kinds, steps.begin[i], steps.begin[i + 1], step);
  }
  for (const model::DeviceTrace& trace : context.part.traces) {
    if (trace.device == lives.device || trace.events.count == 0) continue;
    const auto other = replay::find_block_lives(context.recording, context.part, trace.device);
    if (!other) return tl::unexpected(other.error());
    if (!needing.compare(stretch_of(lives, 0, 0, failure), stretch_of(*other, 0, 0, trace.events.count), -1))
      return no_memory();
  }
  return needing.take();
}

Result<bool> is_before_backward(const EventContext& context, const Steps& steps, int32_t failure) {
  const model::EventTable& events = context.recording.events;
  CallKinds kinds(context.recording);
  if (!kinds.find()) return fail(ErrorCode::limit_exceeded, -1, "Stacks do not fit into memory.");
  const int32_t failed = failed_step(steps, failure);
  const int32_t begin = failed < 0 ? 0 : steps.begin[failed];
  bool trains = has_backward(context, kinds, 0, begin), compiled = false;
  for (int32_t event = begin; event <= failure; ++event) {
    const size_t row = context.row(event);
    if (event < failure && events.action[row] != trace::Action::alloc) continue;
    const StackId stack = events.stack[row];
    if (stack.is_none() || context.recording.stacks.frames_of(stack).empty()) return false;
    const uint16_t kind = kinds.of(stack);
    if ((kind & kCallsBackward) != 0) return false;
    trains |= (kind & kCallsTraining) != 0;
    for (const FrameId frame : context.recording.stacks.frames_of(stack)) {
      if (compiled) break;
      const trace::Frame& one = context.recording.frames[frame];
      compiled = context.recording.strings.view(one.name).find("::") != std::string_view::npos;
    }
  }
  return trains && compiled;
}

}  // namespace gpustrata::analysis
