// Which streams besides its own use a block, and the marks in those streams that a free waits for.
//
// Rows beside the blocks, indexed by BlockId, as far as other streams were ever recorded; uses and marks are
// lists in pooled columns. All of it is charged to the budget; what it refuses is not recorded, and said.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "engine/alloc/block.h"
#include "engine/alloc/device_memory.h"
#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/hash.h"

namespace gpustrata::alloc {

class CrossStream {
 public:
  explicit CrossStream(Budget& budget) : budget_(&budget), rows_(budget), uses_(budget), marks_(budget) {}
  CrossStream(const CrossStream&) = delete;
  CrossStream& operator=(const CrossStream&) = delete;
  ~CrossStream();

  // --- Uses: streams, each once per block. O(1) each. ----------------------------------------------------

  // A use that is known becomes one outside of captures if it is one now. False = no memory.
  [[nodiscard]] bool add_use(BlockId id, int64_t stream, bool in_capture);
  // Those recorded while pools were routed or a graph captured, and not before.
  void drop_capture_uses(BlockId id);
  void drop_uses(BlockId id);
  [[nodiscard]] bool has_uses(BlockId id) const {
    return id.index() < rows_.size() && rows_[id.index()].first_use >= 0;
  }
  [[nodiscard]] std::vector<int64_t> streams_of(BlockId id) const;  // in the order they were recorded

  // --- Marks: per stream in order, streams ascending. (PyTorch's order between streams is that of a hash
  // map.)

  struct Mark {
    EventHandle event;
    BlockId block;
  };
  // Of a block that has or had uses. O(log streams). False = no memory.
  [[nodiscard]] bool add_mark(int64_t stream, Mark mark);
  enum class Verdict : uint8_t { take, keep, leave_stream };
  // Asks `judge(mark)` for every mark; those to take are forgotten, then `taken(mark, is_last)` hears whether
  // it was the block's last one. Neither may add marks.
  template <typename Judge, typename Taken>
  void take_marks(Judge&& judge, Taken&& taken);
  [[nodiscard]] bool has_marks(BlockId id) const {
    return id.index() < rows_.size() && rows_[id.index()].marks > 0;
  }
  [[nodiscard]] int64_t outstanding() const { return outstanding_; }  // marks of all streams
  [[nodiscard]] int64_t count_marks() const;                          // the same, counted

 private:
  // Up to so many uses of a block are looked through; more of them are found by hash.
  static constexpr int32_t kFewUses = 8;
  // What a node of `found_` or `queues_` costs, about.
  static constexpr int64_t kNodeBytes = 64;

  struct Row {
    int32_t first_use = -1;
    int32_t last_use = -1;
    int32_t uses = 0;
    int32_t marks = 0;
  };
  struct Use {
    int64_t stream;
    bool in_capture_only;
    int32_t next;
  };
  struct MarkRow {
    Mark mark;
    int32_t next;
  };
  struct Queue {
    int32_t first = -1;
    int32_t last = -1;
  };
  struct UseKey {
    BlockId block;
    int64_t stream;
    bool operator==(const UseKey&) const = default;
  };
  struct UseHash {
    size_t operator()(const UseKey& key) const {
      return static_cast<size_t>(
          mix_hash(mix_hash(static_cast<uint64_t>(key.stream)) + static_cast<uint64_t>(key.block.value)));
    }
  };

  [[nodiscard]] Use& use(int32_t row) { return uses_[row]; }
  [[nodiscard]] const Use& use(int32_t row) const { return uses_[row]; }
  [[nodiscard]] int32_t find_use(BlockId id, int64_t stream) const;  // -1 = none
  [[nodiscard]] bool index_use(BlockId id, int32_t row);
  void forget_use(BlockId id, int32_t row);
  void drop_uses_if(BlockId id, bool in_capture_only);

  Budget* budget_;
  Column<Row> rows_;
  Column<Use> uses_;
  int32_t unused_use_ = -1;
  std::unordered_map<UseKey, int32_t, UseHash> found_;  // uses of blocks with more than kFewUses
  Column<MarkRow> marks_;
  int32_t unused_mark_ = -1;
  std::map<uint64_t, Queue> queues_;  // by stream; none is empty
  int64_t outstanding_ = 0;
};

template <typename Judge, typename Taken>
void CrossStream::take_marks(Judge&& judge, Taken&& taken) {
  for (auto at = queues_.begin(); at != queues_.end();) {
    Queue& queue = at->second;
    int32_t kept = -1;
    for (int32_t row = queue.first; row >= 0;) {
      MarkRow& here = marks_[row];
      const Verdict verdict = judge(here.mark);
      if (verdict == Verdict::leave_stream) break;
      const int32_t next = here.next;
      if (verdict == Verdict::keep) {
        kept = row;
      } else {
        (kept < 0 ? queue.first : marks_[kept].next) = next;
        if (next < 0) queue.last = kept;
        here.next = unused_mark_;
        unused_mark_ = row;
        --outstanding_;
        taken(here.mark, --rows_[here.mark.block.index()].marks == 0);
      }
      row = next;
    }
    if (queue.first >= 0) {
      ++at;
    } else {
      at = queues_.erase(at);
      budget_->give_back(kNodeBytes);
    }
  }
}

}  // namespace gpustrata::alloc
