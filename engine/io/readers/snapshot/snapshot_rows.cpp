// One dict, one row: events, frames, blocks, history entries, segments, annotations.
#include <algorithm>
#include <numeric>

#include "engine/io/readers/snapshot/snapshot_schema.h"

namespace gpustrata::io {

using model::BlockState;
using model::Diag;
using model::kNoTime;
using model::kUnknownSize;
using model::Owner;
using model::SegmentType;
using model::Stage;
using model::Tristate;
using trace::Action;
using values::Tag;
using values::Value;

namespace {

// Address of a block until its segment tells it.
constexpr uint64_t kNoAddress = UINT64_MAX;
// Events before the length of the whole table is estimated.
constexpr size_t kFirstReserve = 4096;
constexpr int64_t kEventBytes = 41;

[[nodiscard]] Value row_value(Tag tag, size_t row) { return {tag, static_cast<uint32_t>(row), 0}; }

// Without an address these still mean something.
[[nodiscard]] bool needs_address(Action action) {
  return action < Action::oom || action == Action::annotate || action == Action::free;
}

[[nodiscard]] Word word_value(StringId text) {
  return text.is_none() || text.index() >= static_cast<size_t>(Word::kWords)
             ? Word::kWords
             : static_cast<Word>(text.index());
}

}  // namespace

Value SnapshotSchema::event(Pairs pairs) {
  EventRow made;
  std::optional<uint64_t> at;
  std::optional<int64_t> bytes;
  unknown_.clear();
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Value& value = pairs[i + 1];
    switch (const Word key = word_of(pairs[i])) {
      case Word::action:
        if (is_text(value.tag)) made.action = action(value);
        break;
      case Word::addr:
      case Word::device_free:
        if (const auto found = address(value, key)) at = found;
        break;
      case Word::size:
        bytes = size(value, key);
        break;
      case Word::stream:
        made.stream = stream(value, key);
        break;
      case Word::time_us:
        made.time = number(value, key).value_or(kNoTime);
        break;
      case Word::compile_context:
        made.context = text(value, key);
        break;
      case Word::user_metadata:
        made.metadata = text_or_json(value);
        break;
      case Word::pool_id:
        made.pool = pool(value, key);
        break;
      case Word::frames:
        made.stack = stack(value, key);
        break;
      default:
        keep(pairs[i], value);
    }
  }
  if ((!at || !bytes) && needs_address(made.action)) {
    recording_.diagnostics.add(Diag::event_incomplete, offset_);
    return {Tag::dropped, 0, 0};
  }
  made.address = at.value_or(made.action == Action::oom ? model::kUnknownFree : 0);
  made.size = bytes.value_or(0);
  const size_t row = recording_.events.size_rows();
  if (!append_event(made)) return {};
  add_extras(Owner::event, row);
  return row_value(Of::event_rows, row);
}

bool SnapshotSchema::add_event(const EventRow& event, int64_t offset) {
  offset_ = offset;
  return append_event(event);
}

bool SnapshotSchema::append_event(const EventRow& event) {
  model::EventTable& events = recording_.events;
  if (events.size_rows() >= next_reserve_) reserve_events();
  if (events.size_rows() >= next_set_aside_ && !set_aside_for_replay()) return false;
  const bool added = events.append(event);
  refused_ = refused_ || !added;
  return added;
}

// A file that fills the memory to the last byte could not be shown. False: what is there already can be.
bool SnapshotSchema::set_aside_for_replay() {
  constexpr auto kStepBytes = static_cast<int64_t>(kReplayStep) * kReplayBytesPerEvent;
  if (refuses(!recording_.budget.take(kStepBytes))) return false;
  set_aside_ += kStepBytes;
  next_set_aside_ += kReplayStep;
  return true;
}

