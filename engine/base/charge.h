// What texts, maps and vectors take, charged to a Budget until the end of a scope. Columns charge themselves.
#pragma once

#include <cstdint>
#include <utility>

#include "engine/base/budget.h"

namespace gpustrata {

class Charge {
 public:
  explicit Charge(Budget& budget) : budget_(&budget) {}
  Charge(Charge&& other) noexcept : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Charge() { budget_->give_back(bytes_); }

  // Before the memory is taken. False: the budget refuses, nothing is charged.
  [[nodiscard]] bool more(int64_t bytes) {
    if (!budget_->take(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  [[nodiscard]] int64_t bytes() const { return bytes_; }

 private:
  Budget* budget_;
  int64_t bytes_ = 0;
};

}  // namespace gpustrata
