#include "engine/io/readers/snapshot/event_entries.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/io/encodings/pickle/opcodes.h"
#include "engine/io/encodings/pickle/operands.h"
#include "engine/io/limits.h"

namespace gpustrata::io {

using pickle::Op;
using trace::Action;
using values::Tag;
using values::Value;

namespace {

// So many bytes lie ahead of every opcode: longer than any two with their operands.
constexpr ptrdiff_t kMargin = 64;
static_assert(kMargin > static_cast<ptrdiff_t>(StackRuns::kMargin));
constexpr size_t kFrame = 9;  // FRAME and its length
constexpr int32_t kMostPatience = 64;
constexpr uint32_t kHitsPerPatience = 16;

constexpr uint64_t kKeysOfEvents = bit(Word::action) | bit(Word::addr) | bit(Word::device_free) |
                                   bit(Word::size) | bit(Word::stream) | bit(Word::time_us) |
                                   bit(Word::compile_context) | bit(Word::user_metadata) |
                                   bit(Word::pool_id) | bit(Word::frames);
static_assert(kKeysOfEvents <= UINT32_MAX);

[[nodiscard]] bool is(const uint8_t* p, Op op) { return *p == static_cast<uint8_t>(op); }

// The readers of values move `p` behind what they read; false: it is something else.
[[nodiscard]] inline bool read_integer(const uint8_t*& p, int64_t& number) {
  switch (static_cast<Op>(*p)) {
    case Op::long1: {
      const unsigned bytes = p[1];
      if (bytes - 1 > 7) return false;
      const unsigned unused = 64 - 8 * bytes;
      number = static_cast<int64_t>(pickle::load_u64(p + 2) << unused) >> unused;
      p += 2 + bytes;
      return true;
    }
    case Op::binint1:
      number = p[1];
      p += 2;
      return true;
    case Op::binint2:
      number = pickle::load_u16(p + 1);
      p += 3;
      return true;
    case Op::binint:
      number = static_cast<int32_t>(pickle::load_u32(p + 1));
      p += 5;
      return true;
    default:
      return false;
  }
}

[[nodiscard]] inline bool read_reference(const uint8_t*& p, const pickle::Memo& memo, Value& value) {
  if (is(p, Op::long_binget)) {
    value = memo.get(pickle::load_u32(p + 1));
    p += 5;
    return true;
  }
  if (!is(p, Op::binget)) return false;
  value = memo.get(p[1]);
  p += 2;
  return true;
}

// A text, by itself or by reference, or None. `stored`: it stands here and may be stored.
[[nodiscard]] inline bool read_text(const uint8_t*& p, const uint8_t* end, const pickle::Memo& memo,
                                    StringPool& strings, StringId& text, bool& stored) {
  stored = false;
  size_t header = 2;
  size_t length = p[1];
  switch (static_cast<Op>(*p)) {
    case Op::binget:
    case Op::long_binget: {
      Value value;
      if (!read_reference(p, memo, value) || !is_text(value.tag)) return false;
      text = StringId{static_cast<int32_t>(value.id)};
      return true;
    }
    case Op::none:
      text = {};
      ++p;
      return true;
    case Op::short_binunicode:
      break;
    case Op::binunicode:
      header = 5;
      length = pickle::load_u32(p + 1);
      break;
    default:
      return false;
  }
  if (static_cast<uint64_t>(end - p) < length + header + static_cast<size_t>(kMargin) || length > kKeptString)
    return false;
  text = strings.intern({reinterpret_cast<const char*>(p + header), length});
  p += header + length;
  stored = true;
  return !text.is_none();
}

// Two numbers and TUPLE2.
[[nodiscard]] inline bool read_pair(const uint8_t*& p, SnapshotSchema& schema, Value& pair) {
  int64_t first = 0;
  int64_t second = 0;
  if (!read_integer(p, first) || !read_integer(p, second) || !is(p, Op::tuple2)) return false;
  ++p;
  pair = schema.pair_of(first, second);
  return pair.tag == Of::pair;
}

// `length` fixed bytes; `tail` is the mask of the last 1 to 8 of them. Little endian, as everything this runs
// on.
[[nodiscard]] inline bool same_fixed(const uint8_t* p, const uint8_t* fixed, size_t length, uint64_t tail) {
  for (; length > 8; length -= 8, p += 8, fixed += 8) {
    if (load_word(p) != load_word(fixed)) return false;
  }
  return ((load_word(p) ^ load_word(fixed)) & tail) == 0;
}

}  // namespace

// One entry, opcode by opcode.
class EventEntries::Walker {
 public:
  Walker(EventEntries& owner, const uint8_t* begin, const uint8_t* end, const Memo& memo)
      : owner_(owner), walk_(owner.walk_), begin_(begin), end_(end), p_(begin), memo_(memo) {}

