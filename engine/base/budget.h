// The byte budget of one open file; or of all that a server has open, within which each has its own.
//
// The engine has no exceptions: running out of memory must be seen before it happens. Everything that
// grows with the input asks here first; a refusal becomes `limit_exceeded` with the size that would have
// been needed. Small fixed costs are not charged. Safe from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gpustrata {

class Budget {
 public:
  // `within`: what is taken here is taken there as well; it outlives this one.
  explicit Budget(int64_t limit_bytes, Budget* within = nullptr) : limit_(limit_bytes), within_(within) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // False if `bytes` more would pass the limit; then nothing is charged and `needed()` remembers.
  [[nodiscard]] bool take(int64_t bytes) {
    int64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ - used) {
        remember(bytes > INT64_MAX - used ? INT64_MAX : used + bytes);
        return false;
      }
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return within_ == nullptr || take_within(bytes);
  }
  void give_back(int64_t bytes) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    if (within_ != nullptr) within_->give_back(bytes);
  }

  [[nodiscard]] int64_t used() const { return used_.load(std::memory_order_relaxed); }
  // As it is now, if it is within another one.
  [[nodiscard]] int64_t limit() const {
    return within_ == nullptr ? limit_ : std::min(limit_, used() + within_->limit() - within_->used());
  }
  // Total bytes that the largest refused request would have led to; 0 if nothing was refused.
  [[nodiscard]] int64_t needed() const { return needed_.load(std::memory_order_relaxed); }

  // The allocator itself refused (a 32-bit heap can be full before the budget is).
  void note_refusal(int64_t bytes) { remember(used() + bytes); }

 private:
  void remember(int64_t needed) {
    int64_t largest = needed_.load(std::memory_order_relaxed);
    while (needed > largest && !needed_.compare_exchange_weak(largest, needed, std::memory_order_relaxed)) {
    }
  }

  // What was taken here is given back if it is refused there.
  [[nodiscard, gnu::noinline]] bool take_within(int64_t bytes) {
    if (within_->take(bytes)) return true;
    remember(used_.fetch_sub(bytes, std::memory_order_relaxed));
    return false;
  }

  int64_t limit_;
  Budget* within_;
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> needed_{0};
};

}  // namespace gpustrata
