#include "capture/driver/driver_recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <iterator>
#include <thread>
#include <utility>

#include "capture/driver/driver_file.h"
#include "capture/preload/say.h"
#include "capture/stacks/cpp_stack.h"
#include "engine/base/units.h"
#include "engine/io/journal/facts.h"

namespace gpustrata::capture {

using trace::Action;
using trace::TraceEvent;

namespace {

constexpr size_t kMostDriverFrames = 256;  // deeper stacks lose their outermost frames
constexpr int64_t kDriverStackBytes = int64_t{256} << 20;
constexpr int kHostDevice = 65535;  // of the journal
constexpr size_t kMostRanges = 256;
constexpr int kEndSeconds = 2;

std::atomic<bool> g_forked{false};  // what is freed in the child concerns the parent

// Ranges of this thread that have begun, by number in the journal. Those beyond are counted.
struct Ranges {
  size_t count = 0;
  int32_t names[kMostRanges];
};
thread_local Ranges t_ranges;

[[nodiscard]] int64_t microseconds_of(clockid_t clock) {
  timespec time{};
  (void)clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000;
}

void say_line(std::string_view line) {
  const std::string whole = fmt::format("gpustrata: {}\n", line);
  preload::say(whole.data(), whole.size());
}

[[nodiscard]] int row_of(const gpustrata_driver_block& block) {
  return block.place == GPUSTRATA_ON_DEVICE ? block.device : kHostDevice;
}

}  // namespace

DriverRecorder& DriverRecorder::instance() {
  static DriverRecorder& only = *new DriverRecorder();
  return only;
}

DriverRecorder::DriverRecorder()
    : raw_(
          kDriverStackBytes, [](const PythonFrame&) { return PythonFrameText(); }, [](void*) {}) {
  (void)pthread_atfork(nullptr, nullptr, [] { g_forked.store(true); });
  (void)sem_init(&end_asked_, 0, 0);
  (void)sem_init(&end_done_, 0, 0);
}

bool DriverRecorder::is_here() const { return !g_forked.load(std::memory_order_relaxed); }

void DriverRecorder::AddressRange::hold_module_of(const void* address) {
  const std::vector<Module> modules = loaded_modules();
  if (const Module* const found = module_of(modules, reinterpret_cast<uint64_t>(address))) {
    begin_ = found->begin;
    size_ = found->end - found->begin;
  }
}

void DriverRecorder::begin(const gpustrata_driver_options& options) {
  output_ = options.output;
  max_size_ = options.max_size;
  native_stacks_ = options.native_stacks != 0;
  is_beside_ = options.is_beside != 0;
  own_.hold_module_of(reinterpret_cast<const void*>(&place_driver_file));
  preloaded_.hold_module_of(options.preloaded);
  if (native_stacks_) prepare_cpp_stacks();
  real_minus_monotonic_us_ = microseconds_of(CLOCK_REALTIME) - microseconds_of(CLOCK_MONOTONIC);
}

// --- Who asks

DriverRecorder::Who DriverRecorder::gather(const void* caller) {
  if (!native_stacks_) return {.stack = {}, .caller = reinterpret_cast<uint64_t>(caller)};
  uint64_t addresses[kMostDriverFrames];
  std::span<const uint64_t> stack(addresses, gather_cpp_stack(addresses));
  while (!stack.empty() && (own_.holds(stack[0]) || preloaded_.holds(stack[0]))) stack = stack.subspan(1);
  return {.stack = raw_.intern({.addresses = stack, .python = {}}),
          .caller = reinterpret_cast<uint64_t>(caller)};
}

StringId DriverRecorder::owner(const Who& who) {
  if (who.stack.is_none()) {
    const auto [known, is_new] = by_caller_.try_emplace(who.caller);
    if (is_new && who.caller != 0) known->second = named(callers_.of({&who.caller, 1}));
    return known->second;
  }
  if (who.stack.index() >= owners_.size()) owners_.resize(who.stack.index() + 64, -2);
  int32_t& told = owners_[who.stack.index()];
  if (told == -2) told = named(callers_.of(raw_.get(who.stack).addresses)).value;
  return StringId(told);
}

StringId DriverRecorder::named(const std::string& name) {
  const StringId id = journal_->text(name);
  names_.try_emplace(id.value, name);
  return id;
}

void DriverRecorder::Taken::add(int32_t owner, int64_t more) {
  auto share = std::find_if(now.begin(), now.end(), [&](const Share& one) { return one.owner == owner; });
  if (share == now.end()) share = now.insert(now.end(), {.owner = owner});
  share->bytes += more;
  bytes += more;
  if (bytes <= peak) return;
  peak = bytes;
  at_peak = now;
}

void DriverRecorder::ask_who(gpustrata_driver_block& block, const Who& who) {
  block.stack = who.stack.value;
  block.owner = owner(who).value;
}

// --- The file

int64_t DriverRecorder::now_us() {
  last_us_ = std::max(last_us_, microseconds_of(CLOCK_MONOTONIC) + real_minus_monotonic_us_);
  return last_us_;
}

// Begun with the first event: who only asks which devices there are leaves no file.
bool DriverRecorder::is_open() {
  if (journal_ != nullptr) return !ended_;
  if (file_.load(std::memory_order_relaxed) == FileIs::failed) return false;
  const auto failed = [&](const Error& error) {
    file_.store(FileIs::failed, std::memory_order_release);
    say_line(fmt::format("the driver is not recorded: {}", error.message));
    return false;
  };
  auto path = place_driver_file(output_, is_beside_);
  if (!path) return failed(path.error());
  path_ = std::move(*path);
  JournalOptions options;
  if (max_size_ != 0) options.max_size = max_size_;
  options.report = say_line;
  auto journal = Journal::create(path_, options);
  if (!journal) {
    (void)unlink(path_.c_str());
    return failed(journal.error());
  }
  journal_ = std::move(*journal);
  stacks_ = std::make_unique<JournalStacks>(*journal_, raw_);
  no_context_ = journal_->text("N/A");
  journal_->fact(io::journal::kHostDeviceFact, std::to_string(kHostDevice));
  journal_->fact(io::journal::kRecordsFact, io::journal::kDriver);
  tell_facts();
  start_ender();
  file_.store(FileIs::open, std::memory_order_release);
  return true;
}

void DriverRecorder::know(int device) {
  const auto number = static_cast<size_t>(device);
  if (number < known_.size() && known_[number]) return;
  if (number >= known_.size()) known_.resize(number + 1);
  known_[number] = true;
  journal_->state(device, {}, {});
}

void DriverRecorder::event(Action action, const gpustrata_driver_block& block, StackId stack,
                           StringId metadata) {
  TraceEvent event;
  event.action = action;
  event.address = block.address;
  event.size = block.size;
  event.stream = block.stream;
  event.pool = {0, static_cast<int64_t>(block.pool)};
  event.time_us = now_us();
  event.stack = (*stacks_)(stack);
  event.context = no_context_;
  event.metadata = metadata;
  journal_->event(row_of(block), event);
  ++events_;
}

void DriverRecorder::show(const gpustrata_driver_block& block) {
  know(row_of(block));
  StringId owner(block.owner);
  if (block.place == GPUSTRATA_MANAGED) owner = journal_->text("managed");
  event(Action::segment_alloc, block, StackId(block.stack), owner);
  event(Action::alloc, block, StackId(block.stack), owner);
  if (block.place == GPUSTRATA_ON_DEVICE) taken_[block.device].add(block.owner, block.size);
}

void DriverRecorder::hide(const gpustrata_driver_block& block, StackId stack) {
  for (const Action action : {Action::free_requested, Action::free_completed, Action::segment_free})
    event(action, block, stack, {});
  if (block.place == GPUSTRATA_ON_DEVICE) taken_[block.device].add(block.owner, -block.size);
}

// --- Calls

void DriverRecorder::allocated(gpustrata_driver_block block, const void* caller) {
  if (!is_here()) return;
  const Who who = gather(caller);
  const std::lock_guard guard(lock_);
  if (!is_open()) return;
  ask_who(block, who);
  // Given back in a way that is not watched: a graph's memory, for one.
  if (const auto old = live_.find(block.address); old != live_.end()) hide(old->second, {});
  show(block);
  live_[block.address] = block;
}

bool DriverRecorder::freeing(uint64_t address, gpustrata_driver_block& block) {
  if (!is_here()) return false;
  {
    const std::lock_guard guard(lock_);
    if (journal_ == nullptr || ended_ || !live_.contains(address)) return false;
  }
  const Who who = gather(nullptr);
  const std::lock_guard guard(lock_);
  const auto found = live_.find(address);
  if (found == live_.end()) return false;
  block = found->second;
  live_.erase(found);
  hide(block, who.stack);
  return true;
}

void DriverRecorder::kept(const gpustrata_driver_block& block) {
  if (!is_here()) return;
  const std::lock_guard guard(lock_);
  if (!is_open()) return;
  show(block);
  live_[block.address] = block;
}

void DriverRecorder::refused(const gpustrata_driver_block& block, int64_t free_bytes) {
  if (!is_here()) return;
  const Who who = gather(nullptr);
  const std::lock_guard guard(lock_);
  if (!is_open()) return;
  know(row_of(block));
  gpustrata_driver_block asked = block;
  asked.address = static_cast<uint64_t>(free_bytes);
  event(Action::oom, asked, who.stack, {});
}

void DriverRecorder::ending(int device, uint64_t context) {
  if (!is_here()) return;
  const Who who = gather(nullptr);
  const std::lock_guard guard(lock_);
  if (journal_ == nullptr || ended_) return;
  ending_.clear();
  for (auto it = live_.begin(); it != live_.end();) {
    const gpustrata_driver_block& block = it->second;
    // Pools are the device's, not of a context.
    const bool ends = context == 0 ? block.device == device : block.context == context && block.pool == 0;
    if (ends) ending_.push_back(block);
    it = ends ? live_.erase(it) : std::next(it);
  }
  std::sort(ending_.begin(), ending_.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  for (const gpustrata_driver_block& block : ending_) hide(block, who.stack);
}

void DriverRecorder::not_ended() {
  if (!is_here()) return;
  const std::lock_guard guard(lock_);
  if (!is_open()) return;
  for (const gpustrata_driver_block& block : std::exchange(ending_, {})) {
    show(block);
    live_[block.address] = block;
  }
}

void DriverRecorder::created(uint64_t handle, const gpustrata_driver_block& block) {
  if (!is_here()) return;
  const std::lock_guard guard(lock_);
  std::shared_ptr<Physical>& physical = handles_[handle];
  physical = std::make_shared<Physical>();
  physical->block = block;
}

bool DriverRecorder::releasing(uint64_t handle, gpustrata_driver_block& block) {
  if (!is_here()) return false;
  const std::lock_guard guard(lock_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return false;
  block = found->second->block;
  handles_.erase(found);
  return true;
}

void DriverRecorder::mapped(uint64_t address, int64_t size, uint64_t handle, const void* caller) {
  if (!is_here()) return;
  const Who who = gather(caller);
  const std::lock_guard guard(lock_);
  const auto found = handles_.find(handle);
  // Another process's, which has it already.
  if (found == handles_.end() || !is_open()) return;
  const std::shared_ptr<Physical>& physical = found->second;
  mappings_[address] = {size, physical};
  if (physical->shown != 0) return;
  physical->shown = address;
  gpustrata_driver_block& block = physical->block;
  block.address = address;
  block.size = size;
  ask_who(block, who);
  show(block);
}

void DriverRecorder::unmapped(uint64_t address, int64_t size) {
  if (!is_here()) return;
  const Who who = gather(nullptr);
  const std::lock_guard guard(lock_);
  if (!is_open()) return;
  auto at = mappings_.lower_bound(address);
  while (at != mappings_.end() && at->first - address < static_cast<uint64_t>(size)) {
    const uint64_t start = at->first;
    const std::shared_ptr<Physical> physical = std::move(at->second.of);
    at = mappings_.erase(at);
    if (physical->shown != start) continue;
    hide(physical->block, who.stack);
    physical->shown = 0;
    // It may lie elsewhere, too.
    const auto other = std::find_if(mappings_.begin(), mappings_.end(),
                                    [&](const auto& mapping) { return mapping.second.of == physical; });
    if (other == mappings_.end()) continue;
    physical->shown = physical->block.address = other->first;
    show(physical->block);
  }
}

void DriverRecorder::found(int device, int64_t used_bytes, int64_t total_bytes) {
  if (!is_here()) return;
  const std::lock_guard guard(lock_);
  facts_[fmt::format("used_before_first_{}", device)] = used_bytes;
  facts_[fmt::format("total_{}", device)] = total_bytes;
  were_there_[device] = used_bytes;
  if (journal_ != nullptr) tell_facts();
}

void DriverRecorder::tell_facts() {
  for (const auto& [key, value] : std::exchange(facts_, {})) journal_->fact(key, std::to_string(value));
}

int DriverRecorder::region(const char* name, int device) {
  Ranges& ranges = t_ranges;
  if (name == nullptr && ranges.count == 0) return -1;
  if (name == nullptr) --ranges.count;
  const size_t depth = ranges.count;
  if (name != nullptr) ++ranges.count;
  if (!is_here() || depth >= kMostRanges) return static_cast<int>(depth);
  const std::lock_guard guard(lock_);
  if (name != nullptr) ranges.names[depth] = is_open() ? journal_->text(name).value : -1;
  if (journal_ != nullptr && !ended_ && ranges.names[depth] >= 0)
    journal_->region(device, StringId(ranges.names[depth]), name != nullptr, now_us());
  return static_cast<int>(depth);
}

// "; cuda:0 gave 3.0 GiB at most (libc10_cuda.so 2.5 GiB, libnccl.so.2 512.0 MiB), 420.0 MiB were in use before (...)"
std::string DriverRecorder::in_words() const {
  constexpr size_t kMostNamed = 4;
  std::string words;
  for (const auto& [device, taken] : taken_) {
    words += fmt::format("; cuda:{} gave {} at most", device, size_text(taken.peak));
    std::vector<Taken::Share> shares = taken.at_peak;
    std::sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    std::string named;
    for (size_t i = 0; i < std::min(shares.size(), kMostNamed) && shares[i].bytes > 0; ++i) {
      const auto name = names_.find(shares[i].owner);
      named += fmt::format("{}{} {}", named.empty() ? "" : ", ", name == names_.end() ? "?" : name->second,
                           size_text(shares[i].bytes));
    }
    if (!named.empty()) words += fmt::format(" ({})", named);
    const auto before = were_there_.find(device);
    if (before != were_there_.end() && before->second > 0)
      words += fmt::format(", {} were in use before (contexts, modules, other processes)",
                           size_text(before->second));
  }
  return words;
}

// --- The end

void DriverRecorder::start_ender() {
  // The program's signals are handled by its own threads.
  sigset_t all{}, before{};
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([this] {
    while (sem_wait(&end_asked_) != 0) {
    }
    close();
    (void)sem_post(&end_done_);
  }).detach();
  (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void DriverRecorder::close() {
  const std::lock_guard guard(lock_);
  ended_ = true;
  journal_->close();
  say_line(fmt::format("{}: {} of the CUDA driver{}{}", path_, counted(events_, "event"),
                       journal_->is_cut() ? ", the oldest are gone" : "", in_words()));
}

bool DriverRecorder::end() {
  const FileIs file = is_here() ? file_.load(std::memory_order_acquire) : FileIs::none;
  if (file != FileIs::open) return file == FileIs::failed;
  (void)sem_post(&end_asked_);
  timespec until{};
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kEndSeconds;
  while (sem_timedwait(&end_done_, &until) != 0 && errno == EINTR) {
  }
  return true;
}

}  // namespace gpustrata::capture
