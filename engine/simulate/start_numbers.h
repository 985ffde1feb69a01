// What was there before a recording has numbers that no file tells (alloc::Block::number). Whenever a request could have
// taken one of several such blocks of one size, the recording shows which was numbered lowest: put together, that is an
// order in which all of it repeats, or there is none.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/base/budget.h"
#include "engine/base/column.h"

namespace gpustrata::simulate {

// Listens to a run of which the n-th thing that was there has the number n + 1.
class StartNumbers final : public alloc::DeviceAllocator::Preference {
 public:
  StartNumbers(const alloc::DeviceAllocator& allocator, Budget& budget)
      : allocator_(allocator), before_(budget) {}

  // Before each request: where its block lies in the recording; 0 = it has none.
  void expect(uint64_t address) { expected_ = address; }
  [[nodiscard]] alloc::BlockId prefer(const alloc::BlockSet& set, alloc::BlockId first,
                                      alloc::BlockId chosen) override;

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
  [[nodiscard]] int64_t growth_of(const alloc::Block& block) const;
  void note(uint32_t first, uint32_t second);
  void tidy();

  const alloc::DeviceAllocator& allocator_;
  uint64_t expected_ = 0;
  Column<Pair> before_;
  size_t tidy_at_ = 1 << 16;
  bool is_full_ = false;  // what more there is is not noted
};

}  // namespace gpustrata::simulate
