// One line on standard error that says what is going on, only where somebody watches (a terminal).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/cli/console.h"

namespace gpustrata::cli {

class Progress {
 public:
  // `total_bytes` < 0 = unknown.
  Progress(const Console& console, std::string_view file, int64_t total_bytes);
  ~Progress();  // takes the line away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void read(int64_t bytes_so_far);
  void written(int64_t bytes_so_far);
  void phase(std::string_view name);

 private:
  void show(std::string_view text);

  using Clock = std::chrono::steady_clock;
  const Console& console_;
  bool shown_ = false;
  std::string file_;
  int64_t total_;
  Clock::time_point started_;
  Clock::time_point next_;
};

}  // namespace gpustrata::cli
