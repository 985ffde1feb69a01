#include "engine/alloc/cross_stream.h"

#include <algorithm>

namespace memstrata::alloc {

void CrossStream::add_use(BlockId id, int64_t stream, bool in_capture) {
  if (rows_.size() <= id.index()) rows_.resize(id.index() + 1);
  int32_t* at = &rows_[id.index()].first_use;
  while (*at >= 0) {
    Use& use = uses_[static_cast<size_t>(*at)];
    if (use.stream == stream) {
      use.in_capture_only = use.in_capture_only && in_capture;
      return;
    }
    at = &use.next;
  }
  // `at` may point into uses_, which grows below.
  const int32_t row = unused_ >= 0 ? unused_ : static_cast<int32_t>(uses_.size());
  *at = row;
  if (unused_ >= 0) {
    unused_ = uses_[static_cast<size_t>(row)].next;
    uses_[static_cast<size_t>(row)] = {stream, in_capture, -1};
  } else {
    uses_.push_back({stream, in_capture, -1});
  }
}

void CrossStream::drop_capture_uses(BlockId id) {
  int32_t* at = &rows_[id.index()].first_use;
  while (*at >= 0) {
    Use& use = uses_[static_cast<size_t>(*at)];
    if (!use.in_capture_only) {
      at = &use.next;
      continue;
    }
    const int32_t row = *at;
    *at = use.next;
    use.next = unused_;
    unused_ = row;
  }
}

void CrossStream::drop_uses(BlockId id) {
  int32_t& first = rows_[id.index()].first_use;
  while (first >= 0) {
    const int32_t row = first;
    first = uses_[static_cast<size_t>(row)].next;
    uses_[static_cast<size_t>(row)].next = unused_;
    unused_ = row;
  }
}

std::vector<int64_t> CrossStream::streams_of(BlockId id) const {
  std::vector<int64_t> streams;
  for (int32_t row = rows_[id.index()].first_use; row >= 0; row = uses_[static_cast<size_t>(row)].next)
    streams.push_back(uses_[static_cast<size_t>(row)].stream);
  return streams;
}

void CrossStream::add_mark(int64_t stream, Mark mark) {
  auto at = std::find_if(queues_.begin(), queues_.end(), [&](const Queue& queue) {
    return static_cast<uint64_t>(queue.stream) >= static_cast<uint64_t>(stream);
  });
  if (at == queues_.end() || at->stream != stream) at = queues_.insert(at, {stream, {}});
  at->marks.push_back(mark);
  ++rows_[mark.block.index()].marks;
  ++outstanding;
}

}  // namespace memstrata::alloc
