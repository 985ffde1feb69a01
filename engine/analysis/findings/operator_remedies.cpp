#include "engine/analysis/findings/operator_remedies.h"

#include <algorithm>

#include "engine/analysis/live/repeats.h"
#include "engine/analysis/stacks/call_kinds.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] bool lacks_memory(const ExplainedOutOfMemory& one) {
  return one.has_state && (one.verdict == Verdict::full || one.verdict == Verdict::too_big ||
                           one.verdict == Verdict::fragmented);
}

[[nodiscard]] bool is_of_loss(uint16_t kind) {
  return (kind & kCallsCrossEntropy) != 0 && (kind & kCallsOptimizer) == 0;
}
[[nodiscard]] bool is_score(uint16_t kind) {
  return (kind & kCallsSoftmax) != 0 && (kind & kCallsAttention) != 0 && (kind & kCallsCrossEntropy) == 0;
}

class OperatorRemedies {
 public:
  explicit OperatorRemedies(const EventContext& context)
      : context_(context), recording_(context.recording), lives_(context.lifetimes), kinds_(recording_) {}

  [[nodiscard]] bool prepare() {
    if (!kinds_.find()) return false;
    constexpr uint16_t kTrains = kCallsBackward | kCallsOptimizer | kCallsTraining;
    trains_from_ = lives_.events.count;
    for (int32_t event = 0; event < lives_.events.count; ++event) {
      const size_t row = context_.row(event);
      if (recording_.events.action[row] != trace::Action::alloc ||
          (kinds_.of(recording_.events.stack[row]) & kTrains) == 0)
        continue;
      trains_from_ = event;
      break;
    }
    return true;
  }

  [[nodiscard]] Status add_to(ExplainedOutOfMemory& one) {
    least_ =
        static_cast<int64_t>(kLeastWorth * static_cast<double>(saturated_sum(one.allocated, one.requested)));
    add_sums(one);
    if (Status done = add_checkpoints(one); !done) return done;
    rank_remedies(one);
    return {};
  }

 private:
  [[nodiscard]] StackId stack_of(int32_t rank) const {
    return recording_.events.stack[context_.row(lives_.born[rank])];
  }

  // What blocks of one kind of operator hold, and who of it most: the largest block says so.
  struct Sum {
    int64_t bytes = 0, blocks = 0, largest_bytes = 0;
    int32_t largest = -1;
    bool avoided = false;  // a kernel that is the remedy is in use

    void add(int32_t rank, int64_t size) {
      add_saturated(bytes, size);
      ++blocks;
      if (size <= largest_bytes) return;
      largest_bytes = size;
      largest = rank;
    }
  };
  void add_sums(ExplainedOutOfMemory& one) {
    Sum loss, scores;
    for (int32_t rank = lives_.from_start; rank < lives_.count(); ++rank) {
      if (!lives_.is_live_after(rank, one.event)) continue;
      const uint16_t kind = kinds_.of(stack_of(rank));
      const int64_t size = lives_.size[rank];
      loss.avoided |= (kind & kCallsFusedLoss) != 0;
      scores.avoided |= (kind & kCallsFusedAttention) != 0;
      if (is_of_loss(kind)) loss.add(rank, size);
      if (is_score(kind)) scores.add(rank, size);
    }
    const uint16_t asked = kinds_.of(one.stack);
    loss.avoided |= (asked & kCallsFusedLoss) != 0;
    scores.avoided |= (asked & kCallsFusedAttention) != 0;
    add_sum(one, RemedyKind::chunked_loss, loss, is_of_loss(asked));
    add_sum(one, RemedyKind::fused_attention, scores, is_score(asked));
  }
  void add_sum(ExplainedOutOfMemory& one, RemedyKind kind, const Sum& sum, bool is_asked) const {
    const int64_t asked = is_asked ? one.requested : 0;
    const int64_t all = saturated_sum(sum.bytes, asked);
    const int64_t saved = kind == RemedyKind::chunked_loss ? all - all / kChunks : all;
    if (sum.avoided || saved < least_ || saved <= 0) return;
    Remedy remedy{kind, saved, sum.blocks};
    remedy.held = sum.bytes;
    remedy.asked = asked;
    remedy.who = asked > sum.largest_bytes ? one.who : who_of(recording_, stack_of(sum.largest));
    one.remedies.push_back(remedy);
  }

  [[nodiscard]] Status add_checkpoints(ExplainedOutOfMemory& one) {
    if (trains_from_ > one.event) return {};
    const auto repeats = find_repeats(recording_, lives_, one.event);
    if (!repeats) return tl::unexpected(repeats.error());
    for (const Repeat& repeat : *repeats) {
      if (repeat.outer >= 0 || !is_kept_of_forward(repeat)) continue;
      const int64_t saved = (repeat.count - 1) * repeat.bytes;
      if (saved < least_ || saved <= 0) continue;
      Remedy remedy{RemedyKind::checkpoint, saved, repeat.all_blocks()};
      remedy.held = repeat.count * repeat.bytes;
      remedy.repeats = repeat.count;
      remedy.each = repeat.bytes;
      remedy.place = repeat.place;
      if (!repeat.place.function.is_none()) remedy.who = who_of_frame(recording_, repeat.place.function);
      one.remedies.push_back(remedy);
    }
    return {};
  }
  [[nodiscard]] bool is_kept_of_forward(const Repeat& repeat) const {
    constexpr uint16_t kOthers = kCallsBackward | kCallsOptimizer | kCallsInit | kCallsCheckpoint;
    return std::all_of(repeat.ranks.begin(), repeat.ranks.end(), [&](int32_t rank) {
      const uint16_t kind = kinds_.of(stack_of(rank));
      return (kind & kCallsForward) != 0 && (kind & kOthers) == 0;
    });
  }

  const EventContext& context_;
  const model::Recording& recording_;
  const replay::BlockLives& lives_;
  CallKinds kinds_;
  int32_t trains_from_ = 0;  // the first event that only a training asks for
  int64_t least_ = 0;        // bytes that are worth saying
};

}  // namespace

Status add_operator_remedies(const EventContext& context, OutOfMemoryEvents& events) {
  if (std::none_of(events.explained.begin(), events.explained.end(), lacks_memory)) return {};
  OperatorRemedies remedies(context);
  if (!remedies.prepare())
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to look at what the program computes.");
  for (ExplainedOutOfMemory& one : events.explained) {
    if (!lacks_memory(one)) continue;
    if (Status done = remedies.add_to(one); !done) return done;
  }
  return {};
}

}  // namespace gpustrata::analysis
