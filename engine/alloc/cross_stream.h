// Which streams besides its own use a block, and the marks in those streams that a free waits for.
//
// Rows beside the blocks, indexed by BlockId, as far as other streams were ever recorded; lists of uses from
// one pooled array.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "engine/alloc/block.h"
#include "engine/alloc/device_memory.h"

namespace memstrata::alloc {

class CrossStream {
 public:
  struct Use {
    int64_t stream;
    bool in_capture_only;  // recorded while pools were routed or a graph captured, and not before
    int32_t next;
  };
  [[nodiscard]] bool has_uses(BlockId id) const {
    return id.index() < rows_.size() && rows_[id.index()].first_use >= 0;
  }
  void add_use(BlockId id, int64_t stream, bool in_capture);
  void drop_capture_uses(BlockId id);
  void drop_uses(BlockId id);
  [[nodiscard]] std::vector<int64_t> streams_of(BlockId id) const;  // in the order they were recorded

  // Outstanding marks: per stream in order, streams ascending. (PyTorch's order between streams is that of a
  // hash map.)
  struct Mark {
    EventHandle event;
    BlockId block;
  };
  struct Queue {
    int64_t stream;
    std::deque<Mark> marks;
  };
  void add_mark(int64_t stream, Mark mark);
  // One mark of the block is done; true if it was the last.
  [[nodiscard]] bool finish_mark(BlockId id) { return --rows_[id.index()].marks == 0; }
  [[nodiscard]] bool has_marks(BlockId id) const {
    return id.index() < rows_.size() && rows_[id.index()].marks > 0;
  }
  [[nodiscard]] std::vector<Queue>& queues() { return queues_; }
  [[nodiscard]] const std::vector<Queue>& queues() const { return queues_; }
  int64_t outstanding = 0;  // marks in all queues

 private:
  struct Row {
    int32_t first_use = -1;
    int32_t marks = 0;
  };
  std::vector<Row> rows_;
  std::vector<Use> uses_;
  int32_t unused_ = -1;
  std::vector<Queue> queues_;
};

}  // namespace memstrata::alloc
