#include "engine/simulate/trial.h"

#include <algorithm>

#include "engine/simulate/recorded_addresses.h"
#include "engine/simulate/segment_actions.h"
#include "engine/simulate/start_numbers.h"

namespace gpustrata::simulate {

using trace::Action;

namespace {

// What a run decides: the other events follow from the requests.
[[nodiscard]] bool is_decision(Action action) {
  return action == Action::alloc || action == Action::oom || changes_segments(action);
}

// Hears the run's events and finds each in the trace.
class Comparison final : public trace::EventSink {
 public:
  explicit Comparison(const TrialInput& input)
      : recording_(input.recording),
        range_(input.events),
        at_(range_.first),
        level_at_(range_.first),
        level_(input.requests.start.reserved) {}

  void on_event(const trace::TraceEvent& event) override {
    if (!is_decision(event.action) || result_.first_deviation >= 0) return;
    skip();
    const model::EventTable& events = recording_.events;
    const bool same = at_ < range_.end() && events.action[at_] == event.action &&
                      events.size[at_] == event.size &&
                      (event.action == Action::oom || events.address[at_] == event.address) &&
                      recording_.streams[events.stream[at_].index()] == event.stream;
    if (same) {
      ++at_;
      return;
    }
    result_.first_deviation = std::min(at_, range_.end() - 1) - range_.first;
    result_.deviation = {recorded_at(at_), {true, event.action, event.size, event.address, event.stream}};
  }

  // After a request told from the row `event`. `address`: of its block, 0 = none.
  void after_allocation(int32_t event, uint64_t address, int64_t reserved) {
    ++result_.requests;
    const model::EventTable& events = recording_.events;
    result_.same_place +=
        events.action[event] == Action::oom ? address == 0 : address == events.address[event];
    compare_reserved(event + 1, reserved);
  }

  [[nodiscard]] Fidelity finish(int64_t reserved) {
    skip();
    if (result_.first_deviation < 0 && at_ < range_.end()) {
      result_.first_deviation = at_ - range_.first;
      result_.deviation = {recorded_at(at_), {}};
    }
    compare_reserved(range_.end(), reserved);
    return result_;
  }

 private:
  [[nodiscard]] Deviation::Side recorded_at(int32_t row) const {
    if (row >= range_.end()) return {};
    const model::EventTable& events = recording_.events;
    return {true, events.action[row], events.size[row], events.address[row],
            recording_.streams[events.stream[row].index()]};
  }
  void skip() {
    while (at_ < range_.end() && !is_decision(recording_.events.action[at_])) ++at_;
  }
  void compare_reserved(int32_t end, int64_t reserved) {
    const model::EventTable& events = recording_.events;
    for (; level_at_ < end; ++level_at_) {
      const Action action = events.action[level_at_];
      if (!changes_segments(action)) continue;
      const int64_t size = std::max<int64_t>(events.size[level_at_], 0);
      const bool gives = gives_memory_back(action);
      if (__builtin_add_overflow(level_, gives ? -size : size, &level_))
        level_ = gives ? INT64_MIN / 2 : INT64_MAX / 2;
    }
    int64_t difference = 0;
    if (__builtin_sub_overflow(reserved, level_, &difference)) difference = INT64_MAX;
    result_.reserved_error_bytes = std::max(result_.reserved_error_bytes, std::abs(difference));
  }

  const model::Recording& recording_;
  model::RowRange range_;
  int32_t at_;        // the next event of the trace to be met
  int32_t level_at_;  // events below are in level_
  int64_t level_;     // reserved in the recording
  Fidelity result_;
};

}  // namespace

Result<Trial> try_requests(const TrialInput& input, Budget& budget) {
  constexpr size_t kBetweenQuestions = 256;
  const RecordedRequests& requests = input.requests;
  using Difference = RecordedAddresses::Difference;
  RecordedAddresses addresses(input.recording, input.events,
                              input.compares ? Difference::is_passed : Difference::ends_it);
  Comparison comparison(input);
  Runner runner({requests.log, input.config, input.capacity, &requests.start, input.sizes, &addresses, 0,
                 input.inserted, input.start_numbers},
                input.recording.strings, input.compares ? &comparison : nullptr, budget);
  if (auto status = runner.begin(); !status) return tl::unexpected(status.error());
  StartNumbers numbers(input.recording, input.events, runner.allocator(), budget);
  if (input.told_numbers != nullptr) runner.set_preference(&numbers);
  Trial trial;
  trial.refused.resize(input.inserted.size());
  // What was there is made and in part freed before the first event: no peak of that was in the recording.
  bool begins = true;
  const auto note_level = [&](int32_t event) {
    if (input.levels == nullptr || begins) return;
    input.levels->at(std::max(event - input.events.first, 0), runner.allocator().device_bytes(),
                     runner.allocator().stats().allocated_bytes.all().current);
  };
  const auto begin = [&] {
    runner.reset_peaks();
    begins = false;
    note_level(input.events.first);
  };
  while (!runner.at_end()) {
    const size_t row = runner.at();
    if (begins && (runner.at_inserted() || requests.event[row] >= 0)) begin();
    if (runner.at_inserted()) {
      const size_t inserted = runner.inserted_at();
      addresses.begin_request(-1);
      if (auto status = runner.step(); !status) return tl::unexpected(status.error());
      const int32_t before = row == 0 ? -1 : requests.event[row - 1];
      note_level(before);
      trial.refused[inserted] = runner.is_out_of_memory() ? 1 : 0;
      if (!runner.is_out_of_memory() || trial.first_oom >= 0) continue;
      trial.first_oom = row == 0 ? 0 : static_cast<int32_t>(row) - 1;
      trial.first_oom_bytes = runner.allocator().last_oom().requested_bytes;
      continue;
    }
    if (row % kBetweenQuestions == 0 && input.goes_on && !input.goes_on(static_cast<int64_t>(row)))
      return fail(ErrorCode::limit_exceeded, -1, "the run was stopped after {} of {} requests", row,
                  requests.log.size_rows());
    const int32_t event = requests.event[row];
    addresses.begin_request(event);
    numbers.begin_request(event);
    if (auto status = runner.step(); !status) return tl::unexpected(status.error());
    note_level(event);
    if (requests.log.request[row] != Request::allocate) continue;
    if (runner.is_out_of_memory() && trial.first_oom < 0) {
      trial.first_oom = static_cast<int32_t>(row);
      trial.first_oom_bytes = runner.allocator().last_oom().requested_bytes;
    }
    if (input.compares && event >= 0)
      comparison.after_allocation(event, runner.address()[row], runner.allocator().device_bytes());
  }
  if (begins) begin();
  if (input.levels != nullptr) input.levels->finish();
  trial.stats = runner.allocator().stats();
  trial.unknown_numbers = runner.allocator().adopted_count();
  if (input.told_numbers != nullptr) *input.told_numbers = numbers.numbers();
  if (input.compares) trial.fidelity = comparison.finish(runner.allocator().device_bytes());
  return trial;
}

}  // namespace gpustrata::simulate
