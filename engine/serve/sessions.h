// Open files: read once and shared by all clients, or opened again for one alone; and the limits on them.
//
// A client is who opened a file, usually a tab: a session of its own, whose views go when it closes. Questions of a file are
// answered one after another, those of different files at the same time. A client that asks nothing for `idle` is
// dropped, a file that nobody asks about as well; one that is being read, when nobody waits for it any more. Tests pass a
// clock of their own.
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

#include "engine/answers/clients/served.h"
#include "engine/base/status.h"
#include "engine/serve/files.h"
#include "engine/session/session.h"

namespace gpustrata::serve {

using Now = std::function<std::chrono::steady_clock::time_point()>;

struct Limits {
  int64_t memory_bytes = int64_t{8} << 30;  // of all files, and of answers on their way
  size_t most_sessions = 16;
  std::chrono::seconds idle{30 * 60};
  std::chrono::seconds unwatched{30};  // that nobody waits for a file being read
};

// Reads a file to its end into a session. Error: the engine's, or invalid_format if it cannot be read. `go_on` is asked
// between pieces; `begun` hears the first one.
[[nodiscard]] Status read_file(const FoundFile& file, session::Session& session,
                               const std::function<bool(const session::Session&)>& go_on,
                               const std::function<void(std::span<const std::byte>)>& begun = {});

// One at a time, for std::lock_guard. Not a std::timed_mutex, which ThreadSanitizer of g++ 12 does not know.
class Turn {
 public:
  // False: it was not free for so long.
  [[nodiscard]] bool take(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    const bool is_free = freed_.wait_for(lock, patience, [this] { return !is_taken_; });
    is_taken_ = is_taken_ || is_free;
    return is_free;
  }
  void unlock() {
    {
      const std::lock_guard lock(mutex_);
      is_taken_ = false;
    }
    freed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  bool is_taken_ = false;
};

// A file that is being read, or was.
class OpenSession {
 public:
  // `is_own`: of one client alone. `all`: what all files together may take.
  OpenSession(std::string name, FoundFile file, bool is_own, int64_t budget_bytes, Budget& all, Now now);
  ~OpenSession();
  OpenSession(const OpenSession&) = delete;
  OpenSession& operator=(const OpenSession&) = delete;

  // How far reading is: at once when that is over or another tenth of a second has passed.
  [[nodiscard]] answers::Reading reading();

  [[nodiscard]] bool is_of(std::string_view name, const FoundFile& file) const;
  [[nodiscard]] bool is_own() const { return is_own_; }
  // Read while it was being written: nobody opens this content again.
  [[nodiscard]] bool is_passing() const { return stamp_.journal && !stamp_.journal->is_closed; }
  [[nodiscard]] bool is_reading();
  [[nodiscard]] bool has_failed();
  // That it may still take beside what it has: all of its budget while it is read, then what views take.
  [[nodiscard]] int64_t expected_bytes();
  [[nodiscard]] std::chrono::steady_clock::duration unasked() const;
  [[nodiscard]] std::string_view name() const { return name_; }

 private:
  friend class Client;
  enum class State : uint8_t { reading, ready, failed };
  void read(const FoundFile& file);

  const std::string name_;
  const Stamp stamp_;
  const bool is_own_;
  const int64_t bytes_, budget_bytes_;
  const Now now_;
  std::atomic<std::chrono::steady_clock::duration> asked_;  // when, last
  std::atomic<bool> stopped_{false};

  std::mutex told_;  // of what follows
  std::condition_variable changed_;
  State state_ = State::reading;
  session::Session::Progress progress_;
  std::optional<JournalHead> journal_;  // as it was read
  Error error_;

  Turn turn_;                                  // of the session, once it is ready
  std::unique_ptr<session::Session> session_;  // none once reading has failed
  std::thread thread_;
};

// Who opened a file.
class Client {
 public:
  // `parent`: who had the file opened again; empty = nobody.
  Client(std::string id, std::shared_ptr<OpenSession> file, std::string parent);

  // Says whether the answer could be taken; if not, the question is refused for lack of memory.
  using Take = std::function<bool(std::span<const std::byte>)>;
  // The answer goes to `take` before anybody else is answered about the file. False: the client went away while it waited,
  // or nothing has been read.
  [[nodiscard]] bool ask(std::span<const std::byte> question, const std::function<bool()>& is_waiting,
                         const Take& take);
  [[nodiscard]] answers::Reading reading();

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::string& parent() const { return parent_; }
  [[nodiscard]] const std::shared_ptr<OpenSession>& file() const { return file_; }
  [[nodiscard]] std::chrono::steady_clock::duration unasked() const;
  // From any thread: what it runs ends soon.
  void stop() { stopped_ = true; }

 private:
  void note_asked();

  const std::string id_, parent_;
  const std::shared_ptr<OpenSession> file_;
  std::atomic<std::chrono::steady_clock::duration> asked_;
  std::atomic<bool> stopped_{false};
  // Made by its first question, whose turn it is then; none if it has the file, and so its session, for itself.
  std::unique_ptr<session::Session> session_;
};

class Sessions {
 public:
  Sessions(const Files& files, Limits limits, Now now = std::chrono::steady_clock::now)
      : files_(files), limits_(limits), now_(std::move(now)), all_(limits.memory_bytes) {}

  // A new client of the file, which begins to be read unless it is open. Error: wrong_usage (no such file), limit_exceeded
  // (too many).
  [[nodiscard]] Result<std::shared_ptr<Client>> open(std::string_view name);
  // The file of a client once more, for it alone: whatever it adds to it or has run there is nothing to others. Closed by
  // itself. Error: as open(); limit_exceeded if it has kMostOwn, or all clients together half of the files.
  [[nodiscard]] Result<std::shared_ptr<Client>> open_again(const Client& parent);
  // Null: there is none (any more). Whoever has it keeps it from being dropped.
  [[nodiscard]] std::shared_ptr<Client> find(std::string_view id);
  // False: there is no such client.
  bool close(std::string_view id);
  void drop_idle();
  // Whatever takes long ends soon, for all.
  void stop();
  [[nodiscard]] bool is_reading();
  [[nodiscard]] size_t count();
  // What all files, answers and questions take. `--memory`.
  [[nodiscard]] Budget& all() { return all_; }

  static constexpr size_t kMostClients = 4096;
  static constexpr size_t kMostOwn = 4;

 private:
  // What was dropped. It ends where no lock is held: that may be gigabytes, and threads that must come to an end.
  struct Gone;

  [[nodiscard]] Result<std::shared_ptr<Client>> open_file(std::string_view name, const Client* parent);
  [[nodiscard]] std::shared_ptr<Client> add_client(std::shared_ptr<OpenSession> file, std::string parent);
  [[nodiscard]] size_t own_of(const Client& parent) const;
  [[nodiscard]] Status may_have_own(const Client& parent) const;
  [[nodiscard]] bool make_room_for_own(Gone& gone, const Client& parent);
  [[nodiscard]] int64_t free_bytes();
  template <typename MayBe>
  [[nodiscard]] bool make_room(Gone& gone, const MayBe& may_be);
  template <typename Which>
  void drop_clients(Gone& gone, const Which& which);
  void drop(Gone& gone, const std::shared_ptr<OpenSession>& file);
  [[nodiscard]] static bool is_in_use(const std::shared_ptr<Client>& client);

  const Files& files_;
  const Limits limits_;
  const Now now_;
  Budget all_;
  std::mutex mutex_;  // of the lists
  std::vector<std::shared_ptr<OpenSession>> sessions_;
  std::vector<std::shared_ptr<Client>> clients_;
};

}  // namespace gpustrata::serve
