// Address ranges in use that do not meet: only to notice when one would.
#pragma once

#include <cstdint>
#include <map>

#include "engine/base/budget.h"

namespace gpustrata::alloc {

class LiveRanges {
 public:
  explicit LiveRanges(Budget& budget) : budget_(&budget) {}
  LiveRanges(const LiveRanges&) = delete;
  LiveRanges& operator=(const LiveRanges&) = delete;
  ~LiveRanges() { budget_->give_back(kNodeBytes * static_cast<int64_t>(end_of_.size())); }

  [[nodiscard]] bool empty() const { return end_of_.empty(); }
  // Is a byte of [start, end) in a range? O(log ranges).
  [[nodiscard]] bool meets(uint64_t start, uint64_t end) const {
    const auto next = end_of_.lower_bound(end);
    return next != end_of_.begin() && std::prev(next)->second > start;
  }
  // It meets none. False = no memory.
  [[nodiscard]] bool insert(uint64_t start, uint64_t end) {
    if (!budget_->take(kNodeBytes)) return false;
    end_of_.emplace(start, end);
    return true;
  }
  // Bytes of any ranges. Without memory for the upper part of one that is cut in two, that is forgotten.
  void erase(uint64_t start, uint64_t end) {
    auto at = end_of_.lower_bound(start);
    if (at != end_of_.begin() && std::prev(at)->second > start) --at;
    while (at != end_of_.end() && at->first < end) {
      const uint64_t from = at->first, until = at->second;
      if (from < start) {
        at->second = start;
        ++at;
      } else {
        at = end_of_.erase(at);
        budget_->give_back(kNodeBytes);
      }
      if (until > end) (void)insert(end, until);
    }
  }

 private:
  static constexpr int64_t kNodeBytes = 64;

  Budget* budget_;
  std::map<uint64_t, uint64_t> end_of_;  // by start
};

}  // namespace gpustrata::alloc
