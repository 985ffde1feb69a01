// Column<T>: one contiguous, growable array of plain values, charged to a Budget.
//
// Growth that the budget or the allocator refuses returns false and leaves the column as it was; there is
// no other failure. Elements are trivially copyable, growth is by realloc. Appending is O(1) amortised.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <type_traits>
#include <utility>

#include "engine/base/budget.h"
#include "engine/base/ids.h"

namespace gpustrata {

template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit Column(Budget& budget) : budget_(&budget) {}
  Column(Column&& other) noexcept
      : budget_(other.budget_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Column& operator=(Column&& other) noexcept {
    if (this != &other) {
      release();
      budget_ = other.budget_;
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, 0);
    }
    return *this;
  }
  ~Column() { release(); }

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  // By any integer, or by the id of what the column describes; both are >= 0 and below size().
  template <typename Index>
  [[nodiscard]] T& operator[](Index i) {
    assert(place(i) < size_);
    return data_[place(i)];
  }
  template <typename Index>
  [[nodiscard]] const T& operator[](Index i) const {
    assert(place(i) < size_);
    return data_[place(i)];
  }
  [[nodiscard]] T& back() { return data_[size_ - 1]; }
  [[nodiscard]] const T& back() const { return data_[size_ - 1]; }
  [[nodiscard]] std::span<T> span() { return {data_, size_}; }
  [[nodiscard]] std::span<const T> span() const { return {data_, size_}; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }

  [[nodiscard]] bool push_back(T value) {
    if (size_ == capacity_ && !grow(size_ + 1)) [[unlikely]]
      return false;
    data_[size_++] = value;
    return true;
  }
  [[nodiscard]] bool append(std::span<const T> values) {
    if (size_ + values.size() > capacity_ && !grow(size_ + values.size())) [[unlikely]]
      return false;
    std::copy(values.begin(), values.end(), data_ + size_);
    size_ += values.size();
    return true;
  }
  // Copies of rows of its own.
  [[nodiscard]] bool append_rows(size_t first, size_t count) {
    if (size_ + count > capacity_ && !grow(size_ + count)) return false;
    std::copy_n(data_ + first, count, data_ + size_);
    size_ += count;
    return true;
  }
  [[nodiscard]] bool resize(size_t size, T fill) {
    if (size > capacity_ && !reserve(size)) return false;
    for (size_t i = size_; i < size; ++i) data_[i] = fill;
    size_ = size;
    return true;
  }
  void pop_back() { --size_; }
  void truncate(size_t size) { size_ = size < size_ ? size : size_; }
  void clear() { size_ = 0; }

  // Exactly `capacity` elements, if that is more than now.
  [[nodiscard]] bool reserve(size_t capacity) {
    if (capacity <= capacity_) return true;
    if (capacity > static_cast<size_t>(PTRDIFF_MAX) / sizeof(T)) return false;
    return set_capacity(capacity);
  }
  // Gives unused memory back; keeps what it has if the allocator refuses.
  void shrink_to_fit() {
    if (size_ == 0) {
      release();
    } else if (size_ < capacity_) {
      (void)set_capacity(size_);
    }
  }

 private:
  [[nodiscard]] static size_t place(std::integral auto i) { return static_cast<size_t>(i); }
  template <typename Tag, typename Int>
  [[nodiscard]] static size_t place(Id<Tag, Int> id) {
    return id.index();
  }
  // Out of line, so that appending is inlined.
  [[nodiscard, gnu::noinline]] bool grow(size_t wanted) { return reserve(grown_capacity(wanted)); }
  // Growth by half: in a 32-bit heap that only grows, doubling leaves holes as large as the data.
  [[nodiscard]] size_t grown_capacity(size_t wanted) const {
    const size_t grown = capacity_ + capacity_ / 2 + 16;
    return grown > wanted ? grown : wanted;
  }
  [[nodiscard]] bool set_capacity(size_t capacity) {
    const auto change =
        static_cast<int64_t>(capacity * sizeof(T)) - static_cast<int64_t>(capacity_ * sizeof(T));
    if (change > 0 && !budget_->take(change)) return false;
    void* moved = std::realloc(data_, capacity * sizeof(T));
    if (moved == nullptr) {
      if (change > 0) {
        budget_->give_back(change);
        budget_->note_refusal(change);
      }
      return false;
    }
    if (change < 0) budget_->give_back(-change);
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
    return true;
  }
  void release() {
    if (data_ != nullptr) budget_->give_back(static_cast<int64_t>(capacity_ * sizeof(T)));
    std::free(data_);
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  Budget* budget_;
  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace gpustrata
