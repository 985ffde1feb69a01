// The memo: slot number -> value, 4 bytes a slot in pages of 32 Ki.
//
// A slot holds a handle: 4 bits of tag, 28 bits of id. Values that do not fit (numbers, lists of rows) lie
// in a side table. Pages instead of one array: in a 32-bit heap growing by realloc leaves holes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/column.h"
#include "engine/io/values/value.h"

namespace gpustrata::io::pickle {

using values::Tag;
using values::Value;

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
    if (handle == 0) {
      ++used_;
      end_ = slot >= end_ ? slot + 1 : end_;
    } else if (handle >> kIdBits != static_cast<uint32_t>(Tag::open)) {
      ++overwritten_;
    }
    if (value.num == 0 && value.tag < Tag::in_side_table && value.id <= kIdMask) {
      handle = static_cast<uint32_t>(value.tag) << kIdBits | value.id;
      return true;
    }
    return put_aside(handle, value);
  }
  // Slots in use: the number MEMOIZE takes.
  [[nodiscard]] uint32_t used() const { return used_; }
  // Are slots 0 to used() - 1 those in use? Then a value stored next goes to used(), by index or not.
  [[nodiscard]] bool is_dense() const { return end_ == used_; }
  // How often a complete value gave way to another. While it is the same, equal references are equal values.
  [[nodiscard]] uint32_t overwritten() const { return overwritten_; }
  // Makes room for `count` values behind a dense memo. False if memory is refused.
  [[nodiscard]] bool reserve_next(uint32_t count) {
    const size_t page = (used_ + count - 1) >> kPageBits;  // a page holds far more than `count`
    return (page < pages_.size() && pages_[page] != nullptr && pages_[used_ >> kPageBits] != nullptr) ||
           add_next_pages(count);
  }
  // Does a value fit a slot by itself?
  [[nodiscard]] static bool is_plain(const Value& value) {
    return value.num == 0 && value.tag < Tag::in_side_table && value.id <= kIdMask;
  }
  // Into slot used() of a dense memo, with room and a plain value.
  void put_next(const Value& value) {
    pages_[used_ >> kPageBits][used_ & kSlotMask] = static_cast<uint32_t>(value.tag) << kIdBits | value.id;
    end_ = ++used_;
  }

 private:
  static constexpr unsigned kPageBits = 15;
  static constexpr uint32_t kSlotMask = (1U << kPageBits) - 1;
  static constexpr unsigned kIdBits = 28;
  static constexpr uint32_t kIdMask = (1U << kIdBits) - 1;

  [[nodiscard]] bool add_page(size_t page);
  [[nodiscard]] bool add_next_pages(uint32_t count);
  [[nodiscard]] bool put_aside(uint32_t& handle, const Value& value);

  Budget* budget_;
  Column<uint32_t*> pages_;
  Column<Value> side_;
  uint32_t used_ = 0;
  uint32_t end_ = 0;  // one past the highest slot in use
  uint32_t overwritten_ = 0;
};

}  // namespace gpustrata::io::pickle
