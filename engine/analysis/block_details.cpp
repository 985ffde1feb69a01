#include "engine/analysis/block_details.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/analysis/block_sources.h"
#include "engine/analysis/bounded_json.h"
#include "engine/analysis/frame_filter.h"
#include "engine/analysis/no_stack_reasons.h"
#include "engine/analysis/pool_id.h"
#include "engine/analysis/stream_numbers.h"
#include "engine/base/json_writer.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"
#include "engine/trace/action.h"

namespace memstrata::analysis {

using model::Owner;
using model::RowRange;
using trace::Action;

namespace {

// All that block_details_json looks up before it writes.
struct Facts {
  const model::Recording& recording;
  const model::Snapshot& snapshot;
  const replay::Lifetimes& lifetimes;
  int32_t rank;

  uint64_t address = 0;
  int32_t born = -1;
  int32_t freed = -1;       // -1 = never
  int32_t request = -1;     // event of free_requested
  int32_t free_event = -1;  // the event that tells of the free: the request, else the completion
  int32_t final_block = -1;
  int32_t segment = -1;
  StackFrom whose = StackFrom::nothing;
  StackId stack{};

  [[nodiscard]] size_t row(int32_t event) const {
    return static_cast<size_t>(lifetimes.events.first + event);
  }
  [[nodiscard]] const model::EventTable& events() const { return recording.events; }
  [[nodiscard]] std::string_view text(StringId id) const { return recording.strings.view(id); }

