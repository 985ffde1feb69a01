#include "engine/serve/peaks.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "engine/analysis/summary.h"

namespace memstrata::serve {

namespace {
constexpr std::chrono::milliseconds kPause{200};  // while somebody's file is being read
constexpr int kNice = 10;
}  // namespace

Peaks::Peaks(const Files& files, Sessions& sessions, int64_t memory_bytes)
    : files_(files), sessions_(sessions), memory_bytes_(memory_bytes), thread_([this] { run(); }) {}

Peaks::~Peaks() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

int64_t Peaks::look_up(std::vector<answers::ServedFile>& files) {
  const std::lock_guard lock(mutex_);
  wanted_.clear();
  for (answers::ServedFile& file : files) {
    const auto found = known_.find(file.name);
    if (found != known_.end() && found->second.bytes == file.bytes &&
        found->second.modified_us == file.modified_us) {
      file.peak_bytes = found->second.peak_bytes;
      file.error = found->second.error;
    } else if (file.bytes <= kLargest) {
      wanted_.push_back(file);
    }
  }
  std::reverse(wanted_.begin(), wanted_.end());  // taken from the end
  if (!wanted_.empty()) changed_.notify_all();
  return static_cast<int64_t>(wanted_.size());
}

Peaks::Known Peaks::examine(const answers::ServedFile& listed) const {
  Known known;
  known.bytes = listed.bytes;  // what cannot be opened is not looked at again until it is another file
  known.modified_us = listed.modified_us;
  const auto file = files_.open(listed.name);
  if (!file) {
    known.error = file.error().message;
    return known;
  }
  known.bytes = file->bytes;
  known.modified_us = file->modified_us;
  try {
    session::Session session(memory_bytes_);
    Status read = read_file(*file, session, [this](const session::Session&) { return !stopped_; });
    const auto summary = read ? analysis::summarize(session.recording())
                              : Result<analysis::Summary>(tl::unexpected(read.error()));
    if (!summary) {
      known.error = summary.error().message;
      return known;
    }
    for (const analysis::SnapshotSummary& snapshot : summary->snapshots)
      for (const analysis::DeviceSummary& device : snapshot.devices)
        known.peak_bytes = std::max(known.peak_bytes.value_or(0), device.peak_requested_bytes);
  } catch (const std::bad_alloc&) {
    known.error = "This file needs too much memory.";
  }
  return known;
}

void Peaks::run() {
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
  for (;;) {
    answers::ServedFile file;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || !wanted_.empty(); });
      while (!stopped_ && sessions_.is_reading()) changed_.wait_for(lock, kPause);
      if (stopped_) return;
      if (wanted_.empty()) continue;
      file = std::move(wanted_.back());
      wanted_.pop_back();
    }
    Known known = examine(file);
    const std::lock_guard lock(mutex_);
    known_[file.name] = std::move(known);
  }
}

}  // namespace memstrata::serve
