// What if: runs of a rehearsal under other circumstances.
#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/analysis/what_if/what_if.h"
#include "engine/simulate/recorded_addresses.h"
#include "engine/simulate/rerun.h"
#include "engine/simulate/uncached.h"

namespace gpustrata::analysis {

using simulate::RecordedRequests;
using simulate::Request;

namespace {

// What a scenario asks for that the recording does not, in the order of the log; of each `extra` its place there.
struct Insertions {
  std::vector<simulate::Inserted> inserted;
  std::vector<int32_t> after;  // by inserted request, the event that it follows
  std::vector<int32_t> place_of_extra;
};

[[nodiscard]] Result<Insertions> insertions_of(const Rehearsal& rehearsal, const Scenario& scenario) {
  const RecordedRequests& requests = rehearsal.requests;
  const model::RowRange events = rehearsal.device.rows.events;
  const size_t count = scenario.extra.size() + scenario.empty_cache_after.size();
  if (count > Scenario::kMostInserted)
    return fail(ErrorCode::wrong_usage, -1, "a run takes {} more requests at most, not {}",
                Scenario::kMostInserted, count);
  const auto is_event = [&](int32_t event) { return event >= -1 && event < events.count; };
  const auto no_event = [&](int32_t event) {
    return fail(ErrorCode::wrong_usage, -1, "there is no event {}: they count from 0 to {}", event,
                events.count - 1);
  };
  // The first request that is told from a later event; those from before the recording come first.
  const auto row_behind = [&](int32_t event) {
    const auto* const told = requests.event.begin();
    const auto* const found =
        std::upper_bound(told + requests.present, requests.event.end(), events.first + event);
    return static_cast<int32_t>(found - told);
  };
  const auto stream_at = [&](int32_t row) {
    const simulate::RequestLog& log = requests.log;
    const auto is_allocation = [&](size_t at) { return log.request[at] == Request::allocate; };
    for (auto at = static_cast<size_t>(row); at-- > 0;)
      if (is_allocation(at)) return log.stream[at];
    for (auto at = static_cast<size_t>(row); at < log.size_rows(); ++at)
      if (is_allocation(at)) return log.stream[at];
    return int64_t{0};
  };

  struct Ordered {
    simulate::Inserted inserted;
    int32_t after = -1;
    int32_t order = 0;  // at one row: frees, emptied caches, allocations
    int32_t extra = -1;
  };
  std::vector<Ordered> ordered;
  for (size_t i = 0; i < scenario.extra.size(); ++i) {
    const ExtraRequest& extra = scenario.extra[i];
    const auto number = static_cast<int32_t>(i);
    if (!is_event(extra.after)) return no_event(extra.after);
    if (extra.bytes <= 0 || extra.bytes > alloc::kLargestRequest)
      return fail(ErrorCode::wrong_usage, -1, "one more request is of 1 to {} bytes, not of {}",
                  alloc::kLargestRequest, extra.bytes);
    const int32_t row = row_behind(extra.after);
    ordered.push_back({{row, Request::allocate, extra.bytes, stream_at(row), -1}, extra.after, 2, number});
    if (extra.until < 0) continue;
    if (!is_event(extra.until)) return no_event(extra.until);
    if (extra.until <= extra.after)
      return fail(ErrorCode::wrong_usage, -1, "what is taken after event {} cannot be freed after event {}",
                  extra.after, extra.until);
    ordered.push_back({{row_behind(extra.until), Request::free, 0, 0, -1}, extra.until, 3, number});
  }
  for (const int32_t event : scenario.empty_cache_after) {
    if (!is_event(event)) return no_event(event);
    ordered.push_back({{row_behind(event), Request::empty_cache, 0, 0, -1}, event, 1, -1});
  }
  // What is freed at the row at which it is taken goes behind it, anything else before.
  for (Ordered& one : ordered) {
    if (one.inserted.request != Request::free) continue;
    const ExtraRequest& extra = scenario.extra[static_cast<size_t>(one.extra)];
    if (row_behind(extra.after) < one.inserted.before) one.order = 0;
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const Ordered& a, const Ordered& b) {
    return std::tuple(a.inserted.before, a.order) < std::tuple(b.inserted.before, b.order);
  });
  Insertions insertions;
  insertions.place_of_extra.resize(scenario.extra.size(), -1);
  for (Ordered& one : ordered) {
    int32_t* const place =
        one.extra < 0 ? nullptr : &insertions.place_of_extra[static_cast<size_t>(one.extra)];
    if (one.inserted.request == Request::allocate)
      *place = static_cast<int32_t>(insertions.inserted.size());
    else if (place != nullptr)
      one.inserted.subject = *place;
    insertions.inserted.push_back(one.inserted);
    insertions.after.push_back(one.after);
  }
  return insertions;
}

// With the order of free blocks that the recording has.
[[nodiscard]] alloc::Config config_of(const Rehearsal& rehearsal, const Scenario& scenario) {
  alloc::Config config = scenario.config;
  config.free_order = rehearsal.config.free_order;
  return config;
}

void note_first_oom(RunNumbers& numbers, const Rehearsal& rehearsal, int32_t row, int64_t bytes) {
  if (row < 0) return;
  const int32_t event = rehearsal.requests.event.empty() ? -1 : rehearsal.requests.event[row];
  numbers.first_oom_event = event < 0 ? -1 : event - rehearsal.device.rows.events.first;
  numbers.first_oom_bytes = bytes;
}

// The fewest bytes that these settings round up to so many.
[[nodiscard]] int64_t least_rounded_to(const alloc::Config& config, int64_t size) {
  int64_t least = 1, most = std::clamp<int64_t>(size, 1, alloc::kLargestRequest);
  while (least < most) {
    const int64_t middle = least + (most - least) / 2;
    if (config.round_size(middle) < size)
      least = middle + 1;
    else
      most = middle;
  }
  return least;
}

// Sizes by request with another one for those that failed: `of(size)`. Empty if all are as recorded. Error: limit_exceeded.
template <typename Of>
[[nodiscard]] Result<Column<int64_t>> failed_as(const Rehearsal& rehearsal, const Scenario& scenario,
                                                Budget& budget, Of&& of) {
  const RecordedRequests& requests = rehearsal.requests;
  Column<int64_t> sizes(budget);
  bool is_other = false;
  for (size_t i = 0; i < requests.log.size_rows(); ++i) {
    const int64_t recorded = requests.log.size[i];
    int64_t size = scenario.sizes.empty() ? recorded : scenario.sizes[i];
    const int32_t event = requests.event[i];
    // What a change made of it is not undone.
    if (event >= 0 && rehearsal.device.recording.events.action[event] == trace::Action::oom &&
        size == recorded) {
      size = of(size);
      is_other = is_other || size != recorded;
    }
    if (!sizes.push_back(size))
      return fail(ErrorCode::limit_exceeded, -1, "no memory for the sizes of the run");
  }
  if (!is_other) sizes.clear();
  return sizes;
}

// RunNumbers::is_unsure of a run that `fits` or does not. Settings that round alike do the same whatever was asked for; others take
// more of the device for more bytes, but less from kMinLargeAlloc on, so the least and that tell.
[[nodiscard]] Result<bool> depends_on_failed_sizes(const Rehearsal& rehearsal, const Scenario& scenario,
                                                   simulate::TrialInput input, bool fits, Budget& budget) {
  if (rehearsal.requests.guesses_of(simulate::Guess::failed_sizes) == 0) return false;
  if (scenario.caches &&
      scenario.config.roundup_power2_divisions == rehearsal.config.roundup_power2_divisions)
    return false;
  input.levels = nullptr;
  for (const bool least : {true, false}) {
    const auto sizes = failed_as(rehearsal, scenario, budget, [&](int64_t size) {
      const int64_t fewest = least_rounded_to(rehearsal.config, size);
      return least || fewest > alloc::kMinLargeAlloc ? fewest : std::min(size, alloc::kMinLargeAlloc);
    });
    if (!sizes) return tl::unexpected(sizes.error());
    if (sizes->empty()) continue;
    input.sizes = {sizes->begin(), sizes->end()};
    bool fits_then = false;
    if (scenario.caches) {
      const auto trial = simulate::try_requests(input, budget);
      if (!trial) return tl::unexpected(trial.error());
      fits_then = trial->stats.num_ooms + trial->stats.num_oom_rejections == 0;
    } else {
      std::vector<uint8_t> refused;
      const auto run = simulate::try_uncached(input, refused, budget);
      if (!run) return tl::unexpected(run.error());
      fits_then = run->ooms == 0;
    }
    if (fits_then != fits) return true;
  }
  return false;
}

}  // namespace

