#include "engine/io/readers/snapshot/stack_runs.h"

#include <cstring>

#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/io/encodings/pickle/opcodes.h"
#include "engine/io/encodings/pickle/operands.h"
#include "engine/io/readers/snapshot/snapshot_values.h"

namespace gpustrata::io {

using pickle::Op;

namespace {

constexpr size_t kRingBytes = size_t{8} << 20;
constexpr size_t kFirstRing = size_t{256} << 10;
constexpr size_t kLongestRun = size_t{64} << 10;
constexpr size_t kTableBits = 16;
constexpr int64_t kSpareMemory = int64_t{32} << 20;
// The sample: eight bytes every kSampleStep bytes of the first kSampled. Stacks differ near their innermost
// frames.
constexpr size_t kSampled = 144;
constexpr size_t kSampleStep = 24;

[[nodiscard]] size_t sample_of(const uint8_t* bytes) {
  uint64_t hash = 0;
  for (size_t at = 0; at < kSampled; at += kSampleStep) {
    hash = (hash ^ load_word(bytes + at)) * 0x9fb21c651e98df25ULL;
    hash ^= hash >> 32;
  }
  return static_cast<size_t>(hash & ((size_t{1} << kTableBits) - 1));
}

}  // namespace

StackRuns::StackRuns(trace::StackTable& stacks, Budget& budget) : budget_(budget), stacks_(stacks) {}

// Where memory is short it is needed for what was read, not for speed.
bool StackRuns::make_ready() {
  constexpr size_t kTable = size_t{1} << kTableBits;
  if (budget_.limit() - budget_.used() < kSpareMemory) return false;
  return successors_.resize(kTable, kNone) && samples_.resize(kTable, kNone);
}

void StackRuns::forget() {
  oldest_ = next_;
  last_ = before_last_ = kNone;
}

bool StackRuns::is_at(uint32_t id, const uint8_t* bytes, size_t left) const {
  const Run* run = run_of(id);
  return run != nullptr && run->length <= left && same_bytes(bytes, ring_.data() + run->first, run->length);
}

uint32_t& StackRuns::successor_of_last_two() {
  const uint32_t mixed = (last_ * 0x9e3779b1U) ^ (before_last_ * 0x85ebca77U);
  return successors_[mixed >> (32 - kTableBits)];
}

StackRuns::Found StackRuns::take(uint32_t id) {
  const Run& run = runs_[id & kRunMask];
  before_last_ = last_;
  last_ = id;
  return {run.length, run.stack};
}

StackRuns::Found StackRuns::find(const uint8_t* bytes, const uint8_t* end, const pickle::Memo& memo) {
  if (samples_.empty() && !make_ready()) return {};
  const size_t left = static_cast<size_t>(end - bytes) - kMargin;
  if (is_at(last_, bytes, left)) return take(last_);
  uint32_t& successor = successor_of_last_two();
  if (is_at(successor, bytes, left)) return take(successor);
  if (left >= kSampled) {
    uint32_t& sampled = samples_[sample_of(bytes)];
    if (is_at(sampled, bytes, left)) {
      successor = sampled;
      return take(sampled);
    }
  }
  new_bytes_ = bytes;
  new_length_ = decode(bytes, end, memo);
  new_left_ = left;
  return {new_length_, {}};
}

StackId StackRuns::add() {
  const StackId stack = stacks_.intern(frames_);
  if (stack.is_none()) return stack;
  const uint32_t id = remember(stack);
  if (id == kNone) return stack;
  successor_of_last_two() = id;
  if (new_left_ >= kSampled) samples_[sample_of(new_bytes_)] = id;
  (void)take(id);
  return stack;
}

// Into frames_. 0: it is something else.
size_t StackRuns::decode(const uint8_t* bytes, const uint8_t* end, const pickle::Memo& memo) {
  frames_.clear();
  const uint8_t* p = bytes;
  for (;;) {
    if (end - p < static_cast<ptrdiff_t>(kMargin) || static_cast<size_t>(p - bytes) > kLongestRun) return 0;
    uint32_t slot = 0;
    if (*p == static_cast<uint8_t>(Op::long_binget)) {
      slot = pickle::load_u32(p + 1);
      p += 5;
    } else if (*p == static_cast<uint8_t>(Op::binget)) {
      slot = p[1];
      p += 2;
    } else {
      break;
    }
    const values::Value frame = memo.get(slot);
    if (frame.tag != Of::frame) return 0;
    frames_.push_back(FrameId{static_cast<int32_t>(frame.id)});
  }
  if (*p != static_cast<uint8_t>(Op::appends) || frames_.empty()) return 0;
  return static_cast<size_t>(p + 1 - bytes);
}

// kNone: too short to compare, or no memory; then it is decoded every time.
uint32_t StackRuns::remember(StackId stack) {
  const size_t length = new_length_;
  if (length < 8) return kNone;
  if (written_ + length > ring_.size()) {
    const size_t wanted = ring_.empty() ? kFirstRing : ring_.size() * 2;
    if (wanted > kRingBytes || !ring_.resize(wanted, 0)) {
      if (length > ring_.size()) return kNone;
      // From the beginning. What lies behind the newest run is the oldest, and left behind.
      while (oldest_ != next_ && runs_[oldest_ & kRunMask].first >= written_) ++oldest_;
      written_ = 0;
    }
  }
  // The oldest run is the first one behind the newest.
  const uint32_t id = next_;
  if (id == kNone - 1) return kNone;
  const auto overlaps = [&](const Run& run) {
    return run.first < written_ + length && written_ < size_t{run.first} + run.length;
  };
  while (oldest_ != next_ && (next_ - oldest_ > kRunMask || overlaps(runs_[oldest_ & kRunMask]))) ++oldest_;
  const Run run{id, static_cast<uint32_t>(written_), static_cast<uint32_t>(length), stack};
  if ((id & kRunMask) < runs_.size()) {
    runs_[id & kRunMask] = run;
  } else if (!runs_.push_back(run)) {
    return kNone;
  }
  std::memcpy(ring_.data() + written_, new_bytes_, length);
  written_ += length;
  ++next_;
  return id;
}

}  // namespace gpustrata::io
