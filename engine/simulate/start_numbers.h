// What was there before a recording has numbers that no file tells (alloc::Block::number). Whenever a request could have
// taken one of several such blocks of one size, the recording shows which was numbered lowest, and where several are given
// back together, the order of all of them: put together, that is an order in which all of it repeats, or there is none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/model/recording.h"

namespace gpustrata::simulate {

// Listens to a run of which the n-th thing that was there has the number n + 1.
class StartNumbers final : public alloc::DeviceAllocator::Preference {
 public:
  // The recording outlives it. `events`: of the device.
  StartNumbers(const model::Recording& recording, model::RowRange events,
               const alloc::DeviceAllocator& allocator, Budget& budget)
      : events_(recording.events),
        rows_(events),
        allocator_(allocator),
        at_(events.first),
        given_back_(budget),
        before_(budget) {}

  // Before each request: the row of the event that it is told from, -1 = none.
  void begin_request(int32_t event);
  [[nodiscard]] alloc::BlockId prefer(const alloc::BlockSet& set, alloc::BlockId first,
                                      alloc::BlockId chosen) override;
  void give_back(std::span<const alloc::BlockId> blocks) override;

  // For DeviceAllocator::set_adopted_numbers(). What nothing is known of stays as near as it can to where it was; what
  // contradicts itself, too. O(pairs log pairs).
  [[nodiscard]] std::vector<uint32_t> numbers();

 private:
  struct Pair {  // places from 0
    uint32_t first, second;
    auto operator<=>(const Pair&) const = default;
  };
  [[nodiscard]] bool is_unknown(const alloc::Block& block) const {
    return block.number > 0 && block.number <= allocator_.adopted_count();
  }
  struct GivenBack {  // memory, by a row of the recording
    uint64_t address;
    int32_t row;
    auto operator<=>(const GivenBack&) const = default;
  };
  [[nodiscard]] int64_t growth_of(const alloc::Block& block) const;
  void find_given_back();
  [[nodiscard]] int32_t row_of(const alloc::Block& block) const;
  void note(uint32_t first, uint32_t second);
  void tidy();

  const model::EventTable& events_;
  const model::RowRange rows_;
  const alloc::DeviceAllocator& allocator_;
  uint64_t expected_ = 0;         // where the request's block lies in the recording; 0 = it has none
  int32_t at_;                    // events below belong to requests before this one
  int32_t event_ = -1;            // of the request
  bool is_found_ = false;         // given_back_ is that of the request
  Column<GivenBack> given_back_;  // by address
  Column<Pair> before_;
  size_t tidy_at_ = 1 << 16;
  bool is_full_ = false;  // what more there is is not noted
};

}  // namespace gpustrata::simulate
