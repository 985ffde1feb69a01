// Finds out the peaks of the files that are listed, one after another on a thread that gives way to everybody else.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/serve/files.h"
#include "engine/serve/known_peaks.h"
#include "engine/serve/sessions.h"

namespace gpustrata::serve {

class Peaks {
 public:
  Peaks(const Files& files, Sessions& sessions, int64_t memory_bytes);
  ~Peaks();
  Peaks(const Peaks&) = delete;
  Peaks& operator=(const Peaks&) = delete;

  // Fills in what is known of the files and has the others examined. How many of them are still to be.
  [[nodiscard]] int64_t look_up(std::vector<ListedFile>& files);

 private:
  void run();
  [[nodiscard]] KnownPeaks::Known examine(const std::string& name) const;

  const Files& files_;
  Sessions& sessions_;
  const int64_t memory_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  KnownPeaks known_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace gpustrata::serve
