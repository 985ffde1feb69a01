// Stack, marks, memo, members: how containers grow and when they are finished (see machine.h).
#include <algorithm>

#include "engine/io/encodings/pickle/machine.h"
#include "engine/io/limits.h"

namespace gpustrata::io::pickle {

using model::Diag;

// Room for one value more. A list that is written under one MARK takes its members early, so that the stack
// stays small; only a tuple, or members that are unfinished themselves, make it grow.
bool Machine::make_room() {
  if (top_ != limit_) return true;
  if (size() >= kFlushValues && !marks_.empty() && !opens_.empty() && !opens_.back().closed &&
      opens_.back().position + 1 == marks_.back()) {
    const size_t first = marks_.back();
    const bool pairs = opens_.back().is_dict;
    const size_t kept = pairs && (size() - first) % 2 != 0 ? 1 : 0;  // a key that waits for its value
    const Value key = top_[-1];
    top_ -= kept;
    if (size() > first) {
      marks_.pop_back();
      if (!add_members(first, pairs, false) || !push_mark()) return false;
      if (kept != 0) *top_++ = key;
      if (size() < kFlushValues / 2) return true;
    } else {
      top_ += kept;
    }
  }
  const size_t used = size();
  if (!stack_.resize(stack_.size() * 2, Value{})) return out_of_budget();
  base_ = stack_.data();
  top_ = base_ + used;
  limit_ = base_ + stack_.size();
  return true;
}

bool Machine::push(const Value& value) {
  if (top_ == limit_ && !make_room()) return false;
  *top_++ = value;
  return true;
}

bool Machine::push_mark() { return marks_.push_back(static_cast<uint32_t>(size())) || out_of_budget(); }

bool Machine::take_mark(size_t& first) {
  if (marks_.empty()) return damaged("an end without its MARK");
  first = marks_.back();
  marks_.pop_back();
  return true;
}

// A container cannot be a key, so a dict on top of which one begins is not about to get a member: it is
// complete.
bool Machine::complete_dict_below() {
  if (size() <= floor() || top_[-1].tag != Tag::open || !opens_[top_[-1].id].is_dict) return true;
  if (!close_from(size() - 1)) return false;
  if (size() - 1 > floor() && merge(top_[-2], top_[-1])) --top_;
  return true;
}

bool Machine::push_open(bool is_dict) {
  if (!complete_dict_below()) return false;
  if (opens_.size() >= kMaxOpen) return damaged("too many containers inside each other");
  const Value value{Tag::open, static_cast<uint32_t>(opens_.size()), 0};
  Open open{};
  open.position = static_cast<uint32_t>(size());
  open.items = static_cast<uint32_t>(items_.size());
  open.slot = kNoSlot;
  open.is_dict = is_dict;
  return (opens_.push_back(open) || out_of_budget()) && push(value);
}

// LIST and DICT: a container of what lies above the mark.
bool Machine::open_from_mark(bool is_dict) {
  size_t first = 0;
  if (!take_mark(first) || !close_from(first)) return false;
  // Every opcode finds room for one value: the container goes below its members.
  const size_t count = size() - first;
  std::copy_backward(base_ + first, top_, top_ + 1);
  top_ = base_ + first;
  if (!push_open(is_dict)) return false;
  opens_.back().singly = true;
  // Lower than `first` if a dict was completed by this container and merged with the rows before it.
  const size_t position = opens_.back().position;
  if (position != first) std::copy(base_ + first + 1, base_ + first + 1 + count, base_ + position + 1);
  top_ = base_ + position + 1 + count;
  return add_members(position + 1, is_dict, false);
}

// Gives a container its meaning, in place: on the stack and in the memo.
bool Machine::close(size_t index) {
  const Open open = opens_[index];
  const size_t end = index + 1 < opens_.size() ? opens_[index + 1].items : items_.size();
  const std::span<const Value> members = items_.span().subspan(open.items, end - open.items);
  const Ending ending{offset_, open.partial, open.cut};
  Value value = open.is_dict ? schema_.finish_dict(members, ending) : schema_.finish_list(members, ending);
  if (value.tag == Tag::undefined) {
    if (!salvaging_) return out_of_budget();
    value.tag = Tag::dropped;
  }
  opens_[index].closed = true;
  base_[open.position] = value;
  return open.slot == kNoSlot || memo_.put(open.slot, value) || salvaging_ || out_of_budget();
}

// Closes what is open from `position` up, in the order of the file; nothing above gets members any more.
bool Machine::close_from(size_t position) {
  if (opens_.empty() || opens_.back().position < position) return true;
  size_t from = opens_.size() - 1;
  while (from > 0 && opens_[from - 1].position >= position) --from;
  for (size_t i = from; i < opens_.size(); ++i) {
    if (!opens_[i].closed && !close(i)) return false;
  }
  items_.truncate(opens_[from].items);
  opens_.truncate(from);
  return true;
}

// A second reference to a value.
bool Machine::push_reference(const Value& value) {
  if (value.tag != Tag::open) return push(last_of(value));
  const uint32_t position = opens_[value.id].position;
  if (std::binary_search(marks_.begin(), marks_.end(), position + 1)) {
    diagnostics_.add(Diag::cyclic_reference, offset_);
    return push({Tag::none, 0, 0});
  }
  if (!close(value.id)) return false;
  if (value.id + 1 == opens_.size()) {
    items_.truncate(opens_.back().items);
    opens_.pop_back();
  }
  return push(base_[position]);
}

bool Machine::get(uint32_t slot) {
  const Value value = memo_.get(slot);
  if (value.tag == Tag::undefined) return damaged("a reference to something that was never stored");
  return push_reference(value);
}

bool Machine::put(int64_t slot) {
  if (size() == 0) return damaged("nothing to store in the memo");
  if (slot > offset_ + kMemoSlack || slot >= kNoSlot) return damaged("a memo index out of all proportion");
  const auto index = static_cast<uint32_t>(slot);
  if (const Value before = memo_.get(index); before.tag == Tag::open) opens_[before.id].slot = kNoSlot;
  if (top_[-1].tag == Tag::open) {
    Open& open = opens_[top_[-1].id];
    if (open.slot == kNoSlot) {
      open.slot = index;
    } else if (!close_from(size() - 1)) {  // no writer stores an unfinished container twice
      return false;
    }
  }
  return memo_.put(index, last_of(top_[-1])) || out_of_budget();
}

bool Machine::add_batch(bool pairs) {
  size_t first = 0;
  if (pairs) tuple_ = {};
  if (!take_mark(first) || !close_from(first)) return false;
  if (size() >= first + 2 && merge(top_[-2], top_[-1])) --top_;  // as every neighbour before it was
  return add_members(first, pairs, true);
}

bool Machine::add_one(bool pair) {
  const size_t count = pair ? 2 : 1;
  if (size() < floor() + count + 1) return damaged("a member without a container");
  return close_from(size() - count) && add_members(size() - count, pair, false);
}

// Moves the finished values from `first` up into the container below.
bool Machine::add_members(size_t first, bool pairs, bool batch) {
  if (first <= floor()) return damaged("members without a container");
  const std::span<const Value> values{base_ + first, size() - first};
  Value& container = base_[first - 1];
  if (container.tag == Tag::object) {  // an instance that behaves like a list or dict
    Open open{};
    open.position = static_cast<uint32_t>(first - 1);
    open.items = static_cast<uint32_t>(items_.size());
    open.slot = kNoSlot;
    open.is_dict = pairs;
    if (!opens_.push_back(open)) return out_of_budget();
    container = {Tag::open, static_cast<uint32_t>(opens_.size() - 1), 0};
  }
  top_ = base_ + first;
  if (container.tag != Tag::open) {
    if (!is_container(container.tag)) return damaged("members for something that cannot have any");
    diagnostics_.add(Diag::late_change, offset_);
    return true;
  }
  Open& open = opens_[container.id];
  if (open.is_dict != pairs) return damaged("members of the wrong kind for their container");
  open.batched = open.batched || batch;
  const bool taken = pairs ? append_pairs(container.id, values) : append_items(container.id, values);
  return taken || salvaging_ || out_of_budget();
}

bool Machine::append_items(size_t index, std::span<const Value> values) {
  const size_t before = items_.size() - opens_[index].items;
  if (values.empty()) return true;
  if (before + values.size() <= kMaxMembers && !is_rows(values.front().tag)) return items_.append(values);
  for (const Value& value : values) {
    const size_t members = items_.size() - opens_[index].items;
    if (members > 0 && merge(items_.back(), value)) continue;
    if (members >= kMaxMembers && !is_always_kept(value.tag)) {
      opens_[index].cut = true;
    } else if (!items_.push_back(value)) {
      return false;
    }
  }
  return true;
}

bool Machine::append_pairs(size_t index, std::span<const Value> values) {
  if (values.size() % 2 != 0) {
    // Where the input ends inside a dict its last key has no value: that is told as its end.
    if (!salvaging_) diagnostics_.add(Diag::odd_items, offset_);
    values = values.first(values.size() - 1);
  }
  const size_t before = items_.size() - opens_[index].items;
  if (before + values.size() <= 2 * kMaxMembers) return items_.append(values);
  for (size_t i = 0; i < values.size(); i += 2) {
    if (items_.size() - opens_[index].items >= 2 * kMaxMembers && !is_always_kept(values[i + 1].tag)) {
      opens_[index].cut = true;
    } else if (!items_.append(values.subspan(i, 2))) {
      return false;
    }
  }
  return true;
}

bool Machine::make_tuple(size_t count) {
  if (size() < floor() + count) return damaged("a tuple of more values than there are");
  if (!close_from(size() - count)) return false;
  Value values[3];
  for (size_t i = count; i-- > 0;) {
    if (size() == floor()) return damaged("a tuple of more values than there are");
    values[i] = last_of(top_[-1]);
    if (is_rows(top_[-1].tag) && top_[-1].num > 0) {
      --top_[-1].num;  // only the last of the merged rows is taken
    } else {
      --top_;
    }
  }
  return push_tuple({values, count});
}

bool Machine::make_tuple_from_mark() {
  size_t first = 0;
  if (!take_mark(first) || !close_from(first)) return false;
  const std::span<const Value> values{base_ + first, size() - first};
  top_ = base_ + first;
  return push_tuple(values);
}

bool Machine::push_tuple(std::span<const Value> values) {
  const Value first = values.empty() ? Value{} : values.front();
  const Value tuple = schema_.finish_list(values, {offset_, false, false});
  if (tuple.tag == Tag::undefined) return out_of_budget();
  tuple_ = tuple;
  tuple_first_ = first;
  return push(tuple);
}

bool Machine::pop() {
  if (size() == floor()) {
    if (marks_.empty()) return damaged("nothing to take from the stack");
    marks_.pop_back();
    return true;
  }
  if (!close_from(size() - 1)) return false;
  if (is_rows(top_[-1].tag) && top_[-1].num > 0) {
    --top_[-1].num;
  } else {
    --top_;
  }
  return true;
}

bool Machine::duplicate() {
  if (size() == floor()) return damaged("nothing to duplicate");
  return push_reference(top_[-1]);
}

}  // namespace gpustrata::io::pickle