  // Bytes of the entry, 0: it is none.
  [[nodiscard]] size_t run() {
    walk_.entry = Entry{};
    walk_.shape = 1;
    walk_.keys = 0;
    walk_.is_learnable = true;
    walk_.places = 0;
    if (end_ - p_ < kMargin) return 0;
    ++p_;
    const uint8_t before = walk_.entry.stored_count;
    if (!store({Of::event_rows, 0, 0})) return 0;
    if (walk_.entry.stored_count != before) walk_.entry.dict = before;
    if (!is(p_, Op::mark)) return 0;
    ++p_;
    while (true) {
      if (end_ - p_ < kMargin) return 0;
      if (skip_frame()) continue;
      if (is(p_, Op::setitems)) break;
      if (!field()) return 0;
    }
    ++p_;
    walk_.shape = mix_hash(walk_.shape + walk_.entry.stored_count);
    const auto has = [this](auto... words) { return (walk_.keys & (bit(words) | ...)) != 0; };
    const bool whole = has(Word::action) && has(Word::size) && (has(Word::addr) != has(Word::device_free));
    return whole ? static_cast<size_t>(p_ - begin_) : 0;
  }

 private:
  [[nodiscard]] bool skip_frame() {
    if (!is(p_, Op::frame)) return false;
    p_ += kFrame;
    walk_.is_learnable = false;
    return true;
  }

  void note(Hole hole, const uint8_t* first, uint8_t stored = kNotStored) {
    if (walk_.places == kMaxSteps) {
      walk_.is_learnable = false;
      return;
    }
    walk_.place[walk_.places++] = {hole, stored, static_cast<uint32_t>(first - begin_),
                                   static_cast<uint32_t>(p_ - begin_)};
  }

  [[nodiscard]] bool note_and_store(Hole hole, const uint8_t* first, const Value& value) {
    const uint8_t place = walk_.places;
    const uint8_t count = walk_.entry.stored_count;
    note(hole, first);
    if (!store(value)) return false;
    if (walk_.entry.stored_count != count && place < kMaxSteps) walk_.place[place].stored = count;
    return true;
  }

  // MEMOIZE or PUT, if it is there.
  [[nodiscard]] bool store(const Value& value) {
    Entry& entry = walk_.entry;
    const uint32_t slot = memo_.used() + entry.stored_count;
    if (is(p_, Op::memoize)) {
      ++p_;
    } else if (is(p_, Op::long_binput)) {
      if (pickle::load_u32(p_ + 1) != slot) return false;
      p_ += 5;
      note(Hole::slot, p_ - 4, entry.stored_count);
    } else if (is(p_, Op::binput)) {
      if (p_[1] != slot) return false;
      p_ += 2;
      walk_.is_learnable = false;
    } else {
      return true;
    }
    if (entry.stored_count == kMaxStored) return false;
    entry.stored[entry.stored_count++] = value;
    return true;
  }

  [[nodiscard]] bool field() {
    Value key;
    if (!read_reference(p_, memo_, key)) return false;
    const Word word = SnapshotSchema::word_of(key);
    if (word >= Word::kKeys || (kKeysOfEvents & bit(word)) == 0 || (walk_.keys & bit(word)) != 0)
      return false;
    walk_.keys |= static_cast<uint32_t>(bit(word));
    if (skip_frame() && end_ - p_ < kMargin) return false;
    walk_.shape = mix_hash(walk_.shape * 31 + static_cast<uint64_t>(word) * 256 + kind_of_value());
    const uint8_t* const first = p_;
    SnapshotSchema::EventRow& row = walk_.entry.row;
    int64_t number = 0;
    switch (word) {
      case Word::action: {
        Value value;
        if (!read_reference(p_, memo_, value)) return false;
        row.action = SnapshotSchema::known_action(value);
        note(Hole::action, first);
        return row.action != Action::first_unknown;
      }
      case Word::addr:
      case Word::device_free:
        if (!read_integer(p_, number)) return false;
        row.address = static_cast<uint64_t>(number);
        note(Hole::address, first);
        return true;
      case Word::size:
        if (!read_integer(p_, row.size)) return false;
        note(Hole::size, first);
        return row.size >= 0;
      case Word::time_us:
        if (!read_integer(p_, row.time)) return false;
        note(Hole::time, first);
        return true;
      case Word::stream:
        if (!read_integer(p_, number)) return false;
        walk_.entry.stream = number;
        note(Hole::stream, first);
        return true;
      case Word::compile_context:
        return text(Hole::context, row.context);
      case Word::user_metadata:
        return text(Hole::metadata, row.metadata);
      case Word::pool_id:
        return pool();
      default:
        return stack();
    }
  }

