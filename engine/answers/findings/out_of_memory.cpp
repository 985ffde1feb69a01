#include "engine/answers/findings/out_of_memory.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/analysis/device/pool_id.h"
#include "engine/analysis/device/stream_numbers.h"
#include "engine/analysis/findings/operator_remedies.h"
#include "engine/answers/common/moment.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/live/top.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/steps/steps_text.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/saturating.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::ExplainedOutOfMemory;
using analysis::FreePlace;
using analysis::NeededAtLeast;
using analysis::Remedy;
using analysis::RemedyKind;
using analysis::Verdict;
using analysis::Who;
using analysis::WhyNot;

namespace {

[[nodiscard]] std::string stream_text(const model::Recording& recording, StreamId stream) {
  return fmt::format("stream {}", analysis::handle_text(recording, stream));
}

// "the default pool, stream 0"
[[nodiscard]] std::string where_text(const model::Recording& recording, const FreePlace& place) {
  const bool is_private = !place.pool.is_none();
  return fmt::format(
      "{}, {}",
      is_private ? fmt::format("private pool ({})", analysis::pool_text(recording.pools[place.pool.index()]))
                 : std::string("the default pool"),
      stream_text(recording, place.stream));
}

// "3.8 GiB on the device and 0.8 GiB cached"
[[nodiscard]] std::string free_text(const ExplainedOutOfMemory& one) {
  std::string text = one.device_free ? size_text(*one.device_free) + " on the device and " : std::string();
  text += fmt::format("{} cached by PyTorch", size_text(one.cached));
  if (one.pending > 0) text += fmt::format(" ({} more wait for a stream)", size_text(one.pending));
  return text;
}

[[nodiscard]] std::string pieces_text(const ExplainedOutOfMemory& one) {
  return one.free_blocks == 1 ? std::string("in one piece")
                              : fmt::format("in {} of at most {}", counted(one.free_blocks, "piece"),
                                            size_text(one.largest_free));
}

// " Expandable segments grow by whole pages of 20.0 MiB.": the device had as much as was asked for. Else empty.
[[nodiscard]] std::string taken_text(const ExplainedOutOfMemory& one) {
  const bool expands = one.settings.expandable_segments.value_or(false);
  const int64_t usable = saturated_sum(one.device_free.value_or(0), expands ? one.largest_own : 0);
  if (!one.device_free || usable < one.requested) return {};
  if (expands)
    return fmt::format(" Expandable segments grow by whole pages of {}.",
                       size_text(one.settings.config.page_size(one.small)));
  return fmt::format(" For such a request the allocator takes a segment of {} from the device.",
                     size_text(one.needed));
}

[[nodiscard]] std::string asked_text(const model::Recording& recording, const ExplainedOutOfMemory& one) {
  if (one.who.kind == Who::Kind::nothing)
    return fmt::format("One {} block was requested.", size_text(one.requested));
  return fmt::format("{} requested one {} block.", who_text(recording, one.who), size_text(one.requested));
}

// " It was freed at event 57, 3 events before."
[[nodiscard]] std::string freed_text(const ExplainedOutOfMemory& one) {
  if (!one.fitting || one.fitting->freed_event < 0) return {};
  return fmt::format(" The last of it was freed at event {}, {} before the failure.",
                     count_text(one.fitting->freed_event),
                     counted(one.event - one.fitting->freed_event, "event"));
}

[[nodiscard]] std::string too_late_text(const ExplainedOutOfMemory& one) {
  if (one.fitting->is_pending)
    return fmt::format(
        "{} in one piece would have been large enough, but some of it is not usable yet: its free was requested{}, "
        "and waits for another stream (record_stream) or for the end of a graph capture.",
        size_text(one.fitting->bytes),
        one.fitting->freed_event < 0 ? std::string()
                                     : fmt::format(" at event {}", count_text(one.fitting->freed_event)));
  return fmt::format(
      "A free piece of {} is large enough, but it was freed too late: its free waited for another stream "
      "(record_stream) and was completed{} when the allocator flushed its cache for this request. After that it "
      "asks the device, and does not search its cache again (pytorch #189504).",
      size_text(one.fitting->bytes),
      one.fitting->freed_event < 0 ? std::string()
                                   : fmt::format(" at event {},", count_text(one.fitting->freed_event)));
}

[[nodiscard]] std::string elsewhere_text(const model::Recording& recording, const ExplainedOutOfMemory& one) {
  for (const FreePlace& place : one.places) {
    if (place.own || place.largest < one.requested || place.small != one.small) continue;
    return fmt::format(
        "A free piece of {} would have been large enough, but it belongs to {}; the request was for {}.{}",
        size_text(place.largest), where_text(recording, place), stream_text(recording, one.stream),
        one.fitting && one.fitting->bytes == place.largest ? freed_text(one) : std::string());
  }
  return fmt::format("{} would have been enough, but private pools keep a part of it.", free_text(one));
}

}  // namespace

