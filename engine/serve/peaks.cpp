#include "engine/serve/peaks.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "engine/analysis/report/summary.h"

namespace gpustrata::serve {

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

int64_t Peaks::look_up(std::vector<ListedFile>& files) {
  const std::lock_guard lock(mutex_);
  const int64_t left = known_.look_up(files);
  if (known_.has_more()) changed_.notify_all();
  return left;
}

KnownPeaks::Known Peaks::examine(const std::string& name) const {
  KnownPeaks::Known known;
  const auto file = files_.open(name);
  if (!file) {
    known.error = file.error().message;
    return known;
  }
  try {
    session::Session session(memory_bytes_, &sessions_.all());
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
    std::string name;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || known_.has_more(); });
      while (!stopped_ && sessions_.is_reading()) changed_.wait_for(lock, kPause);
      if (stopped_) return;
      const ListedFile* const next = known_.take();
      if (next == nullptr) continue;
      name = next->shown.name;
    }
    KnownPeaks::Known known = examine(name);
    const std::lock_guard lock(mutex_);
    known_.examined(std::move(known));
  }
}

}  // namespace gpustrata::serve