Result<RunNumbers> run_scenario(const Rehearsal& rehearsal, const Scenario& scenario, Budget& budget,
                                const GoesOn& goes_on, simulate::Levels* levels) {
  const replay::Device& device = rehearsal.device;
  const RecordedRequests& requests = rehearsal.requests;
  const auto insertions = insertions_of(rehearsal, scenario);
  if (!insertions) return tl::unexpected(insertions.error());
  const alloc::Config config = config_of(rehearsal, scenario);
  const simulate::TrialInput input{
      device.recording,
      device.rows.events,
      requests,
      config,
      scenario.capacity > 0 ? scenario.capacity : roomy_device(requests),
      scenario.sizes,
      false,
      goes_on ? [&goes_on](int64_t) { return goes_on(); } : std::function<bool(int64_t)>(),
      insertions->inserted,
      levels,
      rehearsal.start_numbers};
  RunNumbers numbers;
  std::vector<uint8_t> refused;
  if (scenario.caches) {
    auto trial = simulate::try_requests(input, budget);
    if (!trial) return tl::unexpected(trial.error());
    const alloc::MemoryStats& stats = trial->stats;
    numbers.peak_reserved = stats.reserved_bytes.all().peak;
    numbers.peak_allocated = stats.allocated_bytes.all().peak;
    numbers.peak_active = stats.active_bytes.all().peak;
    numbers.end_reserved = stats.reserved_bytes.all().current;
    numbers.device_allocs = stats.num_device_alloc;
    numbers.device_frees = stats.num_device_free;
    numbers.alloc_retries = stats.num_alloc_retries;
    numbers.ooms = stats.num_ooms + stats.num_oom_rejections;
    note_first_oom(numbers, rehearsal, trial->first_oom, trial->first_oom_bytes);
    refused = std::move(trial->refused);
  } else {
    const auto run = simulate::try_uncached(input, refused, budget);
    if (!run) return tl::unexpected(run.error());
    numbers.peak_reserved = numbers.peak_allocated = numbers.peak_active = run->peak;
    numbers.end_reserved = run->end;
    numbers.device_allocs = run->device_allocs;
    numbers.device_frees = run->device_frees;
    numbers.ooms = run->ooms;
    note_first_oom(numbers, rehearsal, run->first_oom, run->first_oom_bytes);
  }
  const auto is_unsure = depends_on_failed_sizes(rehearsal, scenario, input, numbers.ooms == 0, budget);
  if (!is_unsure) return tl::unexpected(is_unsure.error());
  numbers.is_unsure = *is_unsure;
  for (const int32_t place : insertions->place_of_extra)
    numbers.refused.push_back(refused[static_cast<size_t>(place)]);
  return numbers;
}

