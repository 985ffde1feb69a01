#include "engine/answers/findings/out_of_memory.h"

#include <fmt/core.h>

#include "engine/analysis/device/pool_id.h"
#include "engine/analysis/device/stream_numbers.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/live/top.h"
#include "engine/answers/stacks/who.h"
#include "engine/base/saturating.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::ExplainedOutOfMemory;
using analysis::FreePlace;
using analysis::Remedy;
using analysis::RemedyKind;
using analysis::Verdict;
using analysis::Who;
using analysis::WhyNot;

namespace {

[[nodiscard]] std::string_view why_name(WhyNot why) {
  switch (why) {
    case WhyNot::too_small:
      return "too_small";
    case WhyNot::other_stream:
      return "other_stream";
    case WhyNot::private_pool:
      return "private_pool";
    case WhyNot::small_or_large:
      return "small_or_large";
    case WhyNot::max_split:
      return "max_split";
    case WhyNot::nothing:
      break;
  }
  return "nothing";
}

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

[[nodiscard]] std::string asked_text(const model::Recording& recording, const ExplainedOutOfMemory& one) {
  const std::string by =
      one.who.kind == Who::Kind::nothing ? std::string() : " by " + who_text(recording, one.who);
  return fmt::format("{} were asked for in one piece{}.", size_text(one.requested), by);
}

[[nodiscard]] std::string elsewhere_text(const model::Recording& recording, const ExplainedOutOfMemory& one) {
  for (const FreePlace& place : one.places) {
    if (place.own || place.largest < one.requested || place.small != one.small) continue;
    return fmt::format(
        "A free piece of {} would have been large enough, but it is of {}; the request was of {}.",
        size_text(place.largest), where_text(recording, place), stream_text(recording, one.stream));
  }
  return fmt::format("{} would have been enough, but a part of it is kept by private pools.", free_text(one));
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::too_big:
      return "too_big";
    case Verdict::full:
      return "full";
    case Verdict::fragmented:
      return "fragmented";
    case Verdict::elsewhere:
      return "elsewhere";
    case Verdict::limit:
      return "limit";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

std::string_view words_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::too_big:
      return "more than the device holds";
    case Verdict::full:
      return "the device was full";
    case Verdict::fragmented:
      return "enough was free, but in pieces";
    case Verdict::elsewhere:
      return "the free memory was of another stream or pool";
    case Verdict::limit:
      return "a limit was reached";
    case Verdict::unknown:
      break;
  }
  return "the reason is not in the file";
}

std::string_view name_of(RemedyKind kind) {
  switch (kind) {
    case RemedyKind::expandable_segments:
      return "expandable_segments";
    case RemedyKind::free_pins:
      return "free_pins";
    case RemedyKind::smaller_request:
      return "smaller_request";
    case RemedyKind::use_less:
      return "use_less";
    case RemedyKind::largest_holder:
      return "largest_holder";
    case RemedyKind::pending:
      return "free_pending";
    case RemedyKind::share_streams:
      return "share_streams";
    case RemedyKind::raise_limit:
      return "raise_limit";
    case RemedyKind::other_processes:
      break;
  }
  return "other_processes";
}