std::string_view name_of(Verdict verdict) { return word_for(verdict); }

std::string_view words_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::too_big:
      return "more than the device could give";
    case Verdict::full:
      return "the device was full";
    case Verdict::fragmented:
      return "enough was free, but in pieces";
    case Verdict::elsewhere:
      return "the free memory belonged to another stream or pool";
    case Verdict::too_late:
      return "enough was freed, but too late";
    case Verdict::limit:
      return "a limit was reached";
    case Verdict::unknown:
      break;
  }
  return "the file does not show why";
}

std::string_view name_of(RemedyKind kind) { return word_for(kind); }

namespace {

[[nodiscard]] std::string reason_text(const model::Recording& recording, const ExplainedOutOfMemory& one) {
  const std::string asked = asked_text(recording, one);
  switch (one.verdict) {
    case Verdict::too_big:
      return fmt::format("{} That is more than the device could give this process with everything freed: {}.",
                         asked,
                         size_text(saturated_sum(one.device_free.value_or(0), one.reserved.value_or(0))));
    case Verdict::full:
      if (one.room >= one.requested)
        return fmt::format("{} Only {} was left: {}.{}", asked, size_text(one.room), free_text(one),
                           taken_text(one));
      return fmt::format("{} Only {} was left: {}. The other {} is in use: no cached memory could make room.",
                         asked, size_text(one.room), free_text(one), size_text(one.allocated));
    case Verdict::fragmented:
      return fmt::format("{} {} was free, enough in total, but {}: {}, the latter {}.{}", asked,
                         size_text(one.room),
                         std::max(one.device_free.value_or(0), one.largest_free) >= one.requested
                             ? "not in a form that the allocator can take"
                             : "not contiguous",
                         free_text(one), pieces_text(one), taken_text(one));
    case Verdict::elsewhere:
      return fmt::format("{} {}", asked, elsewhere_text(recording, one));
    case Verdict::too_late:
      return fmt::format("{} {}", asked, too_late_text(one));
    case Verdict::limit:
      if (one.settings.memory_fraction())
        return fmt::format(
            "{} The settings limit this process to {:.0f} % of the device, where {} was free.", asked,
            100 * *one.settings.memory_fraction(),
            one.device_free ? size_text(*one.device_free) : std::string("an unknown number of bytes"));
      if (one.largest_own >= one.requested)
        return fmt::format(
            "{} A free piece of {} would have been large enough, but max_split_size ({}) keeps it "
            "from such a request.",
            asked, size_text(one.largest_own), size_text(one.settings.config.max_split_size));
      return fmt::format(
          "{} The device had {} free, and refused all the same: a limit on this process "
          "(set_per_process_memory_fraction, a container, the driver), which no snapshot tells.",
          asked, size_text(one.device_free.value_or(0)));
    case Verdict::unknown:
      break;
  }
  if (!one.has_state)
    return fmt::format(
        "{} {} was allocated then{}. What the device had free, and in what pieces, a profiler's trace does not say; "
        "a memory snapshot of the same moment does.",
        asked, size_text(one.allocated),
        one.reserved ? fmt::format(", {} reserved", size_text(*one.reserved)) : std::string());
  return fmt::format("{} This file does not show why it failed: {}, the latter {}.", asked, free_text(one),
                     pieces_text(one));
}

}  // namespace