Status record_scenario(const Rehearsal& rehearsal, const Scenario& scenario, model::Recording& recording,
                       Column<int32_t>* moments, const GoesOn& goes_on) {
  const RecordedRequests& requests = rehearsal.requests;
  const model::RowRange events = rehearsal.device.rows.events;
  if (!scenario.caches)
    return fail(ErrorCode::wrong_usage, -1, "a run without a cache has no segments that could be shown");
  const auto insertions = insertions_of(rehearsal, scenario);
  if (!insertions) return tl::unexpected(insertions.error());
  if (moments != nullptr && !moments->resize(static_cast<size_t>(events.count), -1))
    return fail(ErrorCode::limit_exceeded, -1, "no memory for the moments of the run");
  simulate::RecordedAddresses addresses(recording, events, simulate::RecordedAddresses::Difference::ends_it);
  const alloc::Config config = config_of(rehearsal, scenario);
  const auto run = simulate::Rerun::start(
      {requests.log, config, scenario.capacity > 0 ? scenario.capacity : roomy_device(requests),
       &requests.start, scenario.sizes, &addresses, rehearsal.device.ordinal(), insertions->inserted,
       rehearsal.start_numbers},
      recording);
  if (!run) return tl::unexpected(run.error());
  // Events before `end` stand where the run is now, unless they do already.
  int32_t told = 0;
  const auto tell_moments = [&](int32_t end) {
    for (; moments != nullptr && told < end; ++told)
      (*moments)[static_cast<size_t>(told)] = static_cast<int32_t>((*run)->event_count()) - 1;
  };
  constexpr size_t kBetweenQuestions = 256;
  for (size_t steps = 0; !(*run)->at_end(); ++steps) {
    if (steps % kBetweenQuestions == 0 && goes_on && !goes_on())
      return fail(ErrorCode::limit_exceeded, -1, "the run was stopped after {} of {} requests", (*run)->at(),
                  requests.log.size_rows());
    const bool inserted = (*run)->at_inserted();
    const int32_t event = inserted ? -1 : requests.event[(*run)->at()];
    if (inserted)
      tell_moments(insertions->after[(*run)->inserted_at()]);
    else if (event >= 0)
      tell_moments(event - events.first);
    addresses.begin_request(event);
    if (auto status = (*run)->step(); !status) return status;
  }
  tell_moments(events.count);
  if (const auto outcome = (*run)->finish("simulated"); !outcome) return tl::unexpected(outcome.error());
  recording.seal_last_part();
  return {};
}

}  // namespace gpustrata::analysis