// Grows the columns once instead of in steps: a 32-bit heap keeps every hole that growing leaves.
void SnapshotSchema::reserve_events() {
  const size_t rows = recording_.events.size_rows();
  if (first_event_offset_ < 0) {
    first_event_offset_ = offset_;
    first_event_row_ = rows;  // not 0 if the file holds several snapshots
    next_reserve_ = rows + kFirstReserve;
    return;
  }
  next_reserve_ = rows * 2;
  if (expected_ <= offset_ || offset_ <= first_event_offset_) return;
  const double per_event =
      static_cast<double>(offset_ - first_event_offset_) / static_cast<double>(rows - first_event_row_);
  const double more = static_cast<double>(expected_ - offset_) / per_event * 1.02 + 1024;
  const Budget& budget = recording_.budget;
  if (more * static_cast<double>(kEventBytes) > static_cast<double>(budget.limit() - budget.used()) / 2)
    return;
  const size_t wanted = rows + static_cast<size_t>(more);
  if (wanted >= model::kMaxRows) return;
  (void)recording_.events.reserve(wanted);  // refused: it grows in steps
  next_reserve_ = wanted;
}

Value SnapshotSchema::frame(Pairs pairs) {
  trace::Frame frame;
  trace::FxNode fx;
  bool has_fx = false;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Value& value = pairs[i + 1];
    const auto fx_text = [&](StringId& field) {
      field = text_or_json(value);
      has_fx = true;
    };
    switch (const Word key = word_of(pairs[i])) {
      case Word::name:
        frame.name = text_or_json(value);
        break;
      case Word::filename:
        frame.filename = text_or_json(value);
        break;
      case Word::line:
        // The Python writer stores an unknown line as 2^64-1.
        frame.line =
            value.tag == Tag::big_integer && value.num == UINT64_MAX ? -1 : small_number(value, key, 0);
        break;
      case Word::fx_node_op:
        fx_text(fx.op);
        break;
      case Word::fx_node_name:
        fx_text(fx.name);
        break;
      case Word::fx_node_target:
        fx_text(fx.target);
        break;
      case Word::fx_original_trace:
        fx_text(fx.original_trace);
        break;
      default:
        break;  // nothing known writes other keys that matter
    }
  }
  const FrameId id = has_fx ? recording_.frames.intern(frame, fx) : recording_.frames.intern(frame);
  if (refuses(id.is_none())) return {};
  return {Of::frame, static_cast<uint32_t>(id.value), 0};
}

Value SnapshotSchema::block(Pairs pairs) {
  uint64_t at = kNoAddress;
  std::optional<int64_t> bytes;
  int64_t requested = kUnknownSize;
  BlockState state = BlockState::unknown;
  StackId frames;
  bool has_frames = false;
  StringId metadata;
  RowRange history;
  unknown_.clear();
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Value& value = pairs[i + 1];
    switch (const Word key = word_of(pairs[i])) {
      case Word::address:
      case Word::addr:
        at = address(value, key).value_or(at);
        break;
      case Word::size:
        bytes = size(value, key);
        break;
      case Word::requested_size:
        requested = size(value, key).value_or(kUnknownSize);
        break;
      case Word::state:
        switch (word_value(text(value, key))) {
          case Word::active_allocated:
            state = BlockState::active_allocated;
            break;
          case Word::active_pending_free:
          case Word::active_awaiting_free:
            state = BlockState::active_pending_free;
            break;
          case Word::inactive:
            state = BlockState::inactive;
            break;
          default:
            state = BlockState::unknown;
            recording_.diagnostics.add(Diag::unknown_state, offset_,
                                       is_text(value.tag) ? view(value) : std::string_view{});
        }
        break;
      case Word::frames:
        has_frames = value.tag != Tag::none;
        frames = stack(value, key);
        break;
      case Word::history:
        if (value.tag == Of::history_list) {
          history = rows_of(value);
        } else if (value.tag != Tag::empty_list && value.tag != Tag::none) {
          wrong_type(key);
        }
        break;
      case Word::user_metadata:
        metadata = text_or_json(value);
        break;
      default:
        keep(pairs[i], value);
    }
  }
  if (!bytes) {
    recording_.diagnostics.add(Diag::block_incomplete, offset_);
    return {Tag::dropped, 0, 0};
  }
  if (history.count > 0 &&
      (state == BlockState::active_allocated || state == BlockState::active_pending_free)) {
    // Before 2.1 the first entry is the allocation that lives in the block.
    const auto first = static_cast<size_t>(history.first);
    if (!has_frames) frames = recording_.history.stack[first];
    if (requested == kUnknownSize) requested = recording_.history.real_size[first];
  }
  const size_t row = recording_.blocks.size_rows();
  if (refuses(!recording_.blocks.append({.address = at,
                                         .size = *bytes,
                                         .requested_size = requested,
                                         .state = state,
                                         .stack = frames,
                                         .metadata = metadata,
                                         .history = history})))
    return {};
  add_extras(Owner::block, row);
  return row_value(Of::block_rows, row);
}