  // Opcodes that a hole takes for the same share a number.
  [[nodiscard]] uint64_t kind_of_value() const {
    switch (static_cast<Op>(*p_)) {
      case Op::binint1:
      case Op::binint2:
      case Op::binint:
      case Op::long1:
        return 1;
      case Op::binget:
      case Op::long_binget:
        return 2;
      case Op::short_binunicode:
      case Op::binunicode:
        return 3;
      default:
        return *p_;
    }
  }

  [[nodiscard]] bool text(Hole hole, StringId& id) {
    const uint8_t* const first = p_;
    bool may_store = false;
    if (!read_text(p_, end_, memo_, owner_.recording_.strings, id, may_store)) return false;
    if (!may_store) {
      note(hole, first);
      return true;
    }
    return note_and_store(hole, first, {Tag::string, static_cast<uint32_t>(id.value), 0});
  }

  [[nodiscard]] bool pool() {
    const uint8_t* const first = p_;
    Value& pair = walk_.entry.pool;
    if (is(p_, Op::none)) {
      ++p_;
      return true;
    }
    if (read_reference(p_, memo_, pair)) {
      note(Hole::pool, first);
      return pair.tag == Of::pair;
    }
    return read_pair(p_, owner_.schema_, pair) && note_and_store(Hole::pool, first, pair);
  }

  [[nodiscard]] bool stack() {
    Entry& entry = walk_.entry;
    const uint8_t* first = p_;
    if (is(p_, Op::none)) {
      ++p_;
      return true;
    }
    if (!is(p_, Op::empty_list)) {
      if (!read_shared_stack(p_, memo_, entry)) return false;
      note(Hole::shared_stack, first);
      return true;
    }
    ++p_;
    const uint8_t count = entry.stored_count;
    if (!store({Tag::empty_list, 0, 0})) return false;
    if (entry.stored_count != count) entry.frames_list = count;
    if (!is(p_, Op::mark)) {
      walk_.shape = mix_hash(walk_.shape);
      entry.frames = Frames::empty;
      return true;
    }
    first = ++p_;
    if (!owner_.read_stack(p_, end_, memo_, entry)) return false;
    note(Hole::stack, first);
    if (entry.frames_list != kNotStored) return true;
    if (end_ - p_ < kMargin || !store({Tag::empty_list, 0, 0})) return false;  // so does the C++ writer
    if (entry.stored_count != count) entry.frames_list = count;
    return true;
  }

