#include "capture/stacks/raw_stacks.h"

#include <algorithm>
#include <cstring>

#include "engine/base/hash.h"

namespace gpustrata::capture {

namespace {

constexpr uint64_t kEnded = 1;  // no object's address

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
  if (entry.ended || entry.addresses != stack.addresses.size() || entry.python != stack.python.size())
    return false;
  const uint64_t* const words = words_.data() + entry.words;
  return std::equal(stack.addresses.begin(), stack.addresses.end(), words) &&
         (stack.python.empty() ||
          std::memcmp(words + entry.addresses, stack.python.data(), stack.python.size_bytes()) == 0);
}

uint64_t RawStacks::hash_of(const RawStack& stack) {
  uint64_t hash = 0;
  for (const uint64_t address : stack.addresses) hash = add(hash, address);
  for (const PythonFrame& frame : stack.python) hash = add(hash, frame);
  return hash;
}

StackId RawStacks::intern(const RawStack& stack, uint64_t hash) {
  hash = mix_hash(hash);
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
  const StackId id = add_entry(stack, hash);
  if (id.is_none()) {
    ++lost_;
  } else {
    table_[slot] = static_cast<int32_t>(id.index());
  }
  return id;
}

StackId RawStacks::add_entry(const RawStack& stack, uint64_t hash) {
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
    if ((code_count_ + 1) * 2 > codes_.size() && !grow_codes()) return false;
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

bool RawStacks::grow_codes() {
  Column<uint64_t> larger(budget_);
  const size_t size = std::max<size_t>(codes_.size() * 2, 1024);
  if (!larger.resize(size, 0)) return false;
  code_count_ = 0;
  for (const uint64_t code : codes_) {
    if (code == 0 || code == kEnded) continue;
    size_t slot = mix_hash(code) & (size - 1);
    while (larger[slot] != 0) slot = (slot + 1) & (size - 1);
    larger[slot] = code;
    ++code_count_;
  }
  codes_ = std::move(larger);
  return true;
}

void RawStacks::forget(void* code) {
  const std::lock_guard guard(lock_);
  if (codes_.empty()) return;
  const auto ended = reinterpret_cast<uint64_t>(code);
  size_t slot = mix_hash(ended) & (codes_.size() - 1);
  while (codes_[slot] != 0 && codes_[slot] != ended) slot = (slot + 1) & (codes_.size() - 1);
  if (codes_[slot] == 0) return;
  codes_[slot] = kEnded;
  for (Entry& entry : std::span(entries_.data(), entries_.size())) {
    const uint64_t* const python = words_.data() + entry.words + entry.addresses;
    for (size_t frame = 0; frame < entry.python && !entry.ended; ++frame)
      entry.ended = python[2 * frame] == ended;
  }
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