Value SnapshotSchema::history_entry(Pairs pairs) {
  uint64_t at = 0;
  int64_t real_size = 0;
  StackId frames;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Value& value = pairs[i + 1];
    switch (const Word key = word_of(pairs[i])) {
      case Word::addr:
      case Word::address:
        at = address(value, key).value_or(0);
        break;
      case Word::real_size:
        real_size = size(value, key).value_or(0);
        break;
      case Word::frames:
        frames = stack(value, key);
        break;
      default:
        break;
    }
  }
  const size_t row = recording_.history.size_rows();
  if (refuses(!recording_.history.append({at, real_size, frames}))) return {};
  return row_value(Of::history_rows, row);
}

Value SnapshotSchema::segment(Pairs pairs, bool partial) {
  int32_t device = 0;
  std::optional<uint64_t> at;
  std::optional<int64_t> total, allocated, active, requested;
  StreamId handle{int16_t{0}};
  PoolId pool_id;
  SegmentType type = SegmentType::unknown;
  Tristate expandable = Tristate::unknown;
  StackId frames;
  StringId metadata;
  RowRange blocks;
  unknown_.clear();
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Value& value = pairs[i + 1];
    switch (const Word key = word_of(pairs[i])) {
      case Word::device:
        device = small_number(value, key, 0);
        break;
      case Word::address:
        at = address(value, key);
        break;
      case Word::total_size:
        total = size(value, key);
        break;
      case Word::allocated_size:
        allocated = size(value, key);
        break;
      case Word::active_size:
        active = size(value, key);
        break;
      case Word::requested_size:
        requested = size(value, key);
        break;
      case Word::stream:
        handle = stream(value, key);
        break;
      case Word::segment_pool_id:
        pool_id = pool(value, key);
        break;
      case Word::segment_type: {
        const Word word = word_value(text(value, key));
        type = word == Word::small   ? SegmentType::small
               : word == Word::large ? SegmentType::large
                                     : SegmentType::unknown;
        break;
      }
      case Word::is_expandable:
        if (value.tag == Tag::boolean || value.tag == Tag::integer) {
          expandable = value.num != 0 ? Tristate::yes : Tristate::no;
        } else if (value.tag != Tag::none) {
          wrong_type(key);
        }
        break;
      case Word::frames:
        frames = stack(value, key);
        break;
      case Word::user_metadata:
        metadata = text_or_json(value);
        break;
      case Word::blocks:
        if (value.tag == Of::block_list) {
          blocks = rows_of(value);
        } else if (value.tag != Tag::empty_list && value.tag != Tag::none) {
          wrong_type(key);
        }
        break;
      default:
        keep(pairs[i], value);
    }
  }
  if (static_cast<size_t>(blocks.first) < owned_blocks_ && blocks.count > 0) {
    // A list that another segment has too: each segment needs rows of its own to place.
    const RowRange shared = blocks;
    blocks = gather(recording_.blocks, Owner::block, {&shared, 1});
  }
  if (at == kNoAddress)
    at.reset();  // no memory is there, and its first block would count as one without an address
  if (!at && blocks.count > 0 && recording_.blocks.address[blocks.first] != kNoAddress) {
    at = recording_.blocks.address[blocks.first];
  }
  if (!at || (!total && blocks.count == 0)) {
    recording_.diagnostics.add(Diag::segment_incomplete, offset_);
    return {Tag::dropped, 0, 0};
  }
  if (refused_) return {};
  if (blocks.count > 0) {
    owned_blocks_ = static_cast<size_t>(blocks.end());
    place_blocks(blocks, *at, total, partial);
  }
  const size_t row = recording_.segments.size_rows();
  if (refuses(!recording_.segments.append({.device = device,
                                           .address = *at,
                                           .total_size = *total,
                                           .allocated_size = allocated.value_or(kUnknownSize),
                                           .active_size = active.value_or(kUnknownSize),
                                           .requested_size = requested.value_or(kUnknownSize),
                                           .stream = handle,
                                           .pool = pool_id,
                                           .type = type,
                                           .expandable = expandable,
                                           .stack = frames,
                                           .metadata = metadata,
                                           .blocks = blocks})))
    return {};
  add_extras(Owner::segment, row);
  return row_value(Of::segment_rows, row);
}

