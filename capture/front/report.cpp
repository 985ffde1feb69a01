#include "capture/front/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <mutex>
#include <unordered_set>

namespace memstrata::capture {

namespace {

constexpr size_t kMostTexts = 64;

// Needs no destructor: calls may fail while the thread ends.
thread_local std::array<char, 1024> t_last_error{};

// Never destroyed: threads may still report while the process ends.
struct Told {
  std::mutex lock;
  std::unordered_set<size_t> hashes;
};
[[nodiscard]] Told& told() {
  static Told& all = *new Told();
  return all;
}

[[nodiscard]] bool is_new(std::string_view text) {
  Told& all = told();
  const std::lock_guard guard(all.lock);
  return all.hashes.size() < kMostTexts && all.hashes.insert(std::hash<std::string_view>()(text)).second;
}

}  // namespace

void report(std::string_view text) {
  set_last_error(text);
  if (is_new(text))
    (void)std::fprintf(stderr, "memstrata: %.*s\n", static_cast<int>(text.size()), text.data());
}

const char* last_error() { return t_last_error.data(); }
void set_last_error(std::string_view text) {
  const size_t length = std::min(text.size(), t_last_error.size() - 1);
  std::copy_n(text.data(), length, t_last_error.data());
  t_last_error[length] = 0;
}

}  // namespace memstrata::capture