  EventEntries& owner_;
  Walk& walk_;
  const uint8_t* const begin_;
  const uint8_t* const end_;
  const uint8_t* p_;
  const Memo& memo_;
};

EventEntries::EventEntries(SnapshotSchema& schema, model::Recording& recording)
    : schema_(schema), recording_(recording), runs_(recording.stacks, recording.budget) {}

void EventEntries::forget() {
  runs_.forget();
  for (Template& known : templates_) known.shape = 0;
}

pickle::Shortcut::Taken EventEntries::take(std::span<const uint8_t> bytes, int64_t offset, Memo& memo) {
  if (!memo.is_dense()) return {};
  if (memo.overwritten() != overwritten_) {
    overwritten_ = memo.overwritten();
    forget();
  }
  const uint8_t* const begin = bytes.data();
  const uint8_t* const end = begin + bytes.size();
  const uint8_t* p = begin;
  const size_t first_row = recording_.events.size_rows();
  while (end - p >= kMargin && is(p, Op::empty_dict)) {
    size_t taken = 0;
    size_t which = next_[history_];
    for (size_t tries = 0; tries < kTemplates && taken == 0; ++tries) {
      which = (next_[history_] + tries) % kTemplates;
      Template& known = templates_[which];
      if (known.shape == 0) continue;
      const size_t length = match(known, p, end, memo);
      if (length > 0) taken = complete(known.entry, p, p + length, end, offset + (p - begin), memo);
    }
    if (taken > 0) {
      if (++hits_ % kHitsPerPatience == 0) patience_ = std::min(patience_ + 1, kMostPatience);
    } else {
      const size_t length = Walker(*this, p, end, memo).run();
      if (length > 0) taken = complete(walk_.entry, p, p + length, end, offset + (p - begin), memo);
      if (taken == 0) break;
      which = learn(p, length);
    }
    if (which < kTemplates) {
      next_[history_] = static_cast<uint8_t>(which);
      history_ = static_cast<uint8_t>(size_t{history_} << 2 | which);
    }
    p += taken;
  }
  const size_t rows = recording_.events.size_rows() - first_row;
  if (rows == 0) return {};
  return {static_cast<size_t>(p - begin), {Of::event_rows, static_cast<uint32_t>(first_row), rows - 1}};
}

// Does the entry at `begin` fit? Then its bytes, and known.entry holds it.
size_t EventEntries::match(Template& known, const uint8_t* begin, const uint8_t* end, const Memo& memo) {
  const uint8_t* p = begin;
  Entry& entry = known.entry;
  SnapshotSchema::EventRow& row = entry.row;
  int64_t number = 0;
  Value value;
  for (size_t i = 0; i < known.steps; ++i) {
    const Step& step = known.step[i];
    if (end - p < kMargin + step.length) return 0;
    if (!same_fixed(p, known.literal.data() + step.first, step.length, step.tail)) return 0;
    p += step.length;
    switch (step.hole) {
      case Hole::nothing:
        return static_cast<size_t>(p - begin);
      case Hole::slot:
        if (pickle::load_u32(p) != memo.used() + step.stored) return 0;
        p += 4;
        continue;
      case Hole::action:
        if (!read_reference(p, memo, value)) return 0;
        row.action = SnapshotSchema::known_action(value);
        if (row.action == Action::first_unknown) return 0;
        continue;
      case Hole::address:
        if (!read_integer(p, number)) return 0;
        row.address = static_cast<uint64_t>(number);
        continue;
      case Hole::size:
        if (!read_integer(p, row.size) || row.size < 0) return 0;
        continue;
      case Hole::time:
        if (!read_integer(p, row.time)) return 0;
        continue;
      case Hole::stream:
        if (!read_integer(p, entry.stream)) return 0;
        continue;
      case Hole::context:
      case Hole::metadata: {
        StringId& id = step.hole == Hole::context ? row.context : row.metadata;
        bool may_store = false;
        if (!read_text(p, end, memo, recording_.strings, id, may_store)) return 0;
        if (step.stored == kNotStored) continue;
        if (!may_store) return 0;
        entry.stored[step.stored] = {Tag::string, static_cast<uint32_t>(id.value), 0};
        continue;
      }
      case Hole::pool:
        if (read_reference(p, memo, entry.pool)) {
          if (entry.pool.tag != Of::pair || step.stored != kNotStored) return 0;
        } else {
          if (!read_pair(p, schema_, entry.pool)) return 0;
          if (step.stored != kNotStored) entry.stored[step.stored] = entry.pool;
        }
        continue;
      case Hole::shared_stack:
        if (!read_shared_stack(p, memo, entry)) return 0;
        continue;
      case Hole::stack:
        if (!read_stack(p, end, memo, entry)) return 0;
        continue;
    }
  }
  return 0;
}

// A list of frames by reference.
bool EventEntries::read_shared_stack(const uint8_t*& p, const Memo& memo, Entry& entry) {
  Value value;
  if (!read_reference(p, memo, value)) return false;
  entry.frames = value.tag == Of::stack ? Frames::known : Frames::empty;
  entry.row.stack = StackId{static_cast<int32_t>(value.id)};
  return value.tag == Of::stack || value.tag == Tag::empty_list;
}

// References to frames, and APPENDS.
bool EventEntries::read_stack(const uint8_t*& p, const uint8_t* end, const Memo& memo, Entry& entry) {
  const StackRuns::Found found = runs_.find(p, end, memo);
  entry.frames = found.stack.is_none() ? Frames::is_new : Frames::known;
  entry.row.stack = found.stack;
  p += found.bytes;
  return found.bytes > 0;
}

// Adds the row and fills the memo, if what stands `behind` the entry shows that it is complete. Tells how
// many bytes are done with then: those of the entry, and of a FRAME behind it. 0: nothing was changed.
size_t EventEntries::complete(Entry& entry, const uint8_t* begin, const uint8_t* behind, const uint8_t* end,
                              int64_t offset, Memo& memo) {
  if (end - behind < static_cast<ptrdiff_t>(kFrame) + 1) return 0;
  if (is(behind, Op::frame)) behind += kFrame;
  if (!is(behind, Op::empty_dict) && !is(behind, Op::appends)) return 0;
  if (entry.stored_count > 0 && !memo.reserve_next(entry.stored_count)) return 0;
  entry.row.stream = schema_.stream_of(entry.stream);
  if (entry.pool.tag == Of::pair) entry.row.pool = schema_.pool_of(entry.pool);
  if (entry.frames == Frames::is_new) entry.row.stack = runs_.add();
  if (entry.frames == Frames::empty) entry.row.stack = schema_.empty_stack();
  if (entry.frames != Frames::absent && entry.row.stack.is_none()) return 0;
  if (entry.frames_list != kNotStored && entry.frames != Frames::empty) {
    entry.stored[entry.frames_list] = {Of::stack, static_cast<uint32_t>(entry.row.stack.value), 0};
  }
  const size_t row = recording_.events.size_rows();
  const Value dict{Of::event_rows, static_cast<uint32_t>(row), 0};
  if (entry.dict != kNotStored) entry.stored[entry.dict] = dict;
  for (size_t i = 0; i < entry.stored_count; ++i) {
    if (!Memo::is_plain(entry.stored[i])) return 0;
  }
  const auto length = static_cast<size_t>(behind - begin);
  if (!schema_.add_event(entry.row, offset + static_cast<int64_t>(length))) return 0;
  for (size_t i = 0; i < entry.stored_count; ++i) memo.put_next(entry.stored[i]);
  return length;
}

// Makes a template of the entry that was walked. kTemplates: none was made.
size_t EventEntries::learn(const uint8_t* begin, size_t length) {
  if (!walk_.is_learnable || patience_ < 0) return kTemplates;
  --patience_;
  size_t which = kTemplates;
  for (size_t i = 0; i < kTemplates; ++i) {
    if (templates_[i].shape == walk_.shape) which = i;
  }
  if (which < kTemplates) {
    // One of the same shape did not fit: a field changed that had not changed before.
    const SnapshotSchema::EventRow& was = templates_[which].entry.row;
    const SnapshotSchema::EventRow& now = walk_.entry.row;
    const auto changed = [this](Hole hole, bool differs) {
      if (differs) varying_ |= 1U << static_cast<uint32_t>(hole);
    };
    const uint32_t before = varying_;
    changed(Hole::stream, was.stream != now.stream);
    changed(Hole::context, was.context != now.context);
    changed(Hole::metadata, was.metadata != now.metadata);
    changed(Hole::pool, was.pool != now.pool);
    if (varying_ == before) varying_ = UINT32_MAX;  // the same values in other bytes
  } else {
    which = oldest_++ % kTemplates;
  }
  if (build(templates_[which], begin, length)) return which;
  templates_[which].shape = 0;
  return kTemplates;
}

bool EventEntries::build(Template& made, const uint8_t* begin, size_t length) const {
  made.entry = walk_.entry;
  made.shape = walk_.shape;
  made.steps = 0;
  made.literal = {};
  size_t used = 0;   // of made.literal
  size_t fixed = 0;  // first byte of the entry that is in no step yet
  const auto add = [&](Hole hole, uint8_t stored, size_t end_of_fixed) {
    const size_t count = end_of_fixed - fixed;
    if (made.steps == kMaxSteps || used + count > kMaxLiteral) return false;
    std::copy(begin + fixed, begin + end_of_fixed, made.literal.data() + used);
    const size_t tail = count == 0 ? 0 : (count - 1) % 8 + 1;
    made.step[made.steps++] = {static_cast<uint16_t>(used), static_cast<uint16_t>(count), hole, stored,
                               tail == 0 ? 0 : ~uint64_t{0} >> (64 - 8 * tail)};
    used += count;
    return true;
  };
  for (size_t i = 0; i < walk_.places; ++i) {
    const Place& place = walk_.place[i];
    const bool may_be_fixed = place.hole == Hole::stream || place.hole == Hole::context ||
                              place.hole == Hole::metadata || place.hole == Hole::pool;
    if (may_be_fixed && (varying_ >> static_cast<uint32_t>(place.hole) & 1U) == 0) continue;
    if (!add(place.hole, place.stored, place.first)) return false;
    fixed = place.end;
  }
  return add(Hole::nothing, kNotStored, length);
}

}  // namespace gpustrata::io
