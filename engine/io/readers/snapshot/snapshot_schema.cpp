#include "engine/io/readers/snapshot/snapshot_schema.h"

#include "engine/trace/action.h"

namespace gpustrata::io {

using model::Diag;
using model::Owner;
using model::RowRange;
using values::Tag;
using values::Value;

namespace {

// Of a list of rows: `id` is the place in scattered_, not the first row.
constexpr uint64_t kScattered = uint64_t{1} << 63;

[[nodiscard]] Tag list_of(Tag rows) {
  return static_cast<Tag>(static_cast<uint32_t>(Of::event_list) + static_cast<uint32_t>(rows) -
                          static_cast<uint32_t>(Of::event_rows));
}
static_assert(static_cast<uint32_t>(Of::annotation_list) - static_cast<uint32_t>(Of::event_list) ==
              static_cast<uint32_t>(Of::annotation_rows) - static_cast<uint32_t>(Of::event_rows));

// Of a dict: do these sets of keys hold one of the words?
[[nodiscard]] bool has(uint64_t set, auto... words) { return (set & (bit(words) | ...)) != 0; }

// What a dict is whose keys in `texts` are texts, and those in `numbers` numbers.
[[nodiscard]] bool is_event(uint64_t texts, uint64_t numbers) {
  return has(texts, Word::action) && has(numbers, Word::addr, Word::device_free, Word::size);
}
[[nodiscard]] bool is_frame(uint64_t keys, uint64_t texts) {
  return has(keys, Word::filename) && has(keys, Word::line) && has(texts, Word::name, Word::filename);
}
[[nodiscard]] bool is_block(uint64_t texts, uint64_t numbers) {
  return has(texts, Word::state) && has(numbers, Word::size, Word::requested_size, Word::address);
}
[[nodiscard]] bool is_annotation(uint64_t texts) { return has(texts, Word::stage) && has(texts, Word::name); }

}  // namespace

SnapshotSchema::SnapshotSchema(model::Recording& recording)
    : recording_(recording),
      extras_by_owner_{Column<uint32_t>(recording.budget), Column<uint32_t>(recording.budget),
                       Column<uint32_t>(recording.budget), Column<uint32_t>(recording.budget),
                       Column<uint32_t>(recording.budget)} {
  // The ids of these strings are their meaning: they come first, and a further snapshot finds them there.
  size_t words = 0;
  const auto add = [&](std::string_view word) {
    is_ready_ = is_ready_ && recording_.strings.intern(word) == StringId{words++};
  };
  for (const std::string_view word : kWordTexts) add(word);
  for (size_t i = 0; i < static_cast<size_t>(trace::Action::first_unknown); ++i) {
    add(trace::name_of(static_cast<trace::Action>(i)));
  }
}

SnapshotSchema::~SnapshotSchema() { recording_.budget.give_back(set_aside_); }

Value SnapshotSchema::finish_dict(Pairs pairs, const Ending& ending) {
  offset_ = ending.offset;
  refused_ = false;
  const Value value = kind_of_dict(pairs, ending);
  return refused_ ? Value{} : value;
}

Value SnapshotSchema::finish_list(std::span<const Value> items, const Ending& ending) {
  offset_ = ending.offset;
  refused_ = false;
  const Value value = kind_of_list(items, ending);
  return refused_ ? Value{} : value;
}

Value SnapshotSchema::kind_of_dict(Pairs pairs, const Ending& ending) {
  uint64_t keys = 0;
  uint64_t texts = 0;         // keys whose value is a text
  uint64_t told_as_text = 0;  // keys whose value would be told by one in unknown data
  uint64_t numbers = 0;       // keys whose value is a number
  bool wraps = false;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Word key = word_of(pairs[i]);
    const Tag tag = pairs[i + 1].tag;
    wraps = wraps || holds_snapshots(pairs[i + 1]);
    if (key == Word::kWords) continue;
    if ((keys & bit(key)) != 0) recording_.diagnostics.add(Diag::duplicate_key, offset_, view(pairs[i]));
    keys |= bit(key);
    if (is_text(tag)) texts |= bit(key);
    if (is_told_by_text(tag)) told_as_text |= bit(key);
    if (is_number(tag)) numbers |= bit(key);
  }
  if (has(keys, Word::segments, Word::device_traces)) {
    const Value* segments = find(pairs, Word::segments);
    const Value* traces = find(pairs, Word::device_traces);
    const bool lists_segments =
        segments != nullptr && (segments->tag == Of::segment_list || segments->tag == Tag::empty_list);
    const bool lists_traces =
        traces != nullptr && (traces->tag == Of::trace_list || traces->tag == Tag::empty_lists ||
                              traces->tag == Of::event_list || traces->tag == Tag::empty_list);
    if (lists_segments || lists_traces) return snapshot(pairs);
  }
  if (wraps) return wrapper_of_dict(pairs);
  // Of what the end of the input cut in two, only segments and snapshots are worth keeping.
  const Value cut_in_two{Tag::dropped, 0, 0};
  if (is_event(texts, numbers)) return ending.partial ? cut_in_two : event(pairs);
  if (is_frame(keys, texts)) return ending.partial ? cut_in_two : frame(pairs);
  // A block may have an unknown field of a segment's name.
  const bool is_sized_block = has(texts, Word::state) && has(numbers, Word::size, Word::requested_size);
  if (!is_sized_block && has(numbers, Word::address, Word::total_size)) {
    const Value* blocks = find(pairs, Word::blocks);
    if (blocks != nullptr &&
        (blocks->tag == Of::block_list || blocks->tag == Tag::empty_list || has(numbers, Word::total_size))) {
      return segment(pairs, ending.partial);
    }
  }
  if (is_block(texts, numbers)) return ending.partial ? cut_in_two : block(pairs);
  if (has(numbers, Word::real_size)) return ending.partial ? cut_in_two : history_entry(pairs);
  if (is_annotation(texts)) return ending.partial ? cut_in_two : annotation(pairs);
  const uint64_t after = texts | told_as_text;
  const bool would_be_a_row =
      is_event(after, numbers) || is_frame(keys, after) || is_block(after, numbers) || is_annotation(after);
  return dict_text(pairs, ending.cut, would_be_a_row);
}

