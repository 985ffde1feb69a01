#include "engine/analysis/what_if/what_if.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "engine/alloc/settings_place.h"
#include "engine/base/memory_refused.h"
#include "engine/replay/recorded_settings.h"
#include "engine/replay/start_layout.h"
#include "engine/simulate/segment_actions.h"

namespace gpustrata::analysis {

using alloc::FreeOrder;
using simulate::Reading;
using simulate::RecordedRequests;
using trace::Action;

namespace {

void add_to(int64_t& sum, int64_t bytes) {
  if (__builtin_add_overflow(sum, bytes, &sum)) sum = bytes < 0 ? INT64_MIN / 2 : INT64_MAX / 2;
}

// What the trace itself says.
[[nodiscard]] Result<RunNumbers> recorded_numbers(const replay::Device& device,
                                                  const replay::StateHistory& history, int64_t start_reserved,
                                                  Budget& budget, simulate::Levels* levels = nullptr) {
  const model::EventTable& events = device.recording.events;
  const model::RowRange range = device.rows.events;
  // By event, and what was there before: changes of what is allocated.
  Column<int64_t> change(budget);
  if (!change.resize(static_cast<size_t>(range.count) + 2, 0))
    return memory_refused(budget, "for the recorded numbers");
  for (int32_t block = 0; block < history.blocks.count(); ++block) {
    const int32_t begin = history.blocks.begin[block];
    const int32_t end = std::min(history.pending_from[block], history.blocks.end[block]);
    if (end <= begin) continue;
    add_to(change[begin + 1], history.blocks.size[block]);
    add_to(change[std::min(end, range.count) + 1], -history.blocks.size[block]);
  }
  RunNumbers numbers;
  int64_t allocated = change[0], reserved = start_reserved;
  numbers.peak_allocated = allocated;
  numbers.peak_reserved = reserved;
  if (levels != nullptr) levels->at(0, reserved, allocated);
  for (int32_t event = 0; event < range.count; ++event) {
    add_to(allocated, change[event + 1]);
    numbers.peak_allocated = std::max(numbers.peak_allocated, allocated);
    const int32_t row = range.first + event;
    const Action action = events.action[row];
    if (simulate::takes_memory(action)) {
      ++numbers.device_allocs;
      add_to(reserved, events.size[row]);
      numbers.peak_reserved = std::max(numbers.peak_reserved, reserved);
    } else if (simulate::gives_memory_back(action)) {
      ++numbers.device_frees;
      add_to(reserved, -events.size[row]);
    } else if (action == Action::oom) {
      if (++numbers.ooms == 1) {
        numbers.first_oom_event = event;
        numbers.first_oom_bytes = events.size[row];
      }
    }
    if (levels != nullptr) levels->at(event, reserved, allocated);
  }
  if (levels != nullptr) levels->finish();
  numbers.end_reserved = reserved;
  return numbers;
}

// Settings of a file that does not have them: what the trace shows.
void infer_settings(alloc::Config& config, const replay::Device& device) {
  const model::EventTable& events = device.recording.events;
  const model::RowRange range = device.rows.events;
  for (int32_t row = range.first; row < range.end() && !config.expandable_segments; ++row)
    config.expandable_segments = events.action[row] == Action::segment_map;
}

[[nodiscard]] std::function<bool(int64_t)> question_of(const GoesOn& goes_on) {
  if (!goes_on) return {};
  return [&goes_on](int64_t) { return goes_on(); };
}

// As far as the file tells the version that wrote it.
[[nodiscard]] std::optional<FreeOrder> told_order(const replay::Device& device,
                                                  const replay::RecordedSettings& settings) {
  if (settings.free_order) return settings.free_order;
  if (!settings.known) return std::nullopt;
  if (settings.has_host_cache) return FreeOrder::segment_age;
  // From 2.12 on events have their pools.
  const auto& pool = device.recording.events.pool;
  const model::RowRange rows = device.rows.events;
  for (int32_t row = rows.first; settings.has_stream_reuse && row < rows.end(); ++row) {
    if (!pool[row].is_none()) return FreeOrder::block_number;
  }
  return FreeOrder::address;
}

// Another block of the same size: what the order of free blocks decides.
[[nodiscard]] bool may_be_order(const simulate::Fidelity& fidelity) {
  const simulate::Deviation::Side &was = fidelity.deviation.recorded, &is = fidelity.deviation.simulated;
  return fidelity.first_deviation >= 0 && was.is_there && is.is_there && was.action == is.action &&
         was.bytes == is.bytes && was.address != is.address;
}

[[nodiscard]] auto quality(const simulate::Fidelity& fidelity) {
  return std::tuple(fidelity.is_exact(), fidelity.same_place, -fidelity.reserved_error_bytes);
}

// The recording once more, read in one way, its free blocks in one order.
struct Repetition {
  RecordedRequests requests;
  int64_t capacity = 0;
  simulate::Fidelity fidelity;
  uint32_t unknown_numbers = 0;
  std::vector<uint32_t> start_numbers;
};
[[nodiscard]] Result<Repetition> repeat_as(const replay::Device& device, const replay::StateHistory& history,
                                           const alloc::Config& config, Reading reading, Budget& budget,
                                           const GoesOn& goes_on) {
  auto start = replay::start_layout(device.recording, history, kRoomyDevice);
  if (!start) return tl::unexpected(start.error());
  auto requests = simulate::recorded_requests(device.recording, device.part, device.ordinal(),
                                              std::move(*start), {config, 0, reading}, budget);
  if (!requests) return tl::unexpected(requests.error());
  Repetition repetition{std::move(*requests), 0, {}, 0, {}};
  const RecordedRequests& asked = repetition.requests;
  const bool is_known = asked.most_capacity != INT64_MAX;
  if (is_known)
    repetition.capacity =
        std::clamp(std::max(asked.most_capacity, asked.least_capacity), int64_t{1}, simulate::kLargestDevice);
  simulate::TrialInput input{device.recording,
                             device.rows.events,
                             asked,
                             config,
                             is_known ? repetition.capacity : roomy_device(asked),
                             {},
                             true,
                             question_of(goes_on)};
  auto trial = simulate::try_requests(input, budget);
  if (!trial) return tl::unexpected(trial.error());
  repetition.fidelity = trial->fidelity;
  repetition.unknown_numbers = trial->unknown_numbers;
  if (trial->unknown_numbers < 2 || !may_be_order(trial->fidelity)) return repetition;
  // What was there before was taken in another order: the recording tells which.
  std::vector<uint32_t> told;
  input.told_numbers = &told;
  if (trial = simulate::try_requests(input, budget); !trial) return tl::unexpected(trial.error());
  input.told_numbers = nullptr;
  input.start_numbers = told;
  if (trial = simulate::try_requests(input, budget); !trial) return tl::unexpected(trial.error());
  if (quality(repetition.fidelity) < quality(trial->fidelity)) {
    repetition.fidelity = trial->fidelity;
    repetition.start_numbers = std::move(told);
  }
  return repetition;
}

// Finds how the recording repeats best.
[[nodiscard]] Status repeat(Rehearsal& rehearsal, const replay::Device& device,
                            const replay::StateHistory& history, Budget& budget, const GoesOn& goes_on) {
  const replay::RecordedSettings settings =
      replay::recorded_settings(device.recording.strings.view(device.part.settings_json));
  const std::optional<FreeOrder> told = told_order(device, settings);
  std::vector<FreeOrder> orders{told.value_or(FreeOrder::address)};
  for (const FreeOrder order : alloc::kAllFreeOrders) {
    if (order != orders.front()) orders.push_back(order);
  }
  std::optional<Repetition> best;
  alloc::Config config = rehearsal.config;
  for (const FreeOrder order : orders) {
    if (best && (best->fidelity.is_exact() || !may_be_order(best->fidelity))) break;
    config.free_order = order;
    for (const Reading reading :
         {Reading::by_room, Reading::by_pool, Reading::all_emptied, Reading::all_full}) {
      auto repetition = repeat_as(device, history, config, reading, budget, goes_on);
      if (!repetition) return tl::unexpected(repetition.error());
      const bool is_over = repetition->fidelity.is_exact() || repetition->requests.unclear == 0;
      if (!best || quality(best->fidelity) < quality(repetition->fidelity)) {
        best.emplace(std::move(*repetition));
        rehearsal.config.free_order = order;
      }
      if (is_over) break;
    }
  }
  using OrderFrom = Rehearsal::OrderFrom;
  if (told == rehearsal.config.free_order)
    rehearsal.order_from = OrderFrom::file;
  else if (best->fidelity.is_exact())
    rehearsal.order_from = OrderFrom::repetition;
  rehearsal.requests = std::move(best->requests);
  rehearsal.capacity = best->capacity;
  rehearsal.fidelity = best->fidelity;
  rehearsal.unknown_numbers = best->unknown_numbers;
  rehearsal.start_numbers = std::move(best->start_numbers);
  return {};
}

}  // namespace

GoesOn for_at_most(std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  return [deadline] { return std::chrono::steady_clock::now() < deadline; };
}

int64_t roomy_device(const RecordedRequests& requests) {
  return std::clamp(requests.least_capacity, kRoomyDevice / 4, simulate::kLargestDevice / 4) * 4;
}

Result<Rehearsal> rehearse(replay::Device& device, Budget& budget, const GoesOn& goes_on) {
  if (device.ordinal() == replay::kHostDevice)
    return fail(ErrorCode::wrong_usage, -1,
                "pinned host memory has another allocator: its requests cannot be run again");
  const model::RowRange range = device.rows.events;
  if (range.count == 0 && device.recording.diagnostics.incomplete())
    return fail(
        ErrorCode::wrong_usage, -1,
        "the file is damaged or ends too early, and no event of device {} was read: there are no requests to run again",
        device.ordinal());
  if (range.count == 0)
    return fail(ErrorCode::wrong_usage, -1,
                "the file has no history of device {}: there are no requests to run again. Record with "
                "torch.cuda.memory._record_memory_history()",
                device.ordinal());
  const auto history = device.history();
  if (!history) return tl::unexpected(history.error());

  // A profiler's trace: what it starts from is one number, and nothing a run does could be compared.
  if ((*history)->ranges.count() == 0 && (*history)->blocks.count() > 0)
    return fail(ErrorCode::wrong_usage, -1,
                "the file has no segments: it tells what was asked for, not where the allocator put it, so a "
                "run could not be compared with it. A memory snapshot has them: "
                "torch.cuda.memory._dump_snapshot()");

  const model::Recording& recording = device.recording;
  Rehearsal rehearsal(device, budget);
  rehearsal.history = *history;
  rehearsal.ending = find_ending(recording, device.part);
  const std::string_view settings = recording.strings.view(device.part.settings_json);
  rehearsal.config = replay::recorded_settings(settings).config;
  rehearsal.settings_are_known = !settings.empty();
  if (settings.empty()) infer_settings(rehearsal.config, device);

  if (auto status = repeat(rehearsal, device, **history, budget, goes_on); !status)
    return tl::unexpected(status.error());
  auto numbers = recorded_numbers(device, **history, rehearsal.requests.start.reserved, budget);
  if (!numbers) return tl::unexpected(numbers.error());
  rehearsal.recorded = *numbers;
  return rehearsal;
}

Status recorded_levels(const Rehearsal& rehearsal, Budget& budget, simulate::Levels& levels) {
  const auto numbers = recorded_numbers(rehearsal.device, *rehearsal.history,
                                        rehearsal.requests.start.reserved, budget, &levels);
  return numbers ? Status() : Status(tl::unexpected(numbers.error()));
}

Result<alloc::Config> settings_of(std::string_view text) {
  alloc::Config config;
  size_t place = 0;
  auto status = alloc::apply_settings(config, text, place);
  if (!status) {
    Error error = std::move(status.error());
    error.offset = static_cast<int64_t>(place);
    return tl::unexpected(std::move(error));
  }
  return config;
}

std::string settings_text(const Rehearsal& rehearsal) {
  if (!rehearsal.config.last_settings.empty() || !rehearsal.config.expandable_segments)
    return rehearsal.config.last_settings;
  return "expandable_segments:True";  // only the trace or a key of its own tells
}

bool is_limit_unknown(const Rehearsal& rehearsal, const RunNumbers& run, int64_t capacity) {
  const simulate::RecordedRequests& requests = rehearsal.requests;
  return requests.is_limited && capacity == rehearsal.capacity && run.ooms == 0 &&
         run.peak_reserved > requests.least_capacity;
}

std::optional<bool> fits(const Rehearsal& rehearsal, const RunNumbers& run, int64_t capacity) {
  if (run.is_unsure || is_limit_unknown(rehearsal, run, capacity)) return std::nullopt;
  if (capacity <= 0 || rehearsal.requests.start.reserved <= capacity) return run.ooms == 0;
  if (run.peak_active > capacity) return false;
  return std::nullopt;
}

Result<int64_t> smallest_capacity(const Rehearsal& rehearsal, const Scenario& scenario, Budget& budget,
                                  const GoesOn& goes_on) {
  constexpr int64_t kUnit = alloc::kRoundLarge;
  Scenario on_roomy = scenario;
  on_roomy.capacity = 0;
  const auto roomy = run_scenario(rehearsal, on_roomy, budget, goes_on);
  if (!roomy) return tl::unexpected(roomy.error());
  const auto units = [](int64_t bytes) { return bytes / kUnit + (bytes % kUnit != 0 ? 1 : 0); };
  int64_t fits = units(roomy->peak_reserved);
  // Of a device that the settings let it use in part, as much more as that part is smaller.
  const double share = scenario.config.per_process_memory_fraction;
  constexpr int64_t kMostUnits = simulate::kLargestDevice / kUnit;
  if (share > 0 && share < 1)
    fits = static_cast<int64_t>(
        std::min(std::ceil(static_cast<double>(fits) / share) + 1,  // the share is rounded down
                 static_cast<double>(kMostUnits)));
  // Every run begins with what was reserved, which a smaller device does not have.
  int64_t fails =
      std::max({roomy->peak_active / kUnit, units(rehearsal.requests.start.reserved), int64_t{1}}) - 1;
  fits = std::max<int64_t>(fits, 1);
  while (fits - fails > 1) {
    const int64_t middle = fails + (fits - fails) / 2;
    Scenario tried = scenario;
    tried.capacity = std::min(middle * kUnit, simulate::kLargestDevice);
    const auto numbers = run_scenario(rehearsal, tried, budget, goes_on);
    if (!numbers) return tl::unexpected(numbers.error());
    (numbers->ooms == 0 && !numbers->is_unsure ? fits : fails) = middle;
  }
  return fits * kUnit;
}

std::vector<std::string> settings_to_try(const Rehearsal& rehearsal) {
  std::vector<std::string> texts = {"",
                                    "expandable_segments:True",
                                    "max_split_size_mb:128",
                                    "max_split_size_mb:256",
                                    "max_split_size_mb:512",
                                    "roundup_power2_divisions:4",
                                    "roundup_power2_divisions:8",
                                    "large_segment_size_mb:64",
                                    "expandable_segments:True,roundup_power2_divisions:8",
                                    "max_split_size_mb:256,roundup_power2_divisions:8"};
  // Collection starts at a share of the limit: without a known device there is none.
  if (rehearsal.capacity > 0)
    texts.emplace_back("garbage_collection_threshold:0.8,per_process_memory_fraction:0.95");
  std::erase(texts, rehearsal.config.last_settings);
  return texts;
}

void rank(std::vector<WhatIfAnswer::Tried>& search) {
  const auto key = [](const WhatIfAnswer::Tried& tried) {
    const RunNumbers& of = tried.numbers;
    return std::tuple(of.ooms, of.is_unsure, of.peak_reserved, of.device_allocs + of.device_frees,
                      std::string_view(tried.conf));
  };
  std::sort(search.begin(), search.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

}  // namespace gpustrata::analysis
