// The memo: slot number -> value, 4 bytes a slot in pages of 32 Ki.
//
// A slot holds a handle: 4 bits of tag, 28 bits of id. Values that do not fit (numbers, lists of rows) lie
// in a side table. Pages instead of one array: in a 32-bit heap growing by realloc leaves holes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/column.h"
#include "engine/io/pickle/value.h"

namespace memstrata::io::pickle {

class Memo {
 public:
  explicit Memo(Budget& budget) : budget_(&budget), pages_(budget), side_(budget) {}
  Memo(const Memo&) = delete;
  Memo& operator=(const Memo&) = delete;
  ~Memo();

  // Tag::undefined if nothing was stored there.
  [[nodiscard]] Value get(uint32_t slot) const {
    const size_t page = slot >> kPageBits;
    if (page >= pages_.size() || pages_[page] == nullptr) return {};
    const uint32_t handle = pages_[page][slot & kSlotMask];
    const uint32_t id = handle & kIdMask;
    const Tag tag = static_cast<Tag>(handle >> kIdBits);
    if (tag == Tag::in_side_table) return side_[id];
    return {tag, id, 0};
  }
  // False if memory is refused.
  [[nodiscard]] bool put(uint32_t slot, const Value& value) {
    const size_t page = slot >> kPageBits;
    if ((page >= pages_.size() || pages_[page] == nullptr) && !add_page(page)) return false;
    uint32_t& handle = pages_[page][slot & kSlotMask];
    used_ += handle == 0 ? 1U : 0U;
    if (value.num == 0 && value.tag < Tag::in_side_table && value.id <= kIdMask) {
      handle = static_cast<uint32_t>(value.tag) << kIdBits | value.id;
      return true;
    }
    return put_aside(handle, value);
  }
  // Slots in use: the number MEMOIZE takes.
  [[nodiscard]] uint32_t used() const { return used_; }

 private:
  static constexpr unsigned kPageBits = 15;
  static constexpr uint32_t kSlotMask = (1U << kPageBits) - 1;
  static constexpr unsigned kIdBits = 28;
  static constexpr uint32_t kIdMask = (1U << kIdBits) - 1;

  [[nodiscard]] bool add_page(size_t page);
  [[nodiscard]] bool put_aside(uint32_t& handle, const Value& value);

  Budget* budget_;
  Column<uint32_t*> pages_;
  Column<Value> side_;
  uint32_t used_ = 0;
};

}  // namespace memstrata::io::pickle
