// A stream of values as a pickle of protocol 4, in the form that every reader of snapshots takes.
//
// Only opcodes that PyTorch's web viewer knows; integers of at most 8 bytes (what is 2^63 and above becomes
// negative, as the C++ writer of PyTorch does); batches of 1000 items. Texts, frames, stacks, pools and lists
// of rows are written once and referred to afterwards. Text that is not UTF-8 gets U+FFFD, because Python
// would refuse the file; encoded surrogates stay, Python reads them.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <string_view>

#include "engine/io/byte_sink.h"
#include "engine/io/readers/snapshot/snapshot_words.h"
#include "engine/io/writers/written_lists.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

class PickleOutput {
 public:
  static constexpr bool kShares = true;  // can refer to what was written before

  PickleOutput(const model::Recording& recording, ByteSink& sink);
  // Takes the memory (4 bytes for each text, frame and stack of the recording), writes the header.
  [[nodiscard]] Status begin();
  [[nodiscard]] Status end();
  // Of the sink. Nothing more is written once it failed.
  [[nodiscard]] bool failed() const { return !status_; }

  void begin_dict() { open('}'); }
  void key(Word word) {
    next('u');
    word_text(word);
  }
  void key(StringId text) {
    next('u');
    value(text);
  }
  void key(std::string_view text) {
    next('u');
    value(text);
  }
  void end_dict() { close('u'); }
  void begin_list() { open(']'); }
  void item() { next('e'); }
  void end_list() { close('e'); }

  void value(int64_t number) {
    std::byte* at = room(10);
    const auto bits = static_cast<uint64_t>(number);
    if (bits < 256) {
      *at++ = std::byte{'K'};
      *at++ = static_cast<std::byte>(bits);
    } else if (bits < 65536) {
      *at++ = std::byte{'M'};
      at = put_little(at, static_cast<uint16_t>(bits));
    } else if (number >= INT32_MIN && number <= INT32_MAX) {
      *at++ = std::byte{'J'};
      at = put_little(at, static_cast<uint32_t>(bits));
    } else {
      // The smallest two's complement: enough bits for the value and its sign.
      const uint64_t magnitude = number < 0 ? ~bits : bits;
      const auto bytes = static_cast<size_t>(std::bit_width(magnitude)) / 8 + 1;
      *at++ = std::byte{0x8a};
      *at++ = static_cast<std::byte>(bytes);
      put_little(at, bits);
      at += bytes;
    }
    at_ = at;
  }
  void address(uint64_t address) { value(static_cast<int64_t>(address)); }
  void unsigned_value(uint64_t number);  // of unknown data: nine bytes where they are needed
  void value(double number);
  void value(bool flag) { byte(flag ? 0x88 : 0x89); }
  void none() { byte('N'); }
  void value(Word word) { word_text(word); }
  void value(StringId text);          // none = the empty text
  void value(std::string_view text);  // not remembered
  void value(trace::Action action);
  void value(PoolId pool);

  // True: a reference was written, nothing else is to be done. False: write it, calling `remember` after its
  // first opcode.
  [[nodiscard]] bool refer(FrameId frame) { return refer(frames_[frame.index()]); }
  [[nodiscard]] bool refer(StackId stack) { return refer(stacks_[stack.index()]); }
  [[nodiscard]] bool refer_json(StringId text) { return refer(json_[text.index()]); }
  [[nodiscard]] bool refer(RowList list, model::RowRange rows) { return refer(lists_.find(list, rows)); }
  void remember(FrameId frame) { remember(frames_[frame.index()]); }
  void remember(StackId stack) { remember(stacks_[stack.index()]); }
  void remember_json(StringId text) { remember(json_[text.index()]); }
  void remember(RowList list, model::RowRange rows) {
    uint32_t slot = 0;
    remember(slot);
    lists_.add(list, rows, slot);
  }
  // The frames of a list of them that were all written before: as `item` and `refer` for each, but faster.
  // Returns the node where a frame comes that was not.
  [[nodiscard]] int32_t refer_frames(int32_t node);
  // Called between rows.
  void row_done() {}

