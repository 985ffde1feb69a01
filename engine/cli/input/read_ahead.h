// Reads the next piece of a file on another thread while the last one is parsed: reading is a copy out of the
// system's cache, and about a quarter of the time.
#pragma once

#include <cstddef>
#include <semaphore>
#include <span>
#include <thread>

namespace gpustrata::cli {

class ReadAhead {
 public:
  // Not `threaded`, or without a thread to be had: `take` reads.
  ReadAhead(int file, bool threaded);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  struct Answer {
    size_t bytes = 0;  // 0 = the end of the file
    int error = 0;     // errno
  };
  // Bytes for `buffer`: waits for those of `start`, which was given the same buffer, or reads them.
  [[nodiscard]] Answer take(std::span<std::byte> buffer);
  // Begins to fill `buffer`, unless it is empty.
  void start(std::span<std::byte> buffer);

 private:
  void run();

  int file_;
  std::thread thread_;
  std::counting_semaphore<1> asked_{0};
  std::counting_semaphore<1> answered_{0};
  std::span<std::byte> buffer_;  // empty = the thread is to end
  Answer answer_;
  bool is_reading_ = false;
};

}  // namespace gpustrata::cli
