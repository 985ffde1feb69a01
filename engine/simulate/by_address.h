// Something small by address, charged.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "engine/base/budget.h"
#include "engine/base/hash.h"

namespace gpustrata::simulate {

template <typename Value>
class ByAddress {
 public:
  explicit ByAddress(Budget& budget) : budget_(budget) {}
  ByAddress(const ByAddress&) = delete;
  ByAddress& operator=(const ByAddress&) = delete;
  ~ByAddress() { budget_.give_back(kNodeBytes * static_cast<int64_t>(values_.size())); }

  // Null = nothing there.
  [[nodiscard]] Value* find(uint64_t address) {
    const auto found = values_.find(address);
    return found == values_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool put(uint64_t address, Value value) {
    if (Value* known = find(address); known != nullptr) {
      *known = value;
      return true;
    }
    if (!budget_.take(kNodeBytes)) return false;
    values_.emplace(address, value);
    return true;
  }
  void erase(uint64_t address) {
    if (values_.erase(address) > 0) budget_.give_back(kNodeBytes);
  }

 private:
  static constexpr int64_t kNodeBytes = 48;
  struct Mixed {
    size_t operator()(uint64_t address) const { return static_cast<size_t>(mix_hash(address)); }
  };
  Budget& budget_;
  std::unordered_map<uint64_t, Value, Mixed> values_;
};

}  // namespace gpustrata::simulate