 private:
  // Memo slot + 1; 0 = not written yet.
  using Slot = uint32_t;
  static constexpr uint16_t kBatch =
      1000;  // the web viewer passes the items of one APPENDS as arguments of a call
  static constexpr size_t kReference = 5;  // bytes of the longest reference

  std::byte* room(size_t bytes) {
    if (static_cast<size_t>(end_ - at_) < bytes) flush();
    return at_;
  }
  void byte(unsigned value) {
    *room(1) = static_cast<std::byte>(value);
    ++at_;
  }
  void open(char opcode) {
    byte(static_cast<unsigned char>(opcode));
    batch_[++depth_] = 0;
  }
  // Before an item: a full batch is flushed, a new one begun.
  void next(char flush_opcode) {
    std::byte* at = room(2);
    uint16_t& items = batch_[depth_];
    if (items == kBatch) {
      *at++ = static_cast<std::byte>(flush_opcode);
      items = 0;
    }
    if (items++ == 0) *at++ = std::byte{'('};
    at_ = at;
  }
  void close(char flush_opcode) {
    if (batch_[depth_--] > 0) byte(static_cast<unsigned char>(flush_opcode));
  }
  [[nodiscard]] bool refer(Slot slot) {
    if (slot == 0) return false;
    get(slot);
    return true;
  }
  void get(Slot slot) { at_ = put_get(room(kReference), slot); }
  static std::byte* put_get(std::byte* at, Slot slot) {
    const Slot index = slot - 1;
    if (index < 256) {
      at[0] = std::byte{'h'};
      at[1] = static_cast<std::byte>(index);
      return at + 2;
    }
    at[0] = std::byte{'j'};
    return put_little(at + 1, index);
  }
  template <typename Int>
  static std::byte* put_little(std::byte* at, Int number) {
    for (size_t i = 0; i < sizeof(Int); ++i) at[i] = static_cast<std::byte>(number >> (8 * i));
    return at + sizeof(Int);
  }
  void remember(Slot& slot) {
    byte(0x94);  // MEMOIZE
    slot = ++memo_size_;
  }
  // Opcodes of the outer frames of a list that were all references: stacks that follow mostly end in the same
  // frames, and those are copied at once from the node on where they meet.
  struct KnownFrames {
    struct Step {
      int32_t node = -1;
      uint16_t offset = 0;  // of its reference in `bytes`
    };
    static constexpr size_t kPlaces = 256;

    // The step of this node, or null: some are not found, because another one has their place.
    [[nodiscard]] const Step* find(int32_t node) const {
      const uint16_t place = place_of[static_cast<size_t>(node) % kPlaces];
      return place < count && steps[place].node == node ? &steps[place] : nullptr;
    }

    std::array<Step, kBatch> steps;  // innermost first
    std::array<uint16_t, kPlaces> place_of{};
    std::array<std::byte, kBatch * kReference> bytes;
    uint16_t count = 0, length = 0;  // of steps, of bytes
    int32_t highest = -1;            // of the nodes: the innermost, for callers come before those they call
    uint32_t misses = 0;             // lists of which less than half was copied
  };
  void learn_frames(int32_t leaf);
  void word_text(Word word) {
    Slot& slot = words_[static_cast<size_t>(word)];
    if (!refer(slot)) new_word(word, slot);
  }
  void new_word(Word word, Slot& slot);
  void text(std::string_view text);
  // Shared by absent texts and those that are empty: a reader cannot tell them apart.
  void empty_text();
  void flush();

  const model::Recording& recording_;
  ByteSink& sink_;
  Status status_;
  std::unique_ptr<std::byte[]> buffer_;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  // Items in the batch that is open, one entry for each open container.
  std::array<uint16_t, 256> batch_{};
  size_t depth_ = 0;
  Slot memo_size_ = 0;
  Slot empty_ = 0;
  std::array<Slot, static_cast<size_t>(Word::kWords)> words_{};
  std::array<Slot, 256> actions_{};
  KnownFrames known_;
  Column<Slot> texts_, json_, frames_, stacks_, pools_;
  WrittenLists lists_;
};

}  // namespace gpustrata::io