Value SnapshotSchema::kind_of_list(std::span<const Value> items, const Ending& ending) {
  if (items.empty()) return {Tag::empty_list, 0, 0};
  if (items.front().tag == Of::frame) return stack_of(items);
  if (items.size() == 2 && (items[0].tag == Tag::integer || items[0].tag == Tag::big_integer) &&
      (items[1].tag == Tag::integer || items[1].tag == Tag::big_integer)) {
    return intern_pair(items[0], items[1]);
  }
  bool only_dropped = true;
  bool only_empty = true;
  bool has_events = false;
  bool has_frames = false;
  bool wraps = false;
  for (const Value& item : items) {
    if (is_rows(item.tag)) return row_list(items, item.tag);
    only_dropped = only_dropped && item.tag == Tag::dropped;
    only_empty = only_empty && item.tag == Tag::empty_list;
    has_events = has_events || item.tag == Of::event_list;
    has_frames = has_frames || item.tag == Of::frame;
    wraps = wraps || holds_snapshots(item);
  }
  if (wraps) return wrapper_of_list(items);
  if (has_events) return trace_list(items);
  if (has_frames) return stack_of(items);
  if (only_dropped) return {Tag::empty_list, 0, 0};
  if (only_empty) return {Tag::empty_lists, 0, items.size()};
  return list_text(items, ending.cut);
}

Value SnapshotSchema::stack_of(std::span<const Value> items) {
  frame_ids_.resize(items.size());
  size_t count = 0;
  for (const Value& item : items) {
    if (item.tag == Of::frame) {
      frame_ids_[count++] = FrameId{static_cast<int32_t>(item.id)};
    } else if (item.tag != Tag::dropped) {
      wrong_type(Word::frames);
    }
  }
  frame_ids_.resize(count);
  const StackId id = recording_.stacks.intern(frame_ids_);
  refused_ = id.is_none();
  return {Of::stack, static_cast<uint32_t>(id.value), 0};
}

