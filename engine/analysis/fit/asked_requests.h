// The requests of one recording for memory, in order, each with a number for its stack that is the same in all recordings.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "engine/analysis/stacks/shown_stacks.h"
#include "engine/base/charge.h"
#include "engine/base/column.h"
#include "engine/model/recording.h"
#include "engine/simulate/recorded_requests.h"

namespace gpustrata::analysis {

inline constexpr int32_t kNotFreed = INT32_MAX;

// Numbers for stacks that are shown alike, over all recordings.
class StackNumbers {
 public:
  explicit StackNumbers(Budget& budget) : charge_(budget) {}
  // -1 = no memory.
  [[nodiscard]] int32_t of(const ShownKey& key) {
    const auto found = numbers_.find(key);
    if (found != numbers_.end()) return found->second;
    if (!charge_.more(64)) return -1;
    return numbers_.emplace(key, static_cast<int32_t>(numbers_.size())).first->second;
  }

 private:
  struct Mixed {
    size_t operator()(const ShownKey& key) const { return static_cast<size_t>(key.first); }
  };
  Charge charge_;
  std::unordered_map<ShownKey, int32_t, Mixed> numbers_;
};

// What was there before comes first.
struct AskedRequests {
  explicit AskedRequests(Budget& budget)
      : row(budget), symbol(budget), death(budget), free_row(budget), ordinal_of_row(budget), waits(budget) {}

  Column<int32_t> row;  // of its log
  Column<int32_t> symbol;
  Column<int32_t> death;     // the request before which it is freed; count() = behind the last; or kNotFreed
  Column<int32_t> free_row;  // of its log; -1 = never
  Column<int32_t> ordinal_of_row;  // by row of its log; -1 = no request
  Column<int64_t> waits;           // the stream that its free waits for; -1 = none
  int32_t before = 0;

  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(row.size()); }

  // False = no memory.
  [[nodiscard]] bool read(const model::Recording& recording, const simulate::RecordedRequests& requests,
                          StackNumbers& symbols, Budget& budget);

 private:
  [[nodiscard]] bool order_what_was_before(const simulate::RequestLog& log, Budget& budget);
};

}  // namespace gpustrata::analysis