std::string verdict_text(const model::Recording& recording, const ExplainedOutOfMemory& one) {
  std::string reason = reason_text(recording, one);
  if (!one.ends_recording) return reason;
  const std::string rest = one.needed_at_least
                               ? ". " + needed_at_least_text(recording, *one.needed_at_least)
                               : fmt::format(", so how much the whole run needs is unknown.{}",
                                             one.before_backward ? " Its backward pass had not begun." : "");
  return fmt::format("{} The recording has no allocation on this device after this request{}", reason, rest);
}

std::string needed_at_least_text(const model::Recording& recording, const NeededAtLeast& needed) {
  if (needed.gradients > 0)
    return fmt::format(
        "Its backward pass had not begun. That of step {} ended with {} of gradients; together "
        "with older memory that is still in use, this one needs at least {} at once: {} more than "
        "what was in use plus this request.",
        count_text(needed.step), size_text(needed.gradients), exact_size_text(needed.bytes),
        size_text(needed.more));
  const std::string reference =
      needed.step >= 0 ? fmt::format("step {}", count_text(needed.step)) : device_text(needed.device);
  std::string text = fmt::format(
      "If the run continues like {}, which began with the same {}{}, it needs at least {} in use at "
      "once: {} more than what was in use plus this request.",
      reference, counted(needed.same, "allocation"), needed.same_sizes ? "" : " in other sizes",
      exact_size_text(needed.bytes), size_text(needed.more));
  if (needed.who.kind != Who::Kind::nothing)
    text += fmt::format(" Of {} by {}, {} had been allocated.", counted(needed.done + needed.blocks, "block"),
                        who_text(recording, needed.who), count_text(needed.done));
  return text;
}

namespace {

// "holds 3.9 GiB in 1 block and asks for 3.9 GiB more"
[[nodiscard]] std::string held_text(const Remedy& remedy) {
  std::string asked = "asks for " + size_text(remedy.asked);
  if (remedy.held == 0) return asked;
  return fmt::format("holds {} in {}{}", size_text(remedy.held), counted(remedy.blocks, "block"),
                     remedy.asked > 0 ? " and " + asked + " more" : std::string());
}

}  // namespace

