// The journals that are served, and how far each is written now: what a page asks that follows them. Nothing is read of them but
// their headers.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/answers/clients/served.h"
#include "engine/serve/files.h"
#include "engine/serve/journal_writer.h"

namespace gpustrata::serve {

class Journals {
 public:
  explicit Journals(const Files& files) : files_(files) {}

  // From any thread. New files are found within kListAgain, or what looking for them takes, tenfold.
  [[nodiscard]] answers::ServedJournals look();

  static constexpr std::chrono::milliseconds kListAgain{1000};
  static constexpr std::chrono::milliseconds kAskAgain{1000};  // whether a process runs that tells nothing

 private:
  using Clock = std::chrono::steady_clock;
  struct Followed {
    Stamp stamp;
    Writer writer;
    bool is_written = true;
    Clock::time_point asked;  // whether it is written: when, last
  };
  [[nodiscard]] bool is_written(Followed& one, const Stamp& now);

  const Files& files_;
  std::mutex mutex_;
  std::vector<std::string> names_;
  Clock::time_point list_again_;
  std::map<std::string, Followed, std::less<>> followed_;
};

}  // namespace gpustrata::serve
