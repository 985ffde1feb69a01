#include "engine/io/writers/pickle_output.h"

#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "engine/base/memory_refused.h"
#include "engine/base/utf8.h"

namespace gpustrata::io {

namespace {

[[nodiscard]] bool is_surrogate(std::string_view text, size_t at) {
  return at + 2 < text.size() && text[at] == '\xED' && static_cast<unsigned char>(text[at + 1]) >= 0xA0;
}

// What Python decodes with "surrogatepass"; empty if `text` is so already.
[[nodiscard]] std::string repaired(std::string_view text) {
  std::string clean;
  size_t kept = 0;
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const utf8::Sequence sequence = utf8::sequence_at(text, at);
    if (!sequence.valid && !(sequence.length == 3 && is_surrogate(text, at))) {
      clean += text.substr(kept, at - kept);
      clean += utf8::kReplacement;
      kept = at + sequence.length;
    }
    at += sequence.length;
  }
  if (kept > 0) clean += text.substr(kept);
  return clean;
}

}  // namespace

PickleOutput::PickleOutput(const model::Recording& recording, ByteSink& sink)
    : recording_(recording),
      sink_(sink),
      texts_(recording.budget),
      json_(recording.budget),
      frames_(recording.budget),
      stacks_(recording.budget),
      pools_(recording.budget) {}

Status PickleOutput::begin() {
  buffer_.reset(new (std::nothrow) std::byte[kSinkPiece]);
  const bool has_extras = recording_.extras.size_rows() > 0;
  if (!buffer_ || !texts_.resize(recording_.strings.size(), 0) ||
      (has_extras && !json_.resize(recording_.strings.size(), 0)) ||
      !frames_.resize(recording_.frames.size(), 0) || !stacks_.resize(recording_.stacks.size(), 0) ||
      !pools_.resize(recording_.pools.size(), 0)) {
    return memory_refused(recording_.budget, "for writing");
  }
  at_ = buffer_.get();
  end_ = at_ + kSinkPiece;
  byte(0x80);  // PROTO
  byte(4);
  return {};
}

Status PickleOutput::end() {
  byte('.');
  flush();
  return status_;
}

void PickleOutput::flush() {
  if (status_ && at_ != buffer_.get()) status_ = sink_.write({buffer_.get(), at_});
  at_ = buffer_.get();
}

void PickleOutput::unsigned_value(uint64_t number) {
  if (number <= static_cast<uint64_t>(INT64_MAX)) return value(static_cast<int64_t>(number));
  std::byte* at = room(11);
  at[0] = std::byte{0x8a};
  at[1] = std::byte{9};
  put_little(at + 2, number);
  at[10] = std::byte{0};
  at_ += 11;
}

void PickleOutput::value(double number) {
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  byte('G');
  for (int shift = 56; shift >= 0; shift -= 8) byte(static_cast<unsigned>(bits >> shift & 0xFF));
}

void PickleOutput::text(std::string_view text) {
  const std::string clean = repaired(text);
  if (!clean.empty()) text = clean;
  constexpr size_t kLongest = std::numeric_limits<uint32_t>::max();
  text = text.substr(0, kLongest);
  std::byte* at = room(kReference);
  if (text.size() < 256) {
    *at++ = std::byte{0x8c};
    *at++ = static_cast<std::byte>(text.size());
  } else {
    *at++ = std::byte{'X'};
    at = put_little(at, static_cast<uint32_t>(text.size()));
  }
  at_ = at;
  const auto bytes = bytes_of(text);
  if (bytes.size() > kSinkPiece / 4) {
    flush();
    if (status_) status_ = sink_.write(bytes);
  } else if (!bytes.empty()) {
    std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
    at_ += bytes.size();
  }
}

void PickleOutput::new_word(Word word, Slot& slot) {
  text(kWordTexts[static_cast<size_t>(word)]);
  remember(slot);
}

void PickleOutput::value(StringId id) {
  if (id.is_none()) return empty_text();
  Slot& slot = texts_[id.index()];
  if (refer(slot)) return;
  const std::string_view chars = recording_.strings.view(id);
  if (chars.empty()) {
    empty_text();
    slot = empty_;
    return;
  }
  text(chars);
  remember(slot);
}

void PickleOutput::empty_text() {
  if (refer(empty_)) return;
  text({});
  remember(empty_);
}

void PickleOutput::value(std::string_view chars) { text(chars); }

void PickleOutput::value(trace::Action action) {
  Slot& slot = actions_[static_cast<size_t>(action)];
  if (refer(slot)) return;
  text(recording_.action_name(action));
  remember(slot);
}

void PickleOutput::value(PoolId pool) {
  Slot& slot = pools_[pool.index()];
  if (refer(slot)) return;
  const model::Pool& ids = recording_.pools[pool.index()];
  value(ids.graph_id);
  value(ids.user_id);
  byte(0x86);  // TUPLE2
  remember(slot);
}

int32_t PickleOutput::refer_frames(int32_t node) {
  // Kept here: what is written could be anything, so the compiler reads members again for every frame.
  const trace::StackTable::Node* const nodes = recording_.stacks.nodes().data();
  const Slot* const frames = frames_.data();
  const int32_t known_highest = known_.highest;
  const int32_t leaf = node;
  int walked = 0, copied = 0;
  // A batch is at most 1000 frames and its two opcodes.
  while (node >= 0) {
    std::byte* at = room(kReference * kBatch + 2);
    uint16_t items = batch_[depth_];
    if (items == kBatch) {
      *at++ = std::byte{'e'};
      items = 0;
    }
    for (; items < kBatch && node >= 0; ++items) {
      const trace::StackTable::Node here = nodes[node];
      const Slot slot = frames[here.frame.index()];
      if (slot == 0) break;
      if (items == 0) *at++ = std::byte{'('};
      const KnownFrames::Step* step = node > known_highest ? nullptr : known_.find(node);
      if (step != nullptr) {
        const auto rest = static_cast<uint16_t>(known_.count - (step - known_.steps.data()));
        if (items + rest <= kBatch) {
          const auto bytes = static_cast<size_t>(known_.length - step->offset);
          std::memcpy(at, known_.bytes.data() + step->offset, bytes);
          at += bytes;
          items += rest;
          copied = rest;
          node = -1;
          break;
        }
      }
      at = put_get(at, slot);
      node = here.caller;
      ++walked;
    }
    const bool whole = items == kBatch;
    batch_[depth_] = items;
    at_ = at;
    if (!whole) break;
  }
  // Learning costs as much as writing: now and then is enough.
  if (node < 0 && copied < walked && walked + copied <= kBatch && known_.misses++ % 8 == 0)
    learn_frames(leaf);
  return node;
}

// All frames from here on have been written, and are at most one batch.
void PickleOutput::learn_frames(int32_t leaf) {
  std::byte* at = known_.bytes.data();
  known_.count = 0;
  known_.highest = leaf;
  for (int32_t node = leaf; node >= 0; node = recording_.stacks.node(node).caller) {
    known_.place_of[static_cast<size_t>(node) % KnownFrames::kPlaces] = known_.count;
    known_.steps[known_.count++] = {node, static_cast<uint16_t>(at - known_.bytes.data())};
    at = put_get(at, frames_[recording_.stacks.node(node).frame.index()]);
  }
  known_.length = static_cast<uint16_t>(at - known_.bytes.data());
}

}  // namespace gpustrata::io
