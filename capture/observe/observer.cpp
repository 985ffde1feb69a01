#include "capture/observe/observer.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "capture/stacks/cpp_stack.h"
#include "capture/stacks/python_stack.h"
#include "capture/stacks/unlocked_python.h"

namespace gpustrata::capture {

using trace::Action;
using trace::TraceEvent;

namespace {

constexpr size_t kMostFrames = 512;  // deeper stacks lose their outermost frames
constexpr int64_t kStackBytes = int64_t{256} << 20;
constexpr int64_t kMostRegions = 1 << 20;

std::atomic<bool> g_in_child{false};  // of a fork: what is freed there concerns the parent

// PyTorch's order, which gpustrata.h repeats.
constexpr std::array kActions = {Action::alloc,         Action::free_requested, Action::free_completed,
                                 Action::segment_alloc, Action::segment_free,   Action::segment_map,
                                 Action::segment_unmap, Action::snapshot,       Action::oom,
                                 Action::annotate};

struct Visiting {
  const std::function<void(int device, DeviceHistory& history, const gpustrata_observed_event& entry)>& visit;
  std::vector<int> devices;  // as they were visited
};
thread_local Visiting* t_visiting = nullptr;

// Stacks of Python alone that the thread met lately: most events have one of them. Deeper ones are looked up in the table.
struct KnownStack {
  uint64_t epoch = 0;
  uint64_t hash = 0;
  StackId id;
  size_t count = 0;
  std::array<PythonFrame, 60> frames;
};
constexpr size_t kKnownStacks = 32;
thread_local std::array<KnownStack, kKnownStacks> t_known;
std::atomic<uint64_t> g_epoch{1};  // another one when a code object ends

}  // namespace

Observer& Observer::instance() {
  static Observer& only = *new Observer();
  return only;
}

namespace {
template <size_t... I>
[[nodiscard]] std::array<DeviceHistory, sizeof...(I)> histories(Budget& budget, std::index_sequence<I...>) {
  return {((void)I, DeviceHistory(budget))...};
}
}  // namespace

Observer::Observer()
    : budget_(int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / 2),
      devices_(histories(budget_, std::make_index_sequence<kMostObserved>())),
      stacks_(kStackBytes, name_python_frame_unlocked, [](void*) {}),
      texts_(budget_),
      empty_(texts_.intern("")),
      no_context_(texts_.intern("N/A")),
      regions_(budget_) {
  (void)pthread_atfork(nullptr, nullptr, [] { g_in_child.store(true); });
}

// --- Events

void Observer::on_event(const gpustrata_observed_event& entry) {
  const auto number = static_cast<size_t>(entry.device);
  if (number >= devices_.size() || static_cast<size_t>(entry.action) >= kActions.size()) return;
  DeviceHistory& history = devices_[number];
  const Action action = kActions[static_cast<size_t>(entry.action)];
  if (action == Action::snapshot && t_visiting != nullptr) {
    t_visiting->devices.push_back(entry.device);
    t_visiting->visit(entry.device, history, entry);
    return;
  }
  if (!history.is_on() || g_in_child.load(std::memory_order_relaxed)) return;
  TraceEvent event;
  event.action = action;
  event.address = entry.address;
  event.size = entry.size;
  event.stream = entry.stream;
  event.time_us = static_cast<int64_t>(entry.time);  // ticks of the fast clock, see take()
  event.pool = key_of(entry.pool);
  if (action != Action::snapshot) event.stack = stack();
  if (ObservedJournal* const journal = history.journal()) {
    journal->event(entry.device, event, entry.compile_context, entry.user_metadata);
    return;
  }
  event.context = text(entry.compile_context, no_context_);
  event.metadata = text(entry.user_metadata, StringId());
  history.add(event);
}

StringId Observer::text(const char* text, StringId otherwise) {
  if (text == nullptr) return otherwise;
  if (*text == 0) return empty_;
  const std::lock_guard guard(texts_lock_);
  return texts_.intern(text);
}

StackId Observer::stack() {
  const gpustrata_observed_stacks wanted = stacks_wanted_.load(std::memory_order_relaxed);
  if (wanted == GPUSTRATA_STACKS_NONE) return {};
  PythonFrame python[kMostFrames];
  RawStack stack;
  if ((wanted & GPUSTRATA_STACKS_NATIVE) != 0) {
    uint64_t addresses[kMostFrames];
    stack.addresses = {addresses, gather_cpp_stack(addresses)};
    uint64_t unused = 0;
    if ((wanted & GPUSTRATA_STACKS_PYTHON) != 0)
      stack.python = {python, gather_python_frames(python, unused)};
    return stacks_.intern(stack);
  }
  uint64_t hash = 0;
  stack.python = {python, gather_python_frames(python, hash)};
  KnownStack& known = t_known[(hash ^ hash >> 32) % kKnownStacks];
  const uint64_t epoch = g_epoch.load(std::memory_order_acquire);
  if (known.hash == hash && known.epoch == epoch && known.count == stack.python.size() &&
      std::memcmp(known.frames.data(), python, stack.python.size_bytes()) == 0)
    return known.id;
  const StackId id = stacks_.intern(stack, hash);
  if (stack.python.size() > known.frames.size()) return id;
  known.epoch = epoch;
  known.hash = hash;
  known.id = id;
  known.count = stack.python.size();
  std::memcpy(known.frames.data(), python, stack.python.size_bytes());
  return id;
}

void Observer::on_region(std::string_view name, bool begins, int device, uint64_t time) {
  if (!regions_on_.load(std::memory_order_relaxed) || g_in_child.load(std::memory_order_relaxed)) return;
  const std::lock_guard guard(texts_lock_);
  if (region_journal_) return region_journal_->region(name, begins, device, time);
  const StringId id = texts_.intern(name);
  if (!id.is_none()) regions_.push({id, device, begins, time});
}

// --- Control

Status Observer::visit_all(const Visit& visit, const gpustrata_observed_state& state) {
  Visiting visiting{visit, {}};
  t_visiting = &visiting;
  const char* const problem = allocator_->snapshot(&state);
  t_visiting = nullptr;
  if (problem != nullptr)
    return fail(ErrorCode::wrong_usage, -1, "the allocator gives no snapshot: {}", problem);
  const auto& visited = visiting.devices;
  for (int device = 0; device < allocator_->device_count; ++device) {
    if (static_cast<int>(visited.size()) != allocator_->device_count ||
        visited[static_cast<size_t>(device)] != device)
      return fail(ErrorCode::wrong_usage, -1,
                  "a snapshot of {} devices came back as {} entries, not one of each",
                  allocator_->device_count, visited.size());
  }
  return {};
}

Status Observer::begin(const gpustrata_observable& allocator, gpustrata_observed_stacks stacks,
                       const ObservedInto& into) {
  const std::lock_guard guard(control_);
  if (is_on_) return fail(ErrorCode::wrong_usage, -1, "it is observed already");
  if (into.journal.empty() && into.max_entries < 1)
    return fail(ErrorCode::wrong_usage, -1, "at least one event is kept, but max_entries is {}",
                into.max_entries);
  if (allocator.device_count < 1 || allocator.device_count > kMostObserved)
    return fail(ErrorCode::wrong_usage, -1, "{} devices cannot be observed", allocator.device_count);
  if ((stacks & GPUSTRATA_STACKS_PYTHON) != 0) {
    if (!knows_python_frames()) return fail(ErrorCode::wrong_usage, -1, "Python's frames are not known");
    tell_of_ended_code([](void* code) {
      if (g_in_child.load(std::memory_order_relaxed))
        return;  // a lock may be held by a thread that is not here
      Observer& own = instance();
      own.stacks_.forget(code);
      g_epoch.fetch_add(1, std::memory_order_release);
    });
  }
  if ((stacks & GPUSTRATA_STACKS_NATIVE) != 0) prepare_cpp_stacks();
  allocator_ = allocator;
  clock_.start(allocator.now);
  stacks_wanted_ = stacks;
  std::shared_ptr<ObservedJournal> journal;
  if (!into.journal.empty()) {
    auto created = ObservedJournal::create(into.journal, into.max_size, allocator, stacks_, clock_);
    if (!created) return tl::unexpected(created.error());
    journal = std::move(*created);
  }
  {
    const std::lock_guard texts_guard(texts_lock_);
    regions_.clear();
    regions_.set_capacity(journal ? 1 : std::min(into.max_entries, kMostRegions));
  }
  // The entry of this snapshot is known: it must be told field by field.
  ObservedState state;
  std::vector<gpustrata_observed_event> entries;
  const uint64_t before = clock_.now();
  Status begun = visit_all(
      [&](int, DeviceHistory& history, const gpustrata_observed_event& entry) {
        entries.push_back(entry);
        journal ? history.begin(journal) : history.begin(into.max_entries);
      },
      state.hearing());
  const uint64_t after = clock_.now();
  for (size_t i = 0; begun && i < entries.size(); ++i) {
    const gpustrata_observed_event& entry = entries[i];
    int64_t active = 0;
    for (const ObservedState::Segment& segment : state.segments) {
      if (segment.row.device == entry.device) active += segment.row.active_size;
    }
    if (entry.address != 0 || entry.size != active || entry.stream != 0 || entry.pool.graph_id != 0 ||
        entry.pool.user_id != 0 || entry.time < before || entry.time > after)
      begun =
          fail(ErrorCode::wrong_usage, -1, "the entry of a snapshot of device {} is not what was done", i);
  }
  if (!begun) {
    (void)forget();
    if (journal) journal->close();
    return begun;
  }
  // It only says what more can be checked later: an event meanwhile changes nothing of it.
  for (size_t i = 0; i < entries.size(); ++i) {
    devices_[i].begins_empty(std::none_of(
        state.segments.begin(), state.segments.end(),
        [&](const ObservedState::Segment& segment) { return segment.row.device == entries[i].device; }));
  }
  if (journal) {
    journal->begin_with(state);
    journal_ = journal;
    const std::lock_guard texts_guard(texts_lock_);
    region_journal_ = std::move(journal);
  }
  regions_on_ = true;
  is_on_ = true;
  return {};
}

Status Observer::end() {
  const std::lock_guard guard(control_);
  if (!is_on_) return {};
  is_on_ = false;
  regions_on_ = false;
  Status ended = forget();
  if (!journal_) return ended;
  {
    const std::lock_guard texts_guard(texts_lock_);
    region_journal_ = nullptr;
  }
  if (g_in_child.load(std::memory_order_relaxed)) {
    // Its thread is the parent's: here its end would wait for one that is not there.
    (void)new std::shared_ptr<ObservedJournal>(std::move(journal_));
  } else {
    journal_->close();
  }
  journal_ = nullptr;
  return ended;
}

Status Observer::forget() {
  const gpustrata_observed_state nothing{nullptr, [](void*, const gpustrata_observed_segment*) {},
                                         [](void*, const char*, const char*) {}};
  return visit_all([](int, DeviceHistory& history, const gpustrata_observed_event&) { history.end(); },
                   nothing);
}

std::shared_ptr<ObservedJournal> Observer::journal() {
  const std::lock_guard guard(control_);
  return journal_;
}

}  // namespace gpustrata::capture