  [[nodiscard]] std::optional<int64_t> time(int32_t event) const {
    if (event < 0 || events().time_us[row(event)] == model::kNoTime) return std::nullopt;
    return events().time_us[row(event)];
  }
};

[[nodiscard]] Facts look_up(const model::Recording& recording, const model::Snapshot& snapshot,
                            const replay::Lifetimes& lifetimes, int32_t rank) {
  const auto r = static_cast<size_t>(rank);
  Facts facts{recording, snapshot, lifetimes, rank};
  facts.address = lifetimes.address(recording, rank);
  facts.born = lifetimes.born[r];
  const bool live_at_end = lifetimes.freed[r] >= lifetimes.events.count;
  facts.freed = live_at_end ? -1 : lifetimes.freed[r];
  facts.segment = find_segment(recording, snapshot, lifetimes.device, facts.address);
  if (rank < lifetimes.from_start && lifetimes.source[r] >= 0) {
    facts.final_block = lifetimes.source[r];
  } else if (live_at_end) {
    facts.final_block = find_final_block(recording, snapshot, lifetimes.device, facts.address);
  }
  const FreeOf free = find_free(recording, lifetimes, rank, facts.final_block);
  facts.request = free.request;
  facts.free_event = free.event;
  const BlockStack chosen = choose_stack(recording, lifetimes, rank, facts.final_block, facts.free_event);
  facts.stack = chosen.stack;
  facts.whose = chosen.from;
  if (chosen.from == StackFrom::free && facts.request >= 0 &&
      whose_free_stacks(recording, lifetimes) == FreeStacks::of_the_alloc) {
    facts.whose = StackFrom::alloc;
  }
  return facts;
}

void write_place(JsonWriter& json, const Facts& facts) {
  const model::Recording& recording = facts.recording;
  const int32_t event = facts.born >= 0 ? facts.born : facts.free_event;
  StreamId stream;
  PoolId pool;
  bool pool_from_event = false;
  if (event >= 0) {
    stream = facts.events().stream[facts.row(event)];
    pool = facts.events().pool[facts.row(event)];
    pool_from_event = !pool.is_none();
  }
  if (facts.segment >= 0) {
    const auto segment = static_cast<size_t>(facts.segment);
    if (event < 0) stream = recording.segments.stream[segment];
    if (pool.is_none()) pool = recording.segments.pool[segment];
  }
  json.member("stream", StreamNumbers(recording, facts.snapshot)[stream]);
  json.member("stream_handle", handle_text(recording, stream));
  json.key("pool");
  write_pool(json, recording, pool);
  json.key("pool_from");
  pool.is_none() ? json.null() : json.value(pool_from_event ? "event" : "segment");
}

void write_life(JsonWriter& json, const Facts& facts) {
  const int32_t count = facts.lifetimes.events.count;
  const auto event_or_null = [](int32_t event) {
    return event < 0 ? std::optional<int32_t>() : std::optional<int32_t>(event);
  };
  json.member("born_event", facts.born);
  json.member("free_requested_event", event_or_null(facts.request));
  json.member("freed_event", event_or_null(facts.freed));
  const auto born_time = facts.time(facts.born), freed_time = facts.time(facts.freed);
  json.member("born_time_us", born_time);
  json.member("freed_time_us", freed_time);
  json.member("lifetime_events", (facts.freed < 0 ? count : facts.freed) - std::max(facts.born, 0));
  json.key("lifetime_us");
  int64_t lifetime_us = 0;
  if (born_time && freed_time && !__builtin_sub_overflow(*freed_time, *born_time, &lifetime_us)) {
    json.value(lifetime_us);
  } else {
    json.null();
  }
  json.key("total_after");
  if (facts.born >= 0) {
    json.value(facts.lifetimes.level_after(facts.born));
  } else {
    json.null();
  }
}

void write_text(JsonWriter& json, std::string_view name, StringId text, const Facts& facts) {
  json.key(name);
  if (text.is_none()) {
    json.null();
  } else {
    json.value(utf8::cut(facts.text(text), kLongestText));
  }
}

[[nodiscard]] int64_t write_annotations(JsonWriter& json, const Facts& facts) {
  const model::EventTable& events = facts.events();
  json.key("annotations");
  json.begin_array();
  Room room(json);
  const int32_t end = facts.freed < 0 ? facts.lifetimes.events.count : facts.freed;
  for (int32_t event = facts.born + 1; event < end; ++event) {
    const size_t row = facts.row(event);
    if (events.action[row] != Action::annotate || events.address[row] != facts.address) continue;
    if (room.for_one_more()) json.value(in_list(facts.text(events.metadata[row])));
  }
  if (room.left_out() > 0) json.value(more_text(room.left_out()));
  json.end_array();
  return room.left_out();
}

[[nodiscard]] int64_t write_extras(JsonWriter& json, const Facts& facts, const BlockTexts& texts) {
  json.key("extras");
  json.begin_object();
  Room room(json);
  const auto write = [&](Owner owner, int32_t row, std::string_view of) {
    const RowRange range = facts.recording.extras_of(owner, row);
    for (int32_t i = range.first; i < range.end(); ++i) {
      const auto k = static_cast<size_t>(i);
      const std::string_view key = facts.text(facts.recording.extras.key[k]);
      if (key == kForwardFrames || !room.for_one_more()) continue;
      json.member(in_list(key) + std::string(of), in_list(facts.text(facts.recording.extras.value[k])));
    }
  };
  const bool traced = facts.born >= 0;
  if (traced) write(Owner::event, facts.lifetimes.events.first + facts.born, "");
  if (facts.final_block >= 0) write(Owner::block, facts.final_block, traced ? " of the block" : "");
  if (!traced && facts.free_event >= 0) {
    // What the free says is about the moment of the free, so it is not shown as the block's own.
    if (!texts.free_context.is_none())
      json.member("compile_context of the free", in_list(facts.text(texts.free_context)));
    if (!texts.free_metadata.is_none())
      json.member("user_metadata of the free", in_list(facts.text(texts.free_metadata)));
    write(Owner::event, facts.lifetimes.events.first + facts.free_event, " of the free");
  }
  if (room.left_out() > 0) json.member(more_text(room.left_out()), "");
  json.end_object();
  return room.left_out();
}

[[nodiscard]] std::optional<std::string_view> name_of(StackFrom from) {
  switch (from) {
    case StackFrom::alloc:
      return "alloc";
    case StackFrom::free:
      return "free";
    case StackFrom::block:
      return "block";
    case StackFrom::nothing:
      break;
  }
  return std::nullopt;
}

[[nodiscard]] int64_t write_frames(JsonWriter& json, const Facts& facts) {
  json.key("frames");
  const int64_t left_out = analysis::write_frames(
      json, facts.recording, facts.whose == StackFrom::nothing ? StackId() : facts.stack);
  json.member("stack_of", name_of(facts.whose));
  return left_out;
}

void write_forward_frames(JsonWriter& json, const Facts& facts) {
  StringId found;
  const auto look_in = [&](Owner owner, int32_t row) {
    const RowRange range = facts.recording.extras_of(owner, row);
    for (int32_t i = range.first; i < range.end() && found.is_none(); ++i) {
      const auto k = static_cast<size_t>(i);
      if (facts.text(facts.recording.extras.key[k]) == kForwardFrames)
        found = facts.recording.extras.value[k];
    }
  };
  if (facts.born >= 0) look_in(Owner::event, facts.lifetimes.events.first + facts.born);
  if (facts.final_block >= 0) look_in(Owner::block, facts.final_block);
  if (facts.born < 0 && facts.free_event >= 0)
    look_in(Owner::event, facts.lifetimes.events.first + facts.free_event);
  write_text(json, "forward_frames", found, facts);
}

// Why is there no stack? Only what this recording really says, the most certain first.
[[nodiscard]] std::vector<std::string> no_stack_reasons(const Facts& facts) {
  std::vector<std::string> reasons;
  if (facts.whose != StackFrom::nothing) return reasons;
  const RowRange range = facts.lifetimes.events;
  const StacksThere there = stacks_there(facts.recording, range);
  if (facts.born >= 0) {
    if (!facts.events().stack[facts.row(facts.born)].is_none()) {
      reasons.emplace_back(kEmptyStack);
    } else if (there.any_frames) {
      reasons.emplace_back(
          "This alloc has no stack while other events have one: the context was changed during the "
          "recording, or "
          "recording was switched on again with other settings.");
    }
  } else if (range.count == 0) {
    reasons.emplace_back(
        "The file has no history for this device, only its memory at the end. Call "
        "torch.cuda.memory._record_memory_history() before the part you want to see.");
  } else {
    reasons.emplace_back(
        "The block was allocated before the first event of this recording: either before recording was "
        "switched on, "
        "or its alloc was dropped because the history was full (max_entries).");
    if (facts.final_block >= 0) {
      reasons.emplace_back(
          facts.recording.blocks.stack[static_cast<size_t>(facts.final_block)].is_none()
              ? "It is known from the memory state at the end, where it has no frames."
              : "It is known from the memory state at the end, where its list of frames is empty: no "
                "stack was taken when it was allocated.");
    } else {
      reasons.emplace_back(facts.free_event < 0 || facts.events().stack[facts.row(facts.free_event)].is_none()
                               ? "It is known only by its free, which has no frames."
                               : "It is known only by its free, whose list of frames is empty.");
    }
  }
  if (range.count > 0 && !there.any_frames) reasons.emplace_back(there.any ? kNoFrames : kNoStacks);
  return reasons;
}

}  // namespace

std::string block_name(uint64_t address, uint32_t version) {
  return fmt::format("b'{:x}_{}", address, version);
}

std::string segment_name(uint64_t address, uint32_t version) {
  return fmt::format("s'{:x}_{}", address, version);
}

std::string block_details_json(const model::Recording& recording, const model::Snapshot& snapshot,
                               const replay::Lifetimes& lifetimes, int32_t rank) {
  const Facts facts = look_up(recording, snapshot, lifetimes, rank);
  const auto r = static_cast<size_t>(rank);
  JsonWriter json;
  json.begin_object();
  json.member("rank", rank);
  json.member("name", block_name(facts.address, lifetimes.version[r]));
  json.member("address", fmt::format("{:#x}", facts.address));
  json.member("version", lifetimes.version[r]);
  json.member("kind", facts.born >= 0 ? "traced" : facts.freed < 0 ? "final_only" : "freed_only");
  json.member("requested_size", lifetimes.size[r]);
  json.key("block_size");
  if (facts.final_block >= 0) {
    json.value(recording.blocks.size[static_cast<size_t>(facts.final_block)]);
  } else {
    json.null();
  }
  json.key("state");
  if (facts.final_block >= 0) {
    const auto state = recording.blocks.state[static_cast<size_t>(facts.final_block)];
    json.value(state == model::BlockState::active_allocated ? "active_allocated" : "active_pending_free");
  } else {
    json.null();
  }
  write_place(json, facts);
  write_life(json, facts);
  const BlockTexts texts = block_texts(recording, lifetimes, rank, facts.final_block, facts.free_event);
  write_text(json, "compile_context", texts.context, facts);
  write_text(json, "user_metadata", texts.metadata, facts);
  const int64_t annotations_left_out = write_annotations(json, facts);
  const int64_t extras_left_out = write_extras(json, facts, texts);
  const int64_t frames_left_out = write_frames(json, facts);
  write_forward_frames(json, facts);
  json.key("no_stack_reasons");
  json.begin_array();
  for (const std::string& reason : no_stack_reasons(facts)) json.value(reason);
  json.end_array();
  json.member("annotations_left_out", annotations_left_out);
  json.member("extras_left_out", extras_left_out);
  json.member("frames_left_out", frames_left_out);
  json.end_object();
  return std::move(json).text();
}

}  // namespace memstrata::analysis