std::string remedy_text(const model::Recording& recording, const ExplainedOutOfMemory& one,
                        const Remedy& remedy) {
  const std::string bytes = size_text(remedy.bytes.value_or(0));
  switch (remedy.kind) {
    case RemedyKind::expandable_segments: {
      const int64_t joined = saturated_sum(one.device_free.value_or(0), *remedy.bytes);
      const std::string before_text =
          remedy.reserved_before > 0
              ? fmt::format(" from the start of the recording on ({} was reserved before)",
                            size_text(remedy.reserved_before))
              : std::string();
      const std::string tried =
          !remedy.confirmed ? std::string()
          : *remedy.confirmed
              ? fmt::format(
                    " Replayed with this setting{}, the recorded requests fit, with at most {} reserved{}.",
                    before_text, needed_text(remedy.reserved_then),
                    one.ends_recording ? "; whether the rest of the run fits is unknown" : "")
              : fmt::format(" Replayed with this setting{}, the recorded requests still ran out of memory.",
                            before_text);
      return fmt::format(
          "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: the {} in pieces can join with what the "
          "device has, up to {} in one piece.{}",
          bytes, size_text(joined), tried);
    }
    case RemedyKind::free_pins:
      return fmt::format(
          "Freeing {} ({}{}) lets {} return to the device, {} in all{}.", counted(remedy.blocks, "block"),
          size_text(remedy.pinned_bytes),
          remedy.who.kind == Who::Kind::nothing ? std::string()
                                                : ", first those of " + who_text(recording, remedy.who),
          counted(remedy.segments, "segment"), bytes,
          remedy.missing > 0
              ? fmt::format(": not enough, {} would still be missing", size_text(remedy.missing))
              : std::string());
    case RemedyKind::smaller_request:
      return fmt::format(
          "A request of {} would have fit: split this one into chunks, or use a shorter sequence or a smaller batch.",
          fitting_text(saturated_difference(one.requested, *remedy.bytes)));
    case RemedyKind::use_less: {
      constexpr std::string_view kHow =
          "a smaller batch, checkpointing, offloading, or sharding over more devices";
      if (one.needed_at_least)
        return fmt::format(
            "Use at least {} less at once, as much as is missing for this request and the rest of the run: {}.",
            bytes, kHow);
      return fmt::format("Use at least {} less when this request is made: {}.", bytes, kHow);
    }
    case RemedyKind::largest_holder:
      return fmt::format("Look at {}: it holds the most, {} in {}.", who_text(recording, remedy.who), bytes,
                         counted(remedy.blocks, "block"));
    case RemedyKind::checkpoint:
      return fmt::format(
          "Checkpoint {} (torch.utils.checkpoint): {} times {} are kept for the backward pass. "
          "Recomputing them one at a time saves up to {}; what each passes on to the next stays.",
          loop_text(recording, remedy.place), count_text(remedy.repeats), size_text(remedy.each), bytes);
    case RemedyKind::fused_attention:
      return fmt::format(
          "Use fused attention (torch.nn.functional.scaled_dot_product_attention, FlashAttention), which never keeps the "
          "scores: their softmax ({}) {}.",
          who_text(recording, remedy.who), held_text(remedy));
    case RemedyKind::chunked_loss:
      return fmt::format(
          "Compute the loss in chunks, each with its own backward pass or under checkpointing, or with a fused linear cross "
          "entropy: the cross entropy ({}) {}. In {} chunks an eighth of that is in use at a time.",
          who_text(recording, remedy.who), held_text(remedy), analysis::kChunks);
    case RemedyKind::ask_again:
      return fmt::format(
          "Retry: the same request now finds the {}. Or call torch.cuda.synchronize() before it, so "
          "that the frees complete earlier; or avoid record_stream.",
          bytes);
    case RemedyKind::free_pending:
      return fmt::format(
          "{} was freed but still waits for another stream: synchronize first, or avoid record_stream.",
          bytes);
    case RemedyKind::share_streams:
      return fmt::format("{} is cached for other streams or pools: allocate there, or free it first.", bytes);
    case RemedyKind::raise_limit:
      return "Raise the limit of this process: torch.cuda.set_per_process_memory_fraction, per_process_memory_fraction, "
             "or that of its container.";
    case RemedyKind::other_processes:
      break;
  }
  return "Look with nvidia-smi for what else is on the device: no snapshot tells what other processes and libraries "
         "hold.";
}

std::string_view code_of(RemedyKind kind) {
  if (kind == RemedyKind::expandable_segments) return "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
  if (kind == RemedyKind::raise_limit) return "torch.cuda.set_per_process_memory_fraction(1.0)";
  return "";
}

std::string_view why_text(const FreePlace& place) {
  switch (place.why) {
    case WhyNot::too_small:
      return "too small";
    case WhyNot::other_stream:
      return "large enough, but of another stream";
    case WhyNot::private_pool:
      return "large enough, but of another pool";
    case WhyNot::small_or_large:
      return place.small ? "for requests up to 1 MiB only" : "for requests above 1 MiB only";
    case WhyNot::max_split:
      return "large enough, but kept by max_split_size";
    case WhyNot::nothing:
      break;
  }
  return "would have served";
}

std::string place_text(const model::Recording& recording, const FreePlace& place) {
  return fmt::format("{}: {} in {}, the largest {}: {}", place_name(recording, place),
                     size_text(place.cached), counted(place.blocks, "piece"), size_text(place.largest),
                     why_text(place));
}

