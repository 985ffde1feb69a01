#include "engine/serve/sessions.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

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

}  // namespace

Status read_file(const FoundFile& file, session::Session& session,
                 const std::function<bool(const session::Session&)>& go_on) {
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
    if (Status committed = session.commit(static_cast<size_t>(count)); !committed) return committed;
  }
  return session.finish();
}

OpenSession::OpenSession(std::string id, std::string name, FoundFile file, int64_t budget_bytes, Now now)
    : id_(std::move(id)),
      name_(std::move(name)),
      bytes_(file.bytes),
      modified_us_(file.modified_us),
      budget_bytes_(budget_bytes),
      now_(std::move(now)),
      asked_(now_().time_since_epoch()),
      session_(std::make_unique<session::Session>(budget_bytes)) {
  session_->share_views();
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
  Status done;
  try {
    done = read_file(file, *session_, tell);
  } catch (const std::bad_alloc&) {
    done = fail(ErrorCode::limit_exceeded, -1, "This file needs too much memory.");
  }
  const std::lock_guard lock(told_);
  progress_ = session_->progress();
  state_ = done ? State::ready : State::failed;
  if (!done) {
    error_ = done.error();
    session_.reset();  // its memory is for others
  }
  changed_.notify_all();
}

answers::Reading OpenSession::reading() {
  asked_ = now_().time_since_epoch();
  std::unique_lock lock(told_);
  changed_.wait_for(lock, kTick, [this] { return state_ != State::reading; });
  answers::Reading now;
  now.is_ready = state_ == State::ready;
  now.bytes = progress_.bytes;
  now.total = bytes_;
  now.events = progress_.events;
  if (state_ == State::failed) now.error = error_;
  return now;
}

bool OpenSession::ask(std::span<const std::byte> question, const std::function<bool()>& is_waiting,
                      const std::function<void(std::span<const std::byte>)>& take) {
  asked_ = now_().time_since_epoch();
  while (is_reading()) {
    if (!is_waiting()) return false;
    (void)reading();
  }
  if (has_failed()) return false;
  while (!turn_.try_lock_for(kTick)) {
    if (!is_waiting()) return false;
  }
  const std::lock_guard lock(turn_, std::adopt_lock);
  if (!is_waiting()) return false;
  take(session_->ask(question));
  asked_ = now_().time_since_epoch();
  return true;
}

bool OpenSession::is_of(std::string_view name, const FoundFile& file) const {
  return name_ == name && bytes_ == file.bytes && modified_us_ == file.modified_us;
}

bool OpenSession::is_reading() {
  const std::lock_guard lock(told_);
  return state_ == State::reading;
}

bool OpenSession::has_failed() {
  const std::lock_guard lock(told_);
  return state_ == State::failed;
}

int64_t OpenSession::reserved_bytes() {
  if (is_reading()) return budget_bytes_;
  constexpr int64_t kViews = 4;  // what views take beside the tables is about a quarter
  if (has_failed()) return 0;
  const int64_t used = session_->progress().heap;
  return std::min(budget_bytes_, used + used / kViews + kLeastBudget);
}

Clock::duration OpenSession::unasked() const { return now_().time_since_epoch() - asked_.load(); }

Result<std::shared_ptr<OpenSession>> Sessions::open(std::string_view name) {
  auto file = files_.open(name);
  if (!file) return tl::unexpected(file.error());
  const std::lock_guard lock(mutex_);
  std::erase_if(sessions_, [](const auto& one) { return one->has_failed() && one->unasked() > kInUse; });
  for (const auto& one : sessions_) {
    if (!one->is_of(name, *file) || one->has_failed()) continue;
    ++one->clients;
    return one;
  }
  while (sessions_.size() >= limits_.most_sessions || free_bytes() < kLeastBudget) {
    if (!make_room())
      return fail(
          ErrorCode::limit_exceeded, -1,
          "The server has as many files open as it may ({}, {} of memory). Close one, or try again in a minute.",
          sessions_.size(), size_text(limits_.memory_bytes));
  }
  const std::string id = random_name();
  try {
    // Never all of it, so that a second large file can be read meanwhile.
    const int64_t enough = kUsualBudget + kBudgetPerByte * std::min(file->bytes, limits_.memory_bytes);
    const int64_t budget = std::min(free_bytes() / 4 * 3, enough);
    sessions_.push_back(std::make_shared<OpenSession>(id, std::string(name), std::move(*file), budget, now_));
  } catch (const std::exception& error) {  // no thread, no memory
    return fail(ErrorCode::limit_exceeded, -1, "The server cannot open another file: {}.", error.what());
  }
  ++sessions_.back()->clients;
  return sessions_.back();
}

std::shared_ptr<OpenSession> Sessions::find(std::string_view id) {
  const std::lock_guard lock(mutex_);
  for (const auto& one : sessions_)
    if (one->id() == id) return one;
  return nullptr;
}

int64_t Sessions::free_bytes() {
  int64_t left = limits_.memory_bytes;
  for (const auto& one : sessions_) left -= one->reserved_bytes();
  return left;
}

// Drops the one that was asked longest ago, if it is not in use. False: there is none.
bool Sessions::make_room() {
  auto oldest = sessions_.end();
  for (auto one = sessions_.begin(); one != sessions_.end(); ++one) {
    const bool in_use = (*one)->asking > 0 || ((*one)->clients > 0 && (*one)->unasked() < kInUse);
    if (!in_use && (oldest == sessions_.end() || (*one)->unasked() > (*oldest)->unasked())) oldest = one;
  }
  if (oldest == sessions_.end()) return false;
  sessions_.erase(oldest);
  return true;
}

void Sessions::drop_idle() {
  std::vector<std::shared_ptr<OpenSession>> gone;  // ends outside of the lock
  {
    const std::lock_guard lock(mutex_);
    for (auto one = sessions_.begin(); one != sessions_.end();) {
      const auto allowed = (*one)->is_reading() ? limits_.unwatched : limits_.idle;
      if ((*one)->asking > 0 || (*one)->unasked() <= allowed) {
        ++one;
        continue;
      }
      gone.push_back(std::move(*one));
      one = sessions_.erase(one);
    }
  }
  if (gone.empty()) return;
  gone.clear();
  give_back_free_heap();
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
