// The part of gpustrata.h about observing: status codes, texts, no exception leaves.
#include <string>

#include "capture/front/guarded.h"
#include "capture/observe/observer.h"
#include "capture/recorder/snapshot_file.h"
#include "capture/stacks/unlocked_python.h"

using namespace gpustrata;
using namespace gpustrata::capture;

struct gpustrata_observation {
  std::unique_ptr<Observation> taken;
};

void gpustrata_observed(const gpustrata_observed_event* event) { Observer::instance().on_event(*event); }
void gpustrata_observed_region(const char* name, int begins, int device, uint64_t time) {
  Observer::instance().on_region(name, begins != 0, device, time);
}

gpustrata_status gpustrata_learn_python() {
  return guarded([]() -> Status {
    const std::string why = learn_python_frames();
    return why.empty() ? Status() : fail(ErrorCode::wrong_usage, -1, "{}", why);
  });
}
gpustrata_status gpustrata_observe(const gpustrata_observable* allocator, gpustrata_observed_stacks stacks,
                                   int64_t max_entries) {
  if (allocator == nullptr || allocator->now == nullptr || allocator->snapshot == nullptr)
    return refused("gpustrata_observe() needs an allocator with its functions");
  return guarded([&] {
    return Observer::instance().begin(*allocator, stacks,
                                      {.max_entries = max_entries, .journal = {}, .max_size = 0});
  });
}
gpustrata_status gpustrata_observe_to_journal(const gpustrata_observable* allocator,
                                              gpustrata_observed_stacks stacks, const char* path,
                                              int64_t max_size) {
  if (allocator == nullptr || allocator->now == nullptr || allocator->snapshot == nullptr ||
      path == nullptr || *path == 0)
    return refused("gpustrata_observe_to_journal() needs an allocator with its functions, and a path");
  return guarded([&] {
    const int64_t size = max_size == 0 ? JournalOptions().max_size : max_size;
    return Observer::instance().begin(*allocator, stacks,
                                      {.max_entries = 0, .journal = path, .max_size = size});
  });
}
int64_t gpustrata_observed_journal_events(int device) {
  const auto journal = Observer::instance().journal();
  return journal ? journal->events(device) : -1;
}
int gpustrata_observed_journal_is_cut() {
  const auto journal = Observer::instance().journal();
  return journal && journal->is_cut() ? 1 : 0;
}
gpustrata_status gpustrata_observe_end() {
  return guarded([] { return Observer::instance().end(); });
}

gpustrata_status gpustrata_observation_take(gpustrata_observation** observation) {
  if (observation == nullptr)
    return refused("gpustrata_observation_take() needs a place for the observation");
  *observation = nullptr;
  return guarded([&]() -> Status {
    auto taken = Observer::instance().take();
    if (!taken) return tl::unexpected(taken.error());
    *observation = new gpustrata_observation{std::move(*taken)};
    return {};
  });
}
int64_t gpustrata_observation_events(const gpustrata_observation* observation, int device) {
  const auto& events = observation->taken->events;
  return static_cast<size_t>(device) < events.size() ? events[static_cast<size_t>(device)] : -1;
}
int64_t gpustrata_observation_segments(const gpustrata_observation* observation, int device) {
  const auto& segments = observation->taken->segments;
  return static_cast<size_t>(device) < segments.size() ? segments[static_cast<size_t>(device)] : -1;
}
int64_t gpustrata_observation_lost(const gpustrata_observation* observation) {
  return observation->taken->lost;
}
gpustrata_status gpustrata_observation_write(gpustrata_observation* observation, const char* path) {
  return guarded([&]() -> Status {
    auto file = SnapshotFile::create(path == nullptr ? "" : path);
    if (!file) return tl::unexpected(file.error());
    if (Status written = Observer::instance().write(*observation->taken, *file); !written) return written;
    return file->commit();
  });
}
void gpustrata_observation_free(gpustrata_observation* observation) { delete observation; }