// A list with rows of one table; anything else in it does not belong there.
Value SnapshotSchema::row_list(std::span<const Value> items, Tag rows) {
  range_scratch_.clear();
  uint64_t count = 0;
  for (const Value& item : items) {
    if (item.tag == rows) {
      const RowRange range{static_cast<int32_t>(item.id), static_cast<int32_t>(item.num + 1)};
      count += static_cast<uint64_t>(range.count);
      if (!range_scratch_.empty() && range_scratch_.back().end() == range.first) {
        range_scratch_.back().count += range.count;
      } else {
        range_scratch_.push_back(range);
      }
    } else if (item.tag != Tag::dropped) {
      recording_.diagnostics.add(Diag::wrong_type, offset_, "an item of a list");
    }
  }
  if (range_scratch_.size() == 1)
    return {list_of(rows), static_cast<uint32_t>(range_scratch_[0].first), count};
  const ScatteredList list{
      static_cast<uint32_t>(ranges_.size()), static_cast<uint32_t>(range_scratch_.size()), {}};
  if (refuses(!ranges_.append(range_scratch_) || !scattered_.push_back(list))) return {};
  return {list_of(rows), static_cast<uint32_t>(scattered_.size() - 1), count | kScattered};
}

// The rows of a list as one range; rows that are not neighbours are copied to be.
RowRange SnapshotSchema::rows_of(const Value& list) {
  if ((list.num & kScattered) == 0) return {static_cast<int32_t>(list.id), static_cast<int32_t>(list.num)};
  ScatteredList& known = scattered_[list.id];
  if (known.count == 0) return known.rows;
  const std::span<const RowRange> ranges = ranges_.span().subspan(known.first, known.count);
  RowRange rows;
  switch (list.tag) {
    case Of::event_list:
      rows = gather(recording_.events, Owner::event, ranges);
      break;
    case Of::block_list:
      rows = gather(recording_.blocks, Owner::block, ranges);
      break;
    case Of::segment_list:
      rows = gather(recording_.segments, Owner::segment, ranges);
      break;
    case Of::history_list:
      rows = gather(recording_.history, std::nullopt, ranges);
      break;
    default:
      rows = gather(recording_.annotations, Owner::annotation, ranges);
  }
  if (refused_) return {};
  known.rows = rows;
  known.count = 0;
  return rows;
}

template <typename Table>
RowRange SnapshotSchema::gather(Table& table, std::optional<Owner> owner, std::span<const RowRange> ranges) {
  for (const RowRange& range : ranges) copied_rows_ += range.count;
  if (copied_rows_ > kFreeCopiedRows + offset_ / kInputBytesPerCopiedRow) {
    recording_.diagnostics.add(Diag::shared_rows_cut, offset_);
    return {};
  }
  RowRange copies;
  if (refuses(!table.append_copies(ranges, copies))) return {};
  if (!owner) return copies;
  Column<uint32_t>& index = extras_by_owner_[static_cast<size_t>(*owner)];
  int32_t to = copies.first;
  for (const RowRange& range : ranges) {
    const auto [from, end] = extras_between(*owner, range);
    for (size_t i = from; i < end; ++i) {
      const model::ExtraTable& extras = recording_.extras;
      const uint32_t extra = index[i];
      const int32_t row = extras.row[extra] - range.first + to;
      const StringId key = extras.key[extra];
      const StringId text = extras.value[extra];
      if (refuses(!recording_.extras.append({*owner, row, key, text}) ||
                  !index.push_back(static_cast<uint32_t>(extras.size_rows() - 1))))
        return {};
    }
    to += range.count;
  }
  return copies;
}

template RowRange SnapshotSchema::gather(model::BlockTable&, std::optional<Owner>, std::span<const RowRange>);

// The history of several devices.
Value SnapshotSchema::trace_list(std::span<const Value> items) {
  const size_t first = trace_lists_.size();
  for (Value item : items) {
    if (item.tag != Of::event_list && item.tag != Tag::empty_list) {
      recording_.diagnostics.add(Diag::wrong_type, offset_,
                                 kWordTexts[static_cast<size_t>(Word::device_traces)]);
      item = {Tag::empty_list, 0, 0};
    }
    if (trace_lists_.size() - first == kMaxTraces) {
      note_cut();
      break;
    }
    if (refuses(!trace_lists_.push_back(item))) return {};
  }
  return {Of::trace_list, static_cast<uint32_t>(first), trace_lists_.size() - first};
}

}  // namespace gpustrata::io
