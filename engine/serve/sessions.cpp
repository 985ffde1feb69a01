#include "engine/serve/sessions.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "engine/base/units.h"
#include "engine/serve/access.h"
#include "engine/serve/heap.h"

namespace gpustrata::serve {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPiece = size_t{1} << 20;  // in the processor's cache when it is parsed
constexpr int64_t kLeastBudget = int64_t{64} << 20;
// What a file may take while it is read, of what is free: many that are opened at once must fit beside each other. Tables and
// views are up to a quarter of a pickle; sixteen times leaves room for one that is packed fifty times.
constexpr int64_t kUsualBudget = int64_t{512} << 20;
constexpr int64_t kBudgetPerByte = 16;
constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::seconds kInUse{60};  // asked within that time
constexpr int64_t kViews = 4;               // what views take beside the tables is about a quarter

}  // namespace

Status read_file(const FoundFile& file, session::Session& session,
                 const std::function<bool(const session::Session&)>& go_on,
                 const std::function<void(std::span<const std::byte>)>& begun) {
  (void)posix_fadvise(file.file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  session.expect_bytes(file.bytes);
  while (!session.done()) {
    if (!go_on(session)) return fail(ErrorCode::limit_exceeded, -1, "Nobody waited for this file any more.");
    const std::span<std::byte> room = session.writable();
    if (room.empty())
      return fail(ErrorCode::limit_exceeded, session.progress().bytes, "No memory is left to read on.");
    const ssize_t count = ::read(file.file.get(), room.data(), std::min(room.size(), kPiece));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return fail(ErrorCode::invalid_format, session.progress().bytes, "Reading failed: {}.",
                  std::strerror(errno));
    if (count == 0) break;
    if (begun && session.progress().bytes == 0) begun(room.first(static_cast<size_t>(count)));
    if (Status committed = session.commit(static_cast<size_t>(count)); !committed) return committed;
  }
  return session.finish();
}

OpenSession::OpenSession(std::string name, FoundFile file, bool is_own, int64_t budget_bytes, Budget& all,
                         Now now)
    : name_(std::move(name)),
      stamp_(file.stamp),
      is_own_(is_own),
      bytes_(file.bytes),
      budget_bytes_(budget_bytes),
      now_(std::move(now)),
      asked_(now_().time_since_epoch()),
      session_(std::make_unique<session::Session>(budget_bytes, &all)) {
  thread_ = std::thread([this, opened = std::move(file)] { read(opened); });
}

OpenSession::~OpenSession() {
  stopped_ = true;
  if (thread_.joinable()) thread_.join();
}

void OpenSession::read(const FoundFile& file) {
  auto told = Clock::now();
  const auto tell = [&](const session::Session& session) {
    const auto now = Clock::now();
    if (now - told >= kTick) {
      told = now;
      const std::lock_guard lock(told_);
      progress_ = session.progress();
    }
    return !stopped_;
  };
  const auto begun = [this](std::span<const std::byte> beginning) {
    const auto head = journal_head(beginning);
    const std::lock_guard lock(told_);
    journal_ = head;
  };
  Status done;
  try {
    done = read_file(file, *session_, tell, begun);
  } catch (const std::bad_alloc&) {
    done = fail(ErrorCode::limit_exceeded, -1, "This file needs too much memory.");
  }
  std::unique_ptr<session::Session> failed;  // ends outside of the lock
  const std::lock_guard lock(told_);
  progress_ = session_->progress();
  state_ = done ? State::ready : State::failed;
  if (!done) {
    error_ = done.error();
    failed = std::move(session_);  // its memory is for others
  }
  changed_.notify_all();
}

answers::Reading OpenSession::reading() {
  std::unique_lock lock(told_);
  changed_.wait_for(lock, kTick, [this] { return state_ != State::reading; });
  answers::Reading now;
  now.is_ready = state_ == State::ready;
  now.bytes = progress_.bytes;
  now.total = bytes_;
  now.events = progress_.events;
  if (journal_) now.journal = journal_of(*journal_);
  if (state_ == State::failed) now.error = error_;
  return now;
}

bool OpenSession::is_of(std::string_view name, const FoundFile& file) const {
  return name_ == name && stamp_ == file.stamp;
}

bool OpenSession::is_reading() {
  const std::lock_guard lock(told_);
  return state_ == State::reading;
}

bool OpenSession::has_failed() {
  const std::lock_guard lock(told_);
  return state_ == State::failed;
}

int64_t OpenSession::expected_bytes() {
  const std::lock_guard lock(told_);
  if (!session_) return 0;
  const int64_t used = session_->recording().budget.used();
  const int64_t left = std::max<int64_t>(budget_bytes_ - used, 0);
  return state_ == State::reading ? left : std::min(left, used / kViews + kLeastBudget);
}

Clock::duration OpenSession::unasked() const { return now_().time_since_epoch() - asked_.load(); }

Client::Client(std::string id, std::shared_ptr<OpenSession> file, std::string parent)
    : id_(std::move(id)),
      parent_(std::move(parent)),
      file_(std::move(file)),
      asked_(file_->now_().time_since_epoch()) {
  note_asked();
}

void Client::note_asked() { asked_ = file_->asked_ = file_->now_().time_since_epoch(); }

Clock::duration Client::unasked() const { return file_->now_().time_since_epoch() - asked_.load(); }

answers::Reading Client::reading() {
  note_asked();
  return file_->reading();
}

bool Client::ask(std::span<const std::byte> question, const std::function<bool()>& is_waiting,
                 const Take& take) {
  note_asked();
  while (file_->is_reading()) {
    if (!is_waiting()) return false;
    (void)reading();
  }
  if (file_->has_failed()) return false;
  while (!file_->turn_.take(kTick)) {
    if (!is_waiting()) return false;
  }
  const std::lock_guard lock(file_->turn_, std::adopt_lock);
  if (!is_waiting()) return false;
  if (!session_ && !file_->is_own_) session_ = std::make_unique<session::Session>(*file_->session_);
  session::Session& session = session_ ? *session_ : *file_->session_;
  session.end_when(stopped_);
  if (!take(session.ask(question)))
    (void)take(
        session.refuse(question, {ErrorCode::limit_exceeded,
                                  "The server has no memory left for this answer. Try again in a moment.",
                                  -1,
                                  {}}));
  session.forget_answer();
  note_asked();
  return true;
}

struct Sessions::Gone {
  Gone() = default;
  Gone(const Gone&) = delete;
  Gone& operator=(const Gone&) = delete;
  ~Gone() {
    if (clients.empty() && files.empty()) return;
    clients.clear();
    files.clear();
    give_back_free_heap();
  }
  std::vector<std::shared_ptr<OpenSession>> files;
  std::vector<std::shared_ptr<Client>> clients;
};

Result<std::shared_ptr<Client>> Sessions::open(std::string_view name) { return open_file(name, nullptr); }

Result<std::shared_ptr<Client>> Sessions::open_again(const Client& parent) {
  return open_file(parent.file()->name(), &parent);
}

Result<std::shared_ptr<Client>> Sessions::open_file(std::string_view name, const Client* parent) {
  auto file = files_.open(name);
  if (!file) return tl::unexpected(file.error());
  if (parent != nullptr && !parent->file()->is_of(name, *file))
    return fail(ErrorCode::wrong_usage, -1, "{} has changed since it was read: open it anew.", name);
  for (;;) {
    Gone gone;
    const std::lock_guard lock(mutex_);
    if (clients_.size() >= kMostClients)
      drop_clients(gone, [](const Client& one) { return one.unasked() > kInUse; });
    if (clients_.size() >= kMostClients)
      return fail(ErrorCode::limit_exceeded, -1, "The server has {} clients. Try again in a minute.",
                  clients_.size());
    std::vector<std::shared_ptr<OpenSession>> failed;
    for (const auto& one : sessions_)
      if (one->has_failed() && one->unasked() > kInUse) failed.push_back(one);
    for (const auto& one : failed) drop(gone, one);
    if (parent != nullptr) {
      if (Status may = may_have_own(*parent); !may) {
        if (!make_room_for_own(gone, *parent)) return tl::unexpected(may.error());
        continue;
      }
    } else {
      for (const auto& one : sessions_)
        if (!one->is_own() && one->is_of(name, *file) && !one->has_failed()) return add_client(one, {});
    }
    if (sessions_.size() < limits_.most_sessions && free_bytes() >= kLeastBudget) {
      // Never all of it, so that a second large file can be read meanwhile.
      const int64_t enough = kUsualBudget + kBudgetPerByte * std::min(file->bytes, limits_.memory_bytes);
      const int64_t budget = std::min(free_bytes() / 4 * 3, enough);
      try {
        sessions_.push_back(std::make_shared<OpenSession>(std::string(name), std::move(*file),
                                                          parent != nullptr, budget, all_, now_));
      } catch (const std::exception& error) {  // no thread, no memory
        return fail(ErrorCode::limit_exceeded, -1, "The server cannot open another file: {}.", error.what());
      }
      return add_client(sessions_.back(), parent == nullptr ? std::string() : parent->id());
    }
    if (!make_room(gone, [](const OpenSession&) { return true; }))
      return fail(
          ErrorCode::limit_exceeded, -1,
          "The server has as many files open as it may ({}, {} of memory). Close one, or try again in a minute.",
          sessions_.size(), size_text(limits_.memory_bytes));
  }
}

std::shared_ptr<Client> Sessions::add_client(std::shared_ptr<OpenSession> file, std::string parent) {
  return clients_.emplace_back(std::make_shared<Client>(random_name(), std::move(file), std::move(parent)));
}

size_t Sessions::own_of(const Client& parent) const {
  return static_cast<size_t>(std::count_if(clients_.begin(), clients_.end(),
                                           [&](const auto& one) { return one->parent() == parent.id(); }));
}

// Others can always open files: what is opened again takes at most half of the places.
Status Sessions::may_have_own(const Client& parent) const {
  const auto own = static_cast<size_t>(
      std::count_if(sessions_.begin(), sessions_.end(), [](const auto& one) { return one->is_own(); }));
  const size_t its = own_of(parent);
  if (its >= kMostOwn)
    return fail(ErrorCode::limit_exceeded, -1,
                "{} runs of this file are open: close one of them, or try again in a minute.", its);
  if (own >= limits_.most_sessions / 2)
    return fail(ErrorCode::limit_exceeded, -1,
                "The server runs as much at once as it may ({} of {} open files): try again in a minute, or "
                "start it with more --sessions.",
                own, limits_.most_sessions);
  return {};
}

std::shared_ptr<Client> Sessions::find(std::string_view id) {
  const std::lock_guard lock(mutex_);
  for (const auto& one : clients_)
    if (one->id() == id) return one;
  return nullptr;
}

bool Sessions::close(std::string_view id) {
  Gone gone;
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(clients_.begin(), clients_.end(), [&](const auto& one) { return one->id() == id; });
  if (found == clients_.end()) return false;
  const std::shared_ptr<OpenSession> file = (*found)->file();
  (*found)->stop();
  gone.clients.push_back(std::move(*found));
  clients_.erase(found);
  const bool is_left =
      std::none_of(clients_.begin(), clients_.end(), [&](const auto& one) { return one->file() == file; });
  if (file->is_own() || (file->is_passing() && is_left)) drop(gone, file);
  return true;
}

int64_t Sessions::free_bytes() {
  int64_t left = limits_.memory_bytes - all_.used();
  for (const auto& one : sessions_) left -= one->expected_bytes();
  return left;
}

// Somebody has it: it is found under the lock only.
bool Sessions::is_in_use(const std::shared_ptr<Client>& client) { return client.use_count() > 1; }

template <typename Which>
void Sessions::drop_clients(Gone& gone, const Which& which) {
  std::erase_if(clients_, [&](std::shared_ptr<Client>& one) {
    if (is_in_use(one) || !which(*one)) return false;
    gone.clients.push_back(std::move(one));
    return true;
  });
}

// With its clients, none of which may be in use.
void Sessions::drop(Gone& gone, const std::shared_ptr<OpenSession>& file) {
  std::erase_if(clients_, [&](std::shared_ptr<Client>& one) {
    if (one->file() != file) return false;
    gone.clients.push_back(std::move(one));
    return true;
  });
  gone.files.push_back(file);
  std::erase(sessions_, file);
}

// Who has as many as it may gives up one of its own, not that of another client.
bool Sessions::make_room_for_own(Gone& gone, const Client& parent) {
  const bool has_most = own_of(parent) >= kMostOwn;
  return make_room(gone, [&](const OpenSession& file) {
    return file.is_own() && (!has_most || std::any_of(clients_.begin(), clients_.end(), [&](const auto& one) {
             return one->file().get() == &file && one->parent() == parent.id();
           }));
  });
}

// Of those that may be, drops the one that was asked longest ago, if it is not in use. False: there is none.
template <typename MayBe>
bool Sessions::make_room(Gone& gone, const MayBe& may_be) {
  std::shared_ptr<OpenSession> oldest;
  for (const auto& one : sessions_) {
    if (!may_be(*one)) continue;
    const bool in_use = std::any_of(clients_.begin(), clients_.end(), [&](const auto& client) {
      return client->file() == one && (is_in_use(client) || client->unasked() < kInUse);
    });
    if (!in_use && (!oldest || one->unasked() > oldest->unasked())) oldest = one;
  }
  if (!oldest) return false;
  drop(gone, oldest);
  return true;
}

void Sessions::drop_idle() {
  Gone gone;
  const std::lock_guard lock(mutex_);
  const auto is_idle = [&](const auto& one, OpenSession& file) {
    return one.unasked() > (file.is_reading() ? limits_.unwatched : limits_.idle);
  };
  drop_clients(gone, [&](const Client& one) { return is_idle(one, *one.file()); });
  std::vector<std::shared_ptr<OpenSession>> idle;
  for (const auto& one : sessions_) {
    const bool has_clients = std::any_of(clients_.begin(), clients_.end(),
                                         [&](const auto& client) { return client->file() == one; });
    if (!has_clients && (one->is_own() || is_idle(*one, *one))) idle.push_back(one);
  }
  for (const auto& one : idle) drop(gone, one);
}

void Sessions::stop() {
  const std::lock_guard lock(mutex_);
  for (const auto& one : clients_) one->stop();
}

bool Sessions::is_reading() {
  const std::lock_guard lock(mutex_);
  return std::any_of(sessions_.begin(), sessions_.end(), [](const auto& one) { return one->is_reading(); });
}

size_t Sessions::count() {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

}  // namespace gpustrata::serve
