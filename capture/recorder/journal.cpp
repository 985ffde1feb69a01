#include "capture/recorder/journal.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "engine/base/units.h"

namespace gpustrata::capture {

using namespace io::journal;

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMostRing = uint64_t{4} << 20;  // 58,000 events: 0.1 s at ten times the busiest rate known
constexpr auto kPause = std::chrono::milliseconds(100);
// Tables of names, and what the thread keeps: a program that is observed must not grow because of it.
constexpr int64_t kNamesBytes = int64_t{24} << 20;
constexpr uint64_t kMostNameRecords = uint64_t{12} << 20;
constexpr int64_t kThreadBytes = int64_t{1} << 30;

std::atomic<uint64_t> g_forks{0};

void count_forks() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { g_forks.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
}

void print(std::string_view line) {
  (void)std::fprintf(stderr, "gpustrata: %.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::create(const std::string& path, const JournalOptions& options) {
  if (options.max_size < JournalOptions::kLeastSize)
    return fail(ErrorCode::wrong_usage, -1, "a journal of at most {} is too small; give it {} or more",
                size_text(options.max_size), size_text(JournalOptions::kLeastSize));
  const auto size = static_cast<uint64_t>(options.max_size);
  const uint64_t ring = std::bit_floor(std::min(size / 16, kMostRing));
  const uint64_t region = (size - kHeaderBytes - ring) / 2 / kPage * kPage;
  auto file = JournalFile::create(path, ring, region);
  if (!file) return tl::unexpected(file.error());
  return std::unique_ptr<Journal>(new Journal(std::move(*file), options));
}

Journal::Journal(JournalFile file, const JournalOptions& options)
    : file_(std::move(file)),
      report_(options.report == nullptr ? print : options.report),
      forks_((count_forks(), g_forks.load(std::memory_order_relaxed))),
      next_wake_(file_.ring_bytes() / 2),
      names_budget_(kNamesBytes),
      texts_(names_budget_),
      frames_(names_budget_),
      stacks_(names_budget_),
      budget_(kThreadBytes),
      chunker_(budget_),
      records_(budget_),
      chunks_(budget_) {
  // The program's signals are handled by its own threads.
  sigset_t all{}, before{};
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Journal::~Journal() {
  close();
  if (thread_.joinable()) thread_.detach();  // in a forked child it is not there
}

bool Journal::is_mine() const { return g_forks.load(std::memory_order_relaxed) == forks_; }

// --- Telling -----------------------------------------------------------------------------------------------

bool Journal::make_room(uint64_t bytes) {
  const auto is_room = [&] {
    return head_ + bytes - file_.number(kTailAt).load(std::memory_order_acquire) <= file_.ring_bytes();
  };
  if (lost_) return false;
  if (is_room()) return true;
  drain();
  lost_ = !is_room();
  return !lost_;
}

template <typename Record>
bool Journal::put(const Record& record, std::span<const std::byte> more) {
  if (!make_room(record.head.bytes)) return false;
  file_.put(head_, std::as_bytes(std::span(&record, 1)));
  if (!more.empty()) {
    constexpr std::array<std::byte, kAligned> kZeros{};
    file_.put(head_ + sizeof record, more);
    file_.put(head_ + sizeof record + more.size(),
              std::span(kZeros).first(record.head.bytes - sizeof record - more.size()));
  }
  head_ += record.head.bytes;
  file_.number(kHeadAt).store(head_, std::memory_order_release);
  if (head_ >= next_wake_) {
    next_wake_ = head_ + file_.ring_bytes() / 2;
    wake_.notify_one();
  }
  return true;
}

// No region may be filled by names alone.
template <typename Record>
bool Journal::put_name(const Record& record, std::span<const std::byte> more) {
  if (name_bytes_ + record.head.bytes > std::min(file_.region_bytes() / 4, kMostNameRecords)) return false;
  name_bytes_ += record.head.bytes;
  return put(record, more);
}

// `id` if it was told before or can be told now. Numbers ascend as names are told: after the first that found no room there is none.
template <typename Id, typename Tell>
Id Journal::told(Id id, int32_t& count, const Tell& tell) {
  if (!id.is_none() && id.value < count) return id;
  if (!id.is_none() && id.value == count && tell()) {
    ++count;
    return id;
  }
  (void)file_.number(kLostStacksAt).fetch_add(1, std::memory_order_relaxed);
  return {};
}

StringId Journal::text_locked(std::string_view text) {
  text = text.substr(0, kMostTextBytes);
  const StringId id = texts_.intern(text);
  return told(id, told_texts_, [&] {
    const TextRecord record{head_of<TextRecord>(RecordKind::text, 0, text.size()), id.value,
                            static_cast<uint32_t>(text.size())};
    return put_name(record, std::as_bytes(std::span(text.data(), text.size())));
  });
}

StringId Journal::text(std::string_view text) {
  if (!is_mine()) return {};
  const std::lock_guard guard(lock_);
  return text_locked(text);
}

FrameId Journal::frame(std::string_view name, std::string_view filename, int32_t line) {
  if (!is_mine()) return {};
  const std::lock_guard guard(lock_);
  const StringId name_id = text_locked(name), file_id = text_locked(filename);
  const FrameId id = frames_.intern({name_id, file_id, line, -1});
  return told(id, told_frames_, [&] {
    return put_name(
        FrameRecord{head_of<FrameRecord>(RecordKind::frame), id.value, name_id.value, file_id.value, line});
  });
}

StackId Journal::stack(std::span<const FrameId> frames) {
  if (!is_mine()) return {};
  frames = frames.first(std::min<size_t>(frames.size(), kMostFrames));
  const std::lock_guard guard(lock_);
  const StackId id = stacks_.intern(frames);
  return told(id, told_stacks_, [&] {
    const StackRecord record{head_of<StackRecord>(RecordKind::stack, 0, frames.size_bytes()), id.value,
                             static_cast<uint32_t>(frames.size())};
    return put_name(record, std::as_bytes(frames));
  });
}

void Journal::fact(std::string_view key, std::string_view value) {
  if (!is_mine()) return;
  const std::lock_guard guard(lock_);
  const StringId key_id = text_locked(key), value_id = text_locked(value);
  if (!key_id.is_none() && !value_id.is_none())
    (void)put_name(FactRecord{head_of<FactRecord>(RecordKind::fact), key_id.value, value_id.value});
}

void Journal::event(int device, const trace::TraceEvent& event) {
  if (!is_mine()) return;
  const EventRecord record{head_of<EventRecord>(RecordKind::event, device),
                           event.address,
                           event.size,
                           event.stream,
                           event.time_us,
                           event.pool.graph_id,
                           event.pool.user_id,
                           event.stack.value,
                           event.context.value,
                           event.metadata.value,
                           static_cast<uint32_t>(event.action)};
  const std::lock_guard guard(lock_);
  if (!put(record)) {
    (void)file_.number(kLostEventsAt).fetch_add(1, std::memory_order_relaxed);
    return;
  }
  file_.number(kEventsAt).store(++events_, std::memory_order_relaxed);
}

void Journal::region(int device, StringId name, bool begins, int64_t time_us) {
  if (!is_mine()) return;
  EventRecord record{};
  record.head = head_of<EventRecord>(RecordKind::event, device);
  record.time_us = time_us;
  record.stack = record.context = -1;
  record.metadata = name.value;
  record.action = begins ? kRegionBegin : kRegionEnd;
  const std::lock_guard guard(lock_);
  (void)put(record);
}

void Journal::state(int device, std::span<const SegmentRecord> segments,
                    std::span<const BlockRecord> blocks) {
  if (!is_mine()) return;
  const std::lock_guard guard(lock_);
  bool whole = put(StateMark{head_of<StateMark>(RecordKind::state_begin, device)});
  for (SegmentRecord segment : segments) {
    segment.head = head_of<SegmentRecord>(RecordKind::segment, device);
    whole = whole && put(segment);
  }
  for (BlockRecord block : blocks) {
    block.head = head_of<BlockRecord>(RecordKind::block, device);
    whole = whole && put(block);
  }
  if (whole) (void)put(StateMark{head_of<StateMark>(RecordKind::state_end, device)});
}

// --- Chunks ------------------------------------------------------------------------------------------------

void Journal::run() {
  std::unique_lock guard(waking_);
  while (!ending_) {
    (void)wake_.wait_for(guard, kPause);
    guard.unlock();
    drain();
    guard.lock();
  }
}

void Journal::drain() {
  const std::lock_guard guard(draining_);
  if (is_stopped()) return;
  const uint64_t head = file_.number(kHeadAt).load(std::memory_order_acquire);
  if (head == tail_) return;
  if (file_.is_gone()) return stop("its file was removed or replaced");
  if (!records_.resize(static_cast<size_t>(head - tail_), {})) return stop("no memory for its records");
  file_.get(tail_, records_.span());
  chunks_.clear();
  const uint64_t wanted = chunker_.most_bytes(records_.span()) + sizeof(ChunkHead);
  const bool begins = generation_ == 0 || used_ + wanted > file_.region_bytes();
  if (begins && !begin_region(tail_, wanted)) return;
  size_t taken = 0;
  const bool whole = chunker_.take(records_.span(), tail_, generation_, chunks_, taken);
  if (!whole || !chunks_.resize(chunks_.size() + sizeof(ChunkHead), {}))
    return stop("no memory for its chunks");
  const int region = static_cast<int>((generation_ - 1) % 2);
  if (const Status written = file_.write(region, used_, chunks_.span()); !written)
    return stop(written.error().message);
  used_ += chunks_.size() - sizeof(ChunkHead);  // the next chunk takes the place of the head of zeros
  tail_ = head;
  file_.number(kTailAt).store(tail_, std::memory_order_release);
}

bool Journal::begin_region(uint64_t position, uint64_t wanted) {
  ++generation_;
  used_ = 0;
  if (!chunker_.begin_region(position, generation_, chunks_)) {
    stop("no memory for its chunks");
    return false;
  }
  if (chunks_.size() + wanted <= file_.region_bytes()) return true;
  const uint64_t needed = 2 * (chunks_.size() + wanted) + file_.ring_bytes() + kHeaderBytes;
  stop(fmt::format("names and state alone take {}; give it a max_size of {} or more",
                   size_text(static_cast<int64_t>(chunks_.size())),
                   needed_text(static_cast<int64_t>(2 * needed))));
  return false;
}

bool Journal::is_cut() {
  const std::lock_guard guard(draining_);
  return generation_ > 2;  // regions: the file has two
}

void Journal::stop(std::string_view why) {
  file_.set_reason(why);
  stopped_.store(true, std::memory_order_relaxed);
  report_(fmt::format("the journal {} ends here: {}. The program goes on.", file_.path(), why));
}

void Journal::close() {
  if (!is_mine() || std::exchange(closed_, true)) return;
  {
    const std::lock_guard guard(waking_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
  const std::lock_guard telling(lock_);
  drain();
  lost_ = true;  // nothing more
  const std::lock_guard guard(draining_);
  if (is_stopped()) return;
  // So that whoever opens it need not apply the events; if there is no room, they will.
  chunks_.clear();
  if (generation_ > 0 && chunker_.write_states(tail_, generation_, chunks_) &&
      chunks_.resize(chunks_.size() + sizeof(ChunkHead), {}) &&
      used_ + chunks_.size() <= file_.region_bytes())
    (void)file_.write(static_cast<int>((generation_ - 1) % 2), used_, chunks_.span());
  file_.number(kClosedAt).store(1, std::memory_order_release);
}

}  // namespace gpustrata::capture
