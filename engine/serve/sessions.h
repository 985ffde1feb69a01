// Open files: a session each, shared by all clients, read by a thread of its own; and the limits on them.
//
// Questions of a session are answered one after another, those of different sessions at the same time. A session that
// nobody asks for `idle` is dropped; one that is being read, when nobody waits for it any more. Tests pass a clock of their own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/answers/served.h"
#include "engine/base/status.h"
#include "engine/serve/files.h"
#include "engine/session/session.h"

namespace gpustrata::serve {

using Now = std::function<std::chrono::steady_clock::time_point()>;

struct Limits {
  int64_t memory_bytes = int64_t{8} << 30;  // of all sessions
  size_t most_sessions = 16;
  std::chrono::seconds idle{30 * 60};
  std::chrono::seconds unwatched{30};  // that nobody waits for a file being read
};

// Reads a file to its end into a session. Error: the engine's, or invalid_format if it cannot be read. `go_on` is asked
// between pieces.
[[nodiscard]] Status read_file(const FoundFile& file, session::Session& session,
                               const std::function<bool(const session::Session&)>& go_on);

class OpenSession {
 public:
  OpenSession(std::string id, std::string name, FoundFile file, int64_t budget_bytes, Now now);
  ~OpenSession();
  OpenSession(const OpenSession&) = delete;
  OpenSession& operator=(const OpenSession&) = delete;

  // How far reading is: at once when that is over or another tenth of a second has passed.
  [[nodiscard]] answers::Reading reading();
  // The answer goes to `take` before anybody else is answered. False: the client went away while it waited, or
  // nothing has been read.
  [[nodiscard]] bool ask(std::span<const std::byte> question, const std::function<bool()>& is_waiting,
                         const std::function<void(std::span<const std::byte>)>& take);

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] bool is_of(std::string_view name, const FoundFile& file) const;
  [[nodiscard]] bool is_reading();
  [[nodiscard]] bool has_failed();
  [[nodiscard]] int64_t reserved_bytes();  // of the memory of all
  [[nodiscard]] std::chrono::steady_clock::duration unasked() const;
  [[nodiscard]] std::string_view name() const { return name_; }

  std::atomic<int64_t> clients{0};  // that opened it and have not closed it
  std::atomic<int64_t> asking{0};

 private:
  enum class State : uint8_t { reading, ready, failed };
  void read(const FoundFile& file);

  const std::string id_, name_;
  const int64_t bytes_, modified_us_, budget_bytes_;
  const Now now_;
  std::atomic<std::chrono::steady_clock::duration> asked_;  // when, last
  std::atomic<bool> stopped_{false};

  std::mutex told_;  // of what follows
  std::condition_variable changed_;
  State state_ = State::reading;
  session::Session::Progress progress_;
  Error error_;

  std::timed_mutex turn_;                      // of the session, once it is ready
  std::unique_ptr<session::Session> session_;  // none once reading has failed
  std::thread thread_;
};

class Sessions {
 public:
  Sessions(const Files& files, Limits limits, Now now = std::chrono::steady_clock::now)
      : files_(files), limits_(limits), now_(std::move(now)) {}

  // The one that is open, or a new one that begins to read. Error: wrong_usage (no such file), limit_exceeded (too many).
  [[nodiscard]] Result<std::shared_ptr<OpenSession>> open(std::string_view name);
  [[nodiscard]] std::shared_ptr<OpenSession> find(std::string_view id);
  void drop_idle();
  [[nodiscard]] bool is_reading();
  [[nodiscard]] size_t count();

 private:
  [[nodiscard]] int64_t free_bytes();
  [[nodiscard]] bool make_room();

  const Files& files_;
  const Limits limits_;
  const Now now_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<OpenSession>> sessions_;
};

}  // namespace gpustrata::serve
