#include "capture/stacks/raw_stacks.h"

#include <algorithm>
#include <cstring>

#include "engine/base/hash.h"

namespace gpustrata::capture {

namespace {

[[nodiscard]] uint64_t hash_of(const RawStack& stack) {
  // Addresses differ in few bits; one multiplication each spreads them, mix_hash() finishes.
  uint64_t hash = stack.addresses.size() * 0x9e3779b97f4a7c15U + stack.python.size();
  const auto add = [&](uint64_t word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32;
  };
  for (const uint64_t address : stack.addresses) add(address);
  for (const PythonFrame& frame : stack.python) {
    add(reinterpret_cast<uint64_t>(frame.code));
    add(static_cast<uint64_t>(frame.instruction));
  }
  return mix_hash(hash);
}

static_assert(sizeof(PythonFrame) == 2 * sizeof(uint64_t));

}  // namespace

RawStacks::RawStacks(int64_t limit_bytes, NamePython name, KeepCode keep)
    : budget_(limit_bytes),
      name_(name),
      keep_(keep),
      strings_(budget_),
      words_(budget_),
      frames_(budget_),
      entries_(budget_),
      table_(budget_),
      codes_(budget_) {
  (void)intern({});  // stack 0
}

bool RawStacks::equals(const Entry& entry, const RawStack& stack) const {
  if (entry.addresses != stack.addresses.size() || entry.python != stack.python.size()) return false;
  const uint64_t* const words = words_.data() + entry.words;
  return std::equal(stack.addresses.begin(), stack.addresses.end(), words) &&
         (stack.python.empty() ||
          std::memcmp(words + entry.addresses, stack.python.data(), stack.python.size_bytes()) == 0);
}

StackId RawStacks::intern(const RawStack& stack) {
  const uint64_t hash = hash_of(stack);
  const std::lock_guard guard(lock_);
  if ((entries_.size() + 1) * 2 > table_.size() && !grow_table()) {
    ++lost_;
    return {};
  }
  const size_t mask = table_.size() - 1;
  size_t slot = hash & mask;
  for (; table_[slot] >= 0; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[static_cast<size_t>(table_[slot])];
    if (entry.hash == hash && equals(entry, stack)) return StackId(table_[slot]);
  }
  const StackId id = add(stack, hash);
  if (id.is_none()) {
    ++lost_;
  } else {
    table_[slot] = static_cast<int32_t>(id.index());
  }
  return id;
}

StackId RawStacks::add(const RawStack& stack, uint64_t hash) {
  Entry entry;
  entry.hash = hash;
  entry.words = words_.size();
  entry.addresses = static_cast<uint32_t>(stack.addresses.size());
  entry.python = static_cast<uint32_t>(stack.python.size());
  entry.frames = frames_.size();
  const bool added =
      words_.append(stack.addresses) &&
      words_.append({reinterpret_cast<const uint64_t*>(stack.python.data()), stack.python.size() * 2}) &&
      add_python(stack) && entries_.push_back(entry);
  if (!added) {
    words_.truncate(entry.words);
    frames_.truncate(entry.frames);
    return {};
  }
  return StackId(static_cast<int32_t>(entries_.size() - 1));
}

bool RawStacks::add_python(const RawStack& stack) {
  for (const PythonFrame& python : stack.python) {
    if ((code_count_ + 1) * 2 > codes_.size()) {
      Column<uint64_t> larger(budget_);
      const size_t size = std::max<size_t>(codes_.size() * 2, 1024);
      if (!larger.resize(size, 0)) return false;
      for (const uint64_t code : codes_) {
        if (code == 0) continue;
        size_t slot = mix_hash(code) & (size - 1);
        while (larger[slot] != 0) slot = (slot + 1) & (size - 1);
        larger[slot] = code;
      }
      codes_ = std::move(larger);
    }
    const auto code = reinterpret_cast<uint64_t>(python.code);
    size_t slot = mix_hash(code) & (codes_.size() - 1);
    while (codes_[slot] != 0 && codes_[slot] != code) slot = (slot + 1) & (codes_.size() - 1);
    if (codes_[slot] == 0) {
      codes_[slot] = code;
      ++code_count_;
      keep_(python.code);
    }
    const PythonFrameText text = name_(python);
    trace::Frame frame;
    frame.name = strings_.intern(text.name);
    frame.filename = strings_.intern(text.filename);
    frame.line = text.line;
    if (frame.name.is_none() || frame.filename.is_none() || !frames_.push_back(frame)) return false;
  }
  return true;
}

bool RawStacks::grow_table() {
  Column<int32_t> larger(budget_);
  const size_t size = std::max<size_t>(table_.size() * 2, 1024);
  if (!larger.resize(size, -1)) return false;
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t slot = entries_[i].hash & (size - 1);
    while (larger[slot] >= 0) slot = (slot + 1) & (size - 1);
    larger[slot] = static_cast<int32_t>(i);
  }
  table_ = std::move(larger);
  return true;
}

RawStacks::Kept RawStacks::get(StackId id) const {
  const std::lock_guard guard(lock_);
  const Entry& entry = entries_[id.index()];
  const uint64_t* const words = words_.data() + entry.words;
  const trace::Frame* const frames = frames_.data() + entry.frames;
  return {{words, words + entry.addresses}, {frames, frames + entry.python}};
}

std::string_view RawStacks::text(StringId id) const {
  const std::lock_guard guard(lock_);
  return strings_.view(id);
}

size_t RawStacks::size() const {
  const std::lock_guard guard(lock_);
  return entries_.size();
}

int64_t RawStacks::lost() const {
  const std::lock_guard guard(lock_);
  return lost_;
}

}  // namespace gpustrata::capture
