// The newest N entries, oldest first, for N from 1 to unlimited.
//
// Entries lie in chunks, so that growing moves nothing and an unlimited ring takes memory as it fills. The
// next chunk can be made ahead of its use (`prepare`), by whoever has time; `push` makes one itself only if
// nobody did. A full ring overwrites the oldest entry. If the budget refuses a chunk the ring is as large as
// it could become, and says so by `lost`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/budget.h"

namespace gpustrata::trace {

template <typename T>
class RecorderRing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kChunk = 4096;  // entries

  explicit RecorderRing(Budget& budget) : budget_(&budget) {}
  RecorderRing(const RecorderRing&) = delete;
  RecorderRing& operator=(const RecorderRing&) = delete;
  ~RecorderRing() { drop_chunks(0); }

  // The entry in its place, or null if there is no memory at all. O(1). Takes memory at most once in kChunk
  // calls, and never after `prepare` was called in time.
  T* push(const T& entry) {
    if (at_ == end_ && !advance()) {
      ++lost_;
      return nullptr;
    }
    T* const kept = at_++;
    *kept = entry;
    if (size_ < limit_) {
      ++size_;
    } else {
      ++lost_;
      first_ = first_ + 1 == limit_ ? 0 : first_ + 1;
    }
    return kept;
  }

  // Makes the next chunk if the current one is more than half full. Cheap if there is nothing to do.
  void prepare() {
    const bool grows = size_ < limit_ && static_cast<int64_t>(chunks_.size()) == current_ + 1;
    if (grows && end_ - at_ < kChunk / 2 && slots() < limit_) (void)add_chunk();
  }

  // Keeps the newest entries in order (PyTorch mixes the order up here). `capacity` >= 1. O(entries).
  void set_capacity(int64_t capacity) {
    capacity = std::max<int64_t>(capacity, 1);
    if (capacity == capacity_) return;
    const int64_t dropped = std::max<int64_t>(size_ - capacity, 0);
    if (size_ > 0) {
      const int64_t start = (first_ + dropped) % limit_;
      rotate(start, std::min(slots(), limit_));
    }
    lost_ += dropped;
    size_ -= dropped;
    first_ = 0;
    capacity_ = limit_ = capacity;
    drop_chunks((size_ + kChunk - 1) / kChunk);
    // The last chunk may have been cut for the old capacity.
    if (!chunks_.empty() && chunks_.back().size < chunk_size(static_cast<int64_t>(chunks_.size()) - 1)) {
      limit_ = std::max(size_, slots());
      if (Chunk whole = make_chunk(chunk_size(static_cast<int64_t>(chunks_.size()) - 1)); whole.entries) {
        std::copy_n(chunks_.back().entries.get(), chunks_.back().size, whole.entries.get());
        give_back(chunks_.back());
        chunks_.back() = std::move(whole);
        limit_ = capacity;
      }
    }
    place_cursor();
  }

  void clear() {
    drop_chunks(0);
    size_ = first_ = lost_ = 0;
    limit_ = capacity_;
    place_cursor();
  }

  [[nodiscard]] int64_t size() const { return size_; }
  [[nodiscard]] int64_t capacity() const { return capacity_; }
  // Entries that were overwritten or found no memory, since the last `clear`.
  [[nodiscard]] int64_t lost() const { return lost_; }
  // Oldest first: 0 <= i < size().
  [[nodiscard]] const T& operator[](int64_t i) const {
    const int64_t slot = first_ + i < limit_ ? first_ + i : first_ + i - limit_;
    return at(slot);
  }

 private:
  struct Free {
    void operator()(T* entries) const { std::free(entries); }
  };
  using Entries = std::unique_ptr<T[], Free>;
  struct Chunk {
    Entries entries;
    int64_t size = 0;
  };

  [[nodiscard]] T& at(int64_t slot) const {
    return chunks_[static_cast<size_t>(slot / kChunk)].entries[static_cast<size_t>(slot % kChunk)];
  }
  [[nodiscard]] int64_t chunk_size(int64_t index) const {
    return std::min(kChunk, capacity_ - index * kChunk);
  }
  // Entries there is memory for.
  [[nodiscard]] int64_t slots() const {
    return chunks_.empty() ? 0 : (static_cast<int64_t>(chunks_.size()) - 1) * kChunk + chunks_.back().size;
  }
  [[nodiscard]] Chunk make_chunk(int64_t size) const {
    const int64_t bytes = size * static_cast<int64_t>(sizeof(T));
    if (!budget_->take(bytes)) return {};
    Entries entries(static_cast<T*>(std::malloc(static_cast<size_t>(bytes))));
    if (!entries) {
      budget_->give_back(bytes);
      budget_->note_refusal(bytes);
      return {};
    }
    // Every page is written to here, so that the first use meets no page fault; entries are when they come.
    constexpr auto kPerPage = static_cast<int64_t>(std::max<size_t>(4096 / sizeof(T), 1));
    for (int64_t i = 0; i < size; i += kPerPage) entries[static_cast<size_t>(i)] = T{};
    entries[static_cast<size_t>(size - 1)] = T{};
    return {std::move(entries), size};
  }
  void give_back(const Chunk& chunk) const {
    budget_->give_back(chunk.size * static_cast<int64_t>(sizeof(T)));
  }
  [[nodiscard]] bool add_chunk() {
    Chunk chunk = make_chunk(chunk_size(static_cast<int64_t>(chunks_.size())));
    if (!chunk.entries) return false;
    chunks_.push_back(std::move(chunk));
    return true;
  }
  void drop_chunks(int64_t kept) {
    while (static_cast<int64_t>(chunks_.size()) > kept) {
      give_back(chunks_.back());
      chunks_.pop_back();
    }
  }

  // The next slot to write is at the start of another chunk. False: there is no memory at all.
  [[nodiscard]] bool advance() {
    const int64_t next = current_ + 1;
    if (next * kChunk < limit_) {
      if (static_cast<int64_t>(chunks_.size()) > next || add_chunk()) return enter(next);
      limit_ = slots();  // refused: from now on this is all there is
      if (limit_ == 0) {
        limit_ = capacity_;
        return false;
      }
    }
    return enter(0);
  }
  bool enter(int64_t chunk) {
    current_ = chunk;
    at_ = chunks_[static_cast<size_t>(chunk)].entries.get();
    end_ = at_ + std::min(chunks_[static_cast<size_t>(chunk)].size, limit_ - chunk * kChunk);
    return true;
  }
  // Behind the newest of `size_` entries that start at slot 0.
  void place_cursor() {
    current_ = -1;
    at_ = end_ = nullptr;
    if (size_ == 0 || chunks_.empty()) return;
    (void)enter((size_ - 1) / kChunk);
    at_ += (size_ - 1) % kChunk + 1;
  }
  // The entry in slot `start` comes to slot 0. In place.
  void rotate(int64_t start, int64_t count) {
    if (start == 0) return;
    const auto reverse = [&](int64_t low, int64_t high) {
      while (low < --high) std::swap(at(low++), at(high));
    };
    reverse(0, start);
    reverse(start, count);
    reverse(0, count);
  }

  Budget* budget_;
  std::vector<Chunk> chunks_;
  int64_t capacity_ = kUnlimited;
  int64_t limit_ = kUnlimited;  // capacity, or what memory there was for
  int64_t size_ = 0;
  int64_t first_ = 0;     // slot of the oldest
  int64_t current_ = -1;  // chunk that is written to
  int64_t lost_ = 0;
  T* at_ = nullptr;
  T* end_ = nullptr;
};

}  // namespace gpustrata::trace
