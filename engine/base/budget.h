// The byte budget of one open file.
//
// The engine has no exceptions: running out of memory must be seen before it happens. Everything that
// grows with the input asks here first; a refusal becomes `limit_exceeded` with the size that would have
// been needed. Small fixed costs are not charged.
#pragma once

#include <algorithm>
#include <cstdint>

namespace memstrata {

class Budget {
 public:
  explicit Budget(int64_t limit_bytes) : limit_(limit_bytes) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // False if `bytes` more would pass the limit; then nothing is charged and `needed()` remembers.
  [[nodiscard]] bool take(int64_t bytes) {
    if (bytes > limit_ - used_) {
      needed_ = std::max(needed_, bytes > INT64_MAX - used_ ? INT64_MAX : used_ + bytes);
      return false;
    }
    used_ += bytes;
    return true;
  }
  void give_back(int64_t bytes) { used_ -= bytes; }

  [[nodiscard]] int64_t used() const { return used_; }
  [[nodiscard]] int64_t limit() const { return limit_; }
  // Total bytes that the largest refused request would have led to; 0 if nothing was refused.
  [[nodiscard]] int64_t needed() const { return needed_; }

  // The allocator itself refused (a 32-bit heap can be full before the budget is).
  void note_refusal(int64_t bytes) { needed_ = std::max(needed_, used_ + bytes); }

 private:
  int64_t limit_;
  int64_t used_ = 0;
  int64_t needed_ = 0;
};

}  // namespace memstrata
