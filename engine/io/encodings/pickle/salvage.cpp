// The value of a pickle that ends inside: what is open is closed from the top, as if it were complete.
#include "engine/io/encodings/pickle/machine.h"

namespace gpustrata::io::pickle {

Value Machine::result() {
  if (halt_ == Halt::stop && close_from(size() - 1)) return last_of(top_[-1]);
  return salvage();
}

Value Machine::salvage() {
  salvaging_ = true;
  budget_.give_back(reserve_);
  reserve_ = 0;
  if (size() > 0 && top_[-1].tag == Tag::open) {
    Open& open = opens_[top_[-1].id];
    open.partial = !open.batched;
  }
  while (salvage_step()) {
  }
  (void)close_from(0);
  if (size() == 0) return {Tag::none, 0, 0};
  if (size() == 1) return base_[0];
  return schema_.finish_list({base_, size()}, {offset_, true, false});
}

// Hands the topmost values to the container that was about to get them. False: none was.
bool Machine::salvage_step() {
  size_t first = 0;
  bool found = false;
  for (size_t i = opens_.size(); i-- > 0 && opens_[i].position >= floor() && !found;) {
    if (!waits_for_member(opens_[i])) continue;
    first = opens_[i].position + 1;
    found = true;
  }
  if (!found) {
    if (marks_.empty()) return false;
    first = marks_.back();
    marks_.pop_back();
  }
  (void)close_from(first);
  if (first > floor() && base_[first - 1].tag == Tag::open) {
    Open& open = opens_[base_[first - 1].id];
    open.partial = true;
    return add_members(first, open.is_dict, false);
  }
  // A tuple in the making.
  const Value value = schema_.finish_list({base_ + first, size() - first}, {offset_, true, false});
  top_ = base_ + first;
  return push(value.tag == Tag::undefined ? Value{Tag::dropped, 0, 0} : value);
}

// Is what lies above the container, without a mark, a member that APPEND or SETITEM was to give it? Such a
// container is still empty, or made by protocol 0. Otherwise it is a complete neighbour.
bool Machine::waits_for_member(const Open& open) const {
  const size_t above = size() - open.position - 1;
  if (open.closed || open.batched || above == 0 || above > (open.is_dict ? 2U : 1U)) return false;
  if (open.singly) return true;
  const size_t after = static_cast<size_t>(&open - opens_.data()) + 1;
  const size_t members_end = after < opens_.size() ? opens_[after].items : items_.size();
  if (members_end != open.items) return false;
  const Value& next = base_[open.position + 1];
  if (open.is_dict) return is_text(next.tag);
  if (marks_.empty()) return true;
  // Under the mark of a list it is a neighbour, under that of a dict a text would be the next key.
  const size_t level = marks_.back();
  const bool in_dict = level > 0 && base_[level - 1].tag == Tag::open && opens_[base_[level - 1].id].is_dict;
  return in_dict && (open.position - level) % 2 == 1 && !is_text(next.tag);
}

}  // namespace gpustrata::io::pickle
