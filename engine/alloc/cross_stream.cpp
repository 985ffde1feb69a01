#include "engine/alloc/cross_stream.h"

namespace gpustrata::alloc {

CrossStream::~CrossStream() {
  budget_->give_back(kNodeBytes * static_cast<int64_t>(found_.size() + queues_.size()));
}

int32_t CrossStream::find_use(BlockId id, int64_t stream) const {
  const Row& row = rows_[id.index()];
  if (row.uses > kFewUses) {
    const auto found = found_.find({id, stream});
    return found == found_.end() ? -1 : found->second;
  }
  int32_t at = row.first_use;
  while (at >= 0 && use(at).stream != stream) at = use(at).next;
  return at;
}

bool CrossStream::index_use(BlockId id, int32_t row) {
  if (!budget_->take(kNodeBytes)) return false;
  found_.emplace(UseKey{id, use(row).stream}, row);
  return true;
}

void CrossStream::forget_use(BlockId id, int32_t row) {
  if (found_.erase({id, use(row).stream}) > 0) budget_->give_back(kNodeBytes);
}

bool CrossStream::add_use(BlockId id, int64_t stream, bool in_capture) {
  while (rows_.size() <= id.index()) {
    if (!rows_.push_back({})) return false;
  }
  if (const int32_t known = find_use(id, stream); known >= 0) {
    use(known).in_capture_only = use(known).in_capture_only && in_capture;
    return true;
  }
  int32_t row = unused_use_;
  if (row < 0) {
    row = static_cast<int32_t>(uses_.size());
    if (row == INT32_MAX || !uses_.push_back({})) return false;
  } else {
    unused_use_ = use(row).next;
  }
  use(row) = {stream, in_capture, -1};
  Row& block = rows_[id.index()];
  bool found = true;
  if (block.uses == kFewUses) {
    for (int32_t at = block.first_use; at >= 0 && found; at = use(at).next) found = index_use(id, at);
  }
  if (block.uses >= kFewUses) found = found && index_use(id, row);
  if (!found) {
    if (block.uses == kFewUses) {
      for (int32_t at = block.first_use; at >= 0; at = use(at).next) forget_use(id, at);
    }
    use(row).next = unused_use_;
    unused_use_ = row;
    return false;
  }
  (block.last_use < 0 ? block.first_use : use(block.last_use).next) = row;
  block.last_use = row;
  ++block.uses;
  return true;
}

void CrossStream::drop_uses_if(BlockId id, bool in_capture_only) {
  Row& block = rows_[id.index()];
  const bool indexed = block.uses > kFewUses;
  int32_t kept = -1, uses = 0;
  for (int32_t row = block.first_use; row >= 0;) {
    const int32_t next = use(row).next;
    if (in_capture_only && !use(row).in_capture_only) {
      kept = row;
      ++uses;
    } else {
      (kept < 0 ? block.first_use : use(kept).next) = next;
      if (indexed) forget_use(id, row);
      use(row).next = unused_use_;
      unused_use_ = row;
    }
    row = next;
  }
  block.last_use = kept;
  block.uses = uses;
  if (indexed && uses <= kFewUses) {
    for (int32_t row = block.first_use; row >= 0; row = use(row).next) forget_use(id, row);
  }
}

void CrossStream::drop_capture_uses(BlockId id) { drop_uses_if(id, true); }
void CrossStream::drop_uses(BlockId id) { drop_uses_if(id, false); }

std::vector<int64_t> CrossStream::streams_of(BlockId id) const {
  std::vector<int64_t> streams;
  streams.reserve(static_cast<size_t>(rows_[id.index()].uses));
  for (int32_t row = rows_[id.index()].first_use; row >= 0; row = use(row).next)
    streams.push_back(use(row).stream);
  return streams;
}

bool CrossStream::add_mark(int64_t stream, Mark mark) {
  int32_t row = unused_mark_;
  if (row < 0) {
    row = static_cast<int32_t>(marks_.size());
    if (row == INT32_MAX || !marks_.push_back({})) return false;
    marks_[row].next = -1;
    unused_mark_ = row;
  }
  auto queue = queues_.find(static_cast<uint64_t>(stream));
  if (queue == queues_.end()) {
    if (!budget_->take(kNodeBytes)) return false;
    queue = queues_.emplace(static_cast<uint64_t>(stream), Queue()).first;
  }
  MarkRow& added = marks_[row];
  unused_mark_ = added.next;
  added = {mark, -1};
  Queue& marks = queue->second;
  (marks.last < 0 ? marks.first : marks_[marks.last].next) = row;
  marks.last = row;
  ++rows_[mark.block.index()].marks;
  ++outstanding_;
  return true;
}

int64_t CrossStream::count_marks() const {
  int64_t count = 0;
  for (const auto& [stream, queue] : queues_) {
    for (int32_t row = queue.first; row >= 0; row = marks_[row].next) ++count;
  }
  return count;
}

}  // namespace gpustrata::alloc
