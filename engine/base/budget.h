// The byte budget of one open file.
//
// The engine has no exceptions: running out of memory must be seen before it happens. Everything that
// grows with the input asks here first; a refusal becomes `limit_exceeded` with the size that would have
// been needed. Small fixed costs are not charged. Safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpustrata {

class Budget {
 public:
  explicit Budget(int64_t limit_bytes) : limit_(limit_bytes) {}
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
    return true;
  }
  void give_back(int64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  [[nodiscard]] int64_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] int64_t limit() const { return limit_; }
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

  int64_t limit_;
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> needed_{0};
};

}  // namespace gpustrata