std::string place_name(const model::Recording& recording, const FreePlace& place) {
  return fmt::format("{}, {} blocks", where_text(recording, place), place.small ? "small" : "large");
}

void describe_place(Members& m, const model::Recording& recording, const FreePlace& place) {
  m.text("name", [&] { return place_name(recording, place); });
  m.text("stream", [&] { return analysis::handle_text(recording, place.stream); });
  describe_pool(m, recording, place.pool);
  m.flag({"small", "Of blocks up to 1 MiB."}, place.small);
  m.bytes("reserved_bytes", place.reserved);
  m.count("segments", place.segments);
  m.bytes("empty_segments_bytes", place.empty_segments);
  m.bytes("cached_bytes", place.cached);
  m.bytes("largest_free_bytes", place.largest);
  m.count({"blocks", "Free pieces."}, place.blocks);
}

void describe(Members& m, const model::Recording& recording, const ExplainedOutOfMemory& one) {
  const auto of_state = [&](int64_t bytes) { return one.has_state ? std::optional(bytes) : std::nullopt; };
  m.is({"ExplainedOutOfMemory", "Why a request failed. What is null is not known."});
  m.count("event", one.event);
  m.microseconds("time_us", one.time_us);
  m.bytes("requested_bytes", one.requested);
  m.bytes({"needed_bytes", "From the device."}, of_state(one.needed));
  m.bytes("device_free_bytes", one.device_free);
  m.bytes("reserved_bytes", one.reserved);
  m.bytes("allocated_bytes", one.allocated);
  m.bytes("pending_bytes", of_state(one.pending));
  m.bytes("cached_bytes", of_state(one.cached));
  m.bytes({"largest_free_bytes", "Of any stream and pool."}, of_state(one.largest_free));
  m.bytes({"largest_own_bytes", "Of the request's own."}, of_state(one.largest_own));
  m.text("who", [&] { return who_or_none(recording, one.who); });
  describe_stack(m, recording, one.stack);
  m.flag("expandable_segments", one.settings.expandable_segments);
  m.word("verdict", one.verdict);
  m.text("text", [&] { return verdict_text(recording, one); });
  m.object({"needed_at_least", "In use at once, as far as the file shows; null: cannot be told."},
           one.needed_at_least, [&](const NeededAtLeast& needed) {
             m.bytes("bytes", needed.bytes);
             m.bytes({"more_bytes", "Than what was in use and the request."}, needed.more);
             m.count("device", needed.device);
             m.count({"step", "-1 = none."}, needed.step);
             m.count({"event", "Of the reference."}, needed.event);
             m.count("same_allocations", needed.same);
             m.flag("same_sizes", needed.same_sizes);
             m.bytes({"gradients_bytes", "Told by the gradients of that step alone; 0 = by its allocations."},
                     needed.gradients);
             m.text("text", [&] { return needed_at_least_text(recording, needed); });
           });
  m.flag({"before_backward", "No backward pass had begun in the step that failed, as far as stacks tell."},
         one.before_backward);
  m.list("free", one.places, [&](const FreePlace& place) {
    describe_place(m, recording, place);
    m.flag({"own", "The request looks here."}, place.own);
    m.text("why_text", [&] { return why_text(place); });
    m.word("why", place.why);
  });
  m.list("remedies", one.remedies, [&](const Remedy& remedy) {
    m.word("name", remedy.kind);
    m.bytes("bytes", remedy.bytes);
    m.text("text", [&] { return remedy_text(recording, one, remedy); });
    m.flag({"confirmed", "The recorded run was run again with it; null = it was not."}, remedy.confirmed);
    m.text("code", [&] { return or_none(std::string(code_of(remedy.kind))); });
    m.text("filter", [&] { return filter_text(recording, remedy.who, fmt::format("alive@{}", one.event)); });
  });
}

}  // namespace gpustrata::answers
