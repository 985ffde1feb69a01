#include "capture/front/report.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <functional>

namespace gpustrata::capture {

namespace {

constexpr size_t kMostTexts = 64;

// Needs no destructor: calls may fail while the thread ends.
thread_local std::array<char, 1024> t_last_error{};

// Hashes of the texts that were told, 0 = free. Without a lock, which another thread may hold at a fork, and without a
// destructor: threads may still report while the process ends.
std::array<std::atomic<size_t>, kMostTexts> g_told{};

[[nodiscard]] bool is_new(std::string_view text) {
  const size_t hash = std::hash<std::string_view>()(text) | 1U;
  for (std::atomic<size_t>& place : g_told) {
    size_t held = 0;
    if (place.compare_exchange_strong(held, hash)) return true;
    if (held == hash) return false;
  }
  return false;
}

}  // namespace

void report(std::string_view text) {
  set_last_error(text);
  if (is_new(text))
    (void)std::fprintf(stderr, "gpustrata: %.*s\n", static_cast<int>(text.size()), text.data());
}

const char* last_error() { return t_last_error.data(); }
void set_last_error(std::string_view text) {
  const size_t length = std::min(text.size(), t_last_error.size() - 1);
  std::copy_n(text.data(), length, t_last_error.data());
  t_last_error[length] = 0;
}

}  // namespace gpustrata::capture
