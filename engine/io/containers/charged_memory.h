// Memory for C libraries, charged to a budget. A refusal is a null pointer, which they report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "engine/base/budget.h"

namespace gpustrata::io {

inline constexpr size_t kChargedHeader = 16;  // holds the size; keeps the alignment of malloc

[[nodiscard]] inline void* allocate_charged(Budget& budget, size_t bytes) {
  if (bytes > SIZE_MAX / 2 || !budget.take(static_cast<int64_t>(bytes))) return nullptr;
  void* memory = std::malloc(bytes + kChargedHeader);
  if (memory == nullptr) {
    budget.give_back(static_cast<int64_t>(bytes));
    budget.note_refusal(static_cast<int64_t>(bytes));
    return nullptr;
  }
  std::memcpy(memory, &bytes, sizeof bytes);
  return static_cast<char*>(memory) + kChargedHeader;
}

inline void free_charged(Budget& budget, void* memory) {
  if (memory == nullptr) return;
  void* start = static_cast<char*>(memory) - kChargedHeader;
  size_t bytes = 0;
  std::memcpy(&bytes, start, sizeof bytes);
  budget.give_back(static_cast<int64_t>(bytes));
  std::free(start);
}

}  // namespace gpustrata::io
