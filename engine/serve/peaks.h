// Finds out the peaks of the files that are listed, one after another on a thread that gives way to everybody else.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/answers/served.h"
#include "engine/serve/files.h"
#include "engine/serve/sessions.h"

namespace memstrata::serve {

class Peaks {
 public:
  Peaks(const Files& files, Sessions& sessions, int64_t memory_bytes);
  ~Peaks();
  Peaks(const Peaks&) = delete;
  Peaks& operator=(const Peaks&) = delete;

  // Fills in what is known of the files and has the others examined. How many of them are still to be.
  [[nodiscard]] int64_t look_up(std::vector<answers::ServedFile>& files);

  // Larger files are examined when they are opened only.
  static constexpr int64_t kLargest = int64_t{1} << 30;

 private:
  struct Known {
    int64_t bytes = 0, modified_us = 0;
    std::optional<int64_t> peak_bytes;
    std::string error;
  };
  void run();
  [[nodiscard]] Known examine(const answers::ServedFile& listed) const;

  const Files& files_;
  Sessions& sessions_;
  const int64_t memory_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Known, std::less<>> known_;
  std::vector<answers::ServedFile> wanted_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace memstrata::serve
