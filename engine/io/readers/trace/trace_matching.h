// Which alloc of a device a free belongs to: that of its address. Records of old traces have none; then it is the
// newest one of the same size, under an address that is made up.
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/io/readers/trace/trace_rows.h"

namespace gpustrata::io::traces {

// Addresses that were made up, so that nobody takes them for what the trace says.
inline constexpr uint64_t kMadeUp = uint64_t{0xA5A5A5A5} << 32;
// Where all that is older than the trace and not freed in it is said to lie: no device has memory there.
inline constexpr uint64_t kOlder = uint64_t{0xC0} << 56;
[[nodiscard]] constexpr bool is_made_up(uint64_t address) { return address >> 32 == kMadeUp >> 32; }

class Matching {
 public:
  explicit Matching(Budget& budget) : live_(budget), open_of_size_(budget), open_(budget) {}

  // The next record of the device, of `bytes` >= 0, gets its address. False: memory was refused. O(1).
  [[nodiscard]] bool place(const Draft& draft, int64_t bytes, uint64_t& address);
  // Bytes so far that were freed without an alloc before: older than the trace.
  [[nodiscard]] int64_t freed_older() const { return freed_older_; }

 private:
  // Numbers by number. Files choose the keys: see base/hash_seed.h.
  class Table {
   public:
    explicit Table(Budget& budget) : slots_(budget), budget_(&budget) {}
    // Null: memory was refused. -1 if it was not there.
    [[nodiscard]] int32_t* find_or_add(uint64_t key);

   private:
    struct Slot {
      uint64_t key;
      int32_t value;
      bool used;
    };
    [[nodiscard]] size_t home_of(uint64_t key) const;
    // Slot of the key, or the free one where it belongs.
    [[nodiscard]] size_t slot_of(uint64_t key) const;
    [[nodiscard]] bool rebuild(size_t size, uint64_t seed);

    Column<Slot> slots_;
    size_t used_ = 0;
    uint64_t seed_ = 0;
    Budget* budget_;
  };
  // An alloc without an address that is not freed yet.
  struct Unplaced {
    uint64_t address;
    int32_t next;  // older one of this size
  };

  [[nodiscard]] bool place_by_size(bool is_free, int64_t bytes, uint64_t& address);
  void count_older(int64_t bytes);

  Table live_;          // address -> 1 while it is in use
  Table open_of_size_;  // bytes -> newest row of open_
  Column<Unplaced> open_;
  uint64_t made_up_ = 0;
  int64_t freed_older_ = 0;
};

}  // namespace gpustrata::io::traces