// Gives blocks without an address theirs, in ascending order; checks that they tile the segment. A total that
// is absent becomes the sum.
void SnapshotSchema::place_blocks(RowRange blocks, uint64_t address, std::optional<int64_t>& total,
                                  bool partial) {
  uint64_t next = address;
  uint64_t previous = 0;
  int64_t sum = 0;
  bool tiles = true;
  bool fits = true;  // the sum, into 64 bits
  bool ascends = true;
  for (int32_t i = blocks.first; i < blocks.end(); ++i) {
    uint64_t& at = recording_.blocks.address[i];
    const int64_t bytes = recording_.blocks.size[i];
    if (at == kNoAddress) at = next;
    tiles = tiles && at == next;
    ascends = ascends && (i == blocks.first || at >= previous);
    previous = at;
    next = at + static_cast<uint64_t>(bytes);
    if (next == kNoAddress) next = 0;
    if (bytes > INT64_MAX - sum) {
      fits = false;
    } else {
      sum += bytes;
    }
  }
  if (!ascends) {
    sort_blocks(blocks);
    next = address;
    tiles = true;
    for (int32_t i = blocks.first; i < blocks.end(); ++i) {
      tiles = tiles && recording_.blocks.address[i] == next;
      next += static_cast<uint64_t>(recording_.blocks.size[i]);
    }
  }
  if (!total) total = sum;
  if ((!tiles || !fits || sum != *total) && !partial)
    recording_.diagnostics.add(Diag::blocks_do_not_tile, offset_);
}

void SnapshotSchema::sort_blocks(RowRange blocks) {
  const auto first = static_cast<size_t>(blocks.first);
  const auto count = static_cast<size_t>(blocks.count);
  Column<uint32_t> order(recording_.budget);  // new place -> old place
  Column<uint32_t> place(recording_.budget);  // old place -> new place
  if (refuses(!order.resize(count, 0) || !place.resize(count, 0))) return;
  std::iota(order.data(), order.data() + count, 0U);
  const auto at = [&](uint32_t i) { return recording_.blocks.address[first + i]; };
  std::sort(order.data(), order.data() + count,
            [&](uint32_t a, uint32_t b) { return at(a) != at(b) ? at(a) < at(b) : a < b; });
  for (size_t i = 0; i < count; ++i) place[order[i]] = static_cast<uint32_t>(i);
  if (refuses(!recording_.blocks.reorder(first, order.span()))) return;
  const auto [from, to] = extras_between(Owner::block, blocks);
  for (size_t i = from; i < to; ++i) {
    int32_t& row = recording_.extras.row[extras_by_owner_[static_cast<size_t>(Owner::block)][i]];
    row = static_cast<int32_t>(first + place[static_cast<size_t>(row) - first]);
  }
}

Value SnapshotSchema::annotation(Pairs pairs) {
  StringId name;
  Stage stage = Stage::unknown;
  int32_t device = 0;
  int64_t time = kNoTime;
  unknown_.clear();
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Value& value = pairs[i + 1];
    switch (const Word key = word_of(pairs[i])) {
      case Word::name:
        name = text(value, key);
        break;
      case Word::stage: {
        const Word word = word_value(text(value, key));
        stage = word == Word::START ? Stage::start : word == Word::END ? Stage::end : Stage::unknown;
        break;
      }
      case Word::device:
        device = small_number(value, key, 0);
        break;
      case Word::time_us:
        time = number(value, key).value_or(kNoTime);
        break;
      default:
        keep(pairs[i], value);
    }
  }
  const size_t row = recording_.annotations.size_rows();
  if (refuses(!recording_.annotations.append({name, stage, device, time}))) return {};
  add_extras(Owner::annotation, row);
  return row_value(Of::annotation_rows, row);
}

}  // namespace gpustrata::io