namespace {

[[nodiscard]] std::string reason_text(const model::Recording& recording, const ExplainedOutOfMemory& one) {
  const std::string asked = asked_text(recording, one);
  switch (one.verdict) {
    case Verdict::too_big:
      return fmt::format("{} That is more than the device could give this process with everything freed: {}.",
                         asked,
                         size_text(saturated_sum(one.device_free.value_or(0), one.reserved.value_or(0))));
    case Verdict::full:
      return fmt::format(
          "{} Only {} were left: {}. The other {} are in use: live blocks alone leave no room.", asked,
          size_text(one.room), free_text(one), size_text(one.allocated));
    case Verdict::fragmented:
      return fmt::format("{} {} were free, which is enough, but nowhere in one piece: {}, the latter {}.",
                         asked, size_text(one.room), free_text(one), pieces_text(one));
    case Verdict::elsewhere:
      return fmt::format("{} {}", asked, elsewhere_text(recording, one));
    case Verdict::limit:
      if (one.settings.memory_fraction())
        return fmt::format(
            "{} The settings limit this process to {:.0f} % of the device, where {} were free.", asked,
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
        "{} {} were allocated then{}. What the device had free, and in what pieces, a profiler's trace does not say; "
        "a memory snapshot of the same moment does.",
        asked, size_text(one.allocated),
        one.reserved ? fmt::format(", {} reserved", size_text(*one.reserved)) : std::string());
  return fmt::format("{} Why that failed cannot be told from this file: {}, the latter {}.", asked,
                     free_text(one), pieces_text(one));
}

}  // namespace

std::string verdict_text(const model::Recording& recording, const ExplainedOutOfMemory& one) {
  const std::string reason = reason_text(recording, one);
  return one.ends_recording ? "The recording ends at this request: what came after is not in it. " + reason
                            : reason;
}

std::string remedy_text(const model::Recording& recording, const ExplainedOutOfMemory& one,
                        const Remedy& remedy) {
  const std::string bytes = size_text(remedy.bytes.value_or(0));
  switch (remedy.kind) {
    case RemedyKind::expandable_segments: {
      const int64_t joined = saturated_sum(one.device_free.value_or(0), *remedy.bytes);
      const std::string tried =
          !remedy.confirmed ? std::string()
          : *remedy.confirmed
              ? fmt::format(
                    " Replayed with this setting, the recorded requests fit, with at most {} reserved{}.",
                    needed_text(remedy.reserved_then),
                    one.ends_recording ? "; whether the rest of the run fits cannot be told" : "")
              : std::string(" Replayed with this setting, the recorded requests still ran out of memory.");
      return fmt::format(
          "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: the {} in pieces can join with what the "
          "device has, up to {} in one piece.{}",
          bytes, size_text(joined), tried);
    }
    case RemedyKind::free_pins:
      return fmt::format(
          "Free {} ({}{}) and {} go back to the device, {} in all{}.", counted(remedy.blocks, "block"),
          size_text(remedy.pinned_bytes),
          remedy.who.kind == Who::Kind::nothing ? std::string()
                                                : ", first those of " + who_text(recording, remedy.who),
          counted(remedy.segments, "segment"), bytes,
          remedy.missing > 0
              ? fmt::format(": not enough, {} would still be missing", size_text(remedy.missing))
              : std::string());
    case RemedyKind::smaller_request:
      return fmt::format(
          "Ask for {} less in one piece: {} would have been there. In chunks, with a shorter sequence "
          "or a smaller batch.",
          bytes, size_text(saturated_difference(one.requested, *remedy.bytes)));
    case RemedyKind::use_less:
      return fmt::format(
          "Hold {} less when this is asked for: a smaller batch, checkpointing, offloading, or "
          "sharding over more devices.",
          bytes);
    case RemedyKind::largest_holder:
      return fmt::format("Look at {}: it holds most, {} in {}.", who_text(recording, remedy.who), bytes,
                         counted(remedy.blocks, "block"));
    case RemedyKind::pending:
      return fmt::format(
          "{} are freed but wait for another stream: synchronise before, or avoid record_stream.", bytes);
    case RemedyKind::share_streams:
      return fmt::format("{} are cached for other streams or pools: allocate there, or free them before.",
                         bytes);
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

void place_to_json(JsonWriter& json, const model::Recording& recording, const FreePlace& place) {
  json.member("name", place_name(recording, place));
  json.member("stream", analysis::handle_text(recording, place.stream));
  json.key("pool");
  pool_to_json(json, recording, place.pool);
  json.member("small", place.small);
  json.member("reserved_bytes", place.reserved);
  json.member("segments", place.segments);
  json.member("empty_segments_bytes", place.empty_segments);
  json.member("cached_bytes", place.cached);
  json.member("largest_free_bytes", place.largest);
  json.member("blocks", place.blocks);
}

void to_json(JsonWriter& json, const model::Recording& recording, const ExplainedOutOfMemory& one) {
  json.begin_object();
  json.member("event", one.event);
  json.member("time_us", one.time_us);
  json.member("requested_bytes", one.requested);
  const auto of_state = [&](int64_t bytes) { return one.has_state ? std::optional(bytes) : std::nullopt; };
  json.member("needed_bytes", of_state(one.needed));
  json.member("device_free_bytes", one.device_free);
  json.member("reserved_bytes", one.reserved);
  json.member("allocated_bytes", one.allocated);
  json.member("pending_bytes", of_state(one.pending));
  json.member("cached_bytes", of_state(one.cached));
  json.member("largest_free_bytes", of_state(one.largest_free));
  json.member("largest_own_bytes", of_state(one.largest_own));
  who_to_json(json, recording, one.who);
  stack_to_json(json, recording, one.stack);
  json.member("expandable_segments", one.settings.expandable_segments);
  json.member("verdict", name_of(one.verdict));
  json.member("text", verdict_text(recording, one));
  json.key("free");
  json.begin_array();
  for (const FreePlace& place : one.places) {
    json.begin_object();
    place_to_json(json, recording, place);
    json.member("own", place.own);
    json.member("why_text", why_text(place));
    json.member("why", why_name(place.why));
    json.end_object();
  }
  json.end_array();
  json.key("remedies");
  json.begin_array();
  for (const Remedy& remedy : one.remedies) {
    json.begin_object();
    json.member("name", name_of(remedy.kind));
    json.member("bytes", remedy.bytes);
    json.member("text", remedy_text(recording, one, remedy));
    json.member("confirmed", remedy.confirmed);
    const std::string_view code = code_of(remedy.kind);
    json.member("code", code.empty() ? std::nullopt : std::optional(code));
    json.member("filter", filter_text(recording, remedy.who, fmt::format("alive@{}", one.event)));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void to_json(JsonWriter& json, const model::Recording& recording, const analysis::OutOfMemoryEvents& events) {
  json.begin_array();
  for (const ExplainedOutOfMemory& one : events.explained) to_json(json, recording, one);
  json.end_array();
}

}  // namespace gpustrata::answers
