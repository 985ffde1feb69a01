#include "engine/analysis/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/analysis/fit/check_question.h"
#include "engine/analysis/fit/run_log.h"
#include "engine/analysis/fit/scaling.h"
#include "engine/analysis/stacks/keys.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/charge.h"
#include "engine/base/memory_refused.h"
#include "engine/base/saturating.h"
#include "engine/simulate/runner.h"

namespace gpustrata::analysis {

using simulate::Request;

namespace {

constexpr std::string_view kExpandable = "expandable_segments:True";
constexpr size_t kMostTermsSaid = 1000;

// Which end of what is not known.
enum class Bound : uint8_t { low, value, high };

class Foretelling {
 public:
  Foretelling(const FitQuestion& question, Budget& budget, const GoesOn& goes_on)
      : question_(question),
        budget_(budget),
        goes_on_(goes_on),
        fitting_(points_of(question, question.recordings.size()), question.parameters.size()) {}

  [[nodiscard]] Result<Fit> run() {
    if (auto status = check_question(question_); !status) return tl::unexpected(status.error());
    std::vector<RequestsToMatch> all;
    for (const FittedRecording& one : question_.recordings)
      all.push_back({one.rehearsal->device.recording, one.rehearsal->requests, one.name});
    auto matched = match_requests(all, budget_);
    if (!matched) return tl::unexpected(matched.error());
    fit_.matched = std::move(*matched);
    fit_.monomials = fitting_.monomials();
    if (question_.guessed_from != nullptr) {
      if (auto status = guess_functions(); !status) return tl::unexpected(status.error());
    } else if (!find_functions()) {
      return no_memory();
    }
    if (auto status = find_repeat_functions(); !status) return tl::unexpected(status.error());
    const Rehearsal& base = *question_.recordings.back().rehearsal;
    fit_.conf = question_.conf.value_or(settings_text(base));
    fit_.capacity = question_.capacity;
    auto config = config_of(fit_.conf);
    if (!config) return tl::unexpected(config.error());
    for (size_t r = 0; r < question_.recordings.size(); ++r) {
      if (auto status = set_recorded(r); !status) return tl::unexpected(status.error());
      const RequestedPeak repeated = requested_peak(run_.log, sizes_.span());
      if (repeated.too_large) return too_large(question_.recordings[r].at);
      fit_.repeated_peaks.push_back(repeated.bytes);
      fit_.recorded_peaks.push_back(own_peak(fit_.matched.outline, r));
      if (auto status = check_repetition(r, *config); !status) return tl::unexpected(status.error());
    }
    for (const Point& at : question_.at) {
      auto foretold = foretell(at, *config);
      if (!foretold && question_.leaves_out && is_of_point(foretold.error())) continue;
      if (!foretold) return tl::unexpected(foretold.error());
      fit_.at.push_back(*foretold);
    }
    fit_.fixed = question_.at.empty() ? question_.recordings.back().at : question_.at.front();
    if (question_.capacity > 0 && question_.seeks_largest) {
      if (auto status = find_largest(*config); !status) return tl::unexpected(status.error());
    }
    if (auto status = find_terms(); !status) return tl::unexpected(status.error());
    if (auto status = leave_out(); !status) return tl::unexpected(status.error());
    return std::move(fit_);
  }

 private:
  // Without one of them.
  [[nodiscard]] static std::vector<Point> points_of(const FitQuestion& question, size_t without) {
    std::vector<Point> points;
    for (size_t r = 0; r < question.recordings.size(); ++r) {
      if (r != without) points.push_back(question.recordings[r].at);
    }
    return points;
  }
  [[nodiscard]] tl::unexpected<Error> no_memory() const {
    return memory_refused(budget_, "to foretell the requests");
  }
  // At another point there may be an answer.
  [[nodiscard]] static bool is_of_point(const Error& error) {
    return error.code == ErrorCode::wrong_usage || error.code == ErrorCode::out_of_memory;
  }

  [[nodiscard]] Result<alloc::Config> config_of(std::string_view text) const {
    const Rehearsal& base = *question_.recordings.back().rehearsal;
    if (!question_.conf && text == settings_text(base)) return base.config;
    auto config = settings_of(text);
    if (config) config->free_order = base.config.free_order;
    return config;
  }

  // One for each distinct list of sizes.
  [[nodiscard]] bool find_functions() {
    const MatchedRequests& matched = fit_.matched;
    Column<int32_t> order(budget_);
    if (!order.resize(static_cast<size_t>(matched.count()), 0) ||
        !fit_.function_of.resize(static_cast<size_t>(matched.count()), 0))
      return false;
    std::iota(order.data(), order.data() + order.size(), 0);
    const auto compare = [&](int32_t a, int32_t b) {
      const auto first = matched.sizes_of(a), second = matched.sizes_of(b);
      return std::lexicographical_compare(first.begin(), first.end(), second.begin(), second.end());
    };
    std::sort(order.data(), order.data() + order.size(), compare);
    int32_t previous = -1;
    for (const int32_t request : order) {
      if (previous < 0 || compare(previous, request)) {
        if (!charge_.more(static_cast<int64_t>(sizeof(SizeFunction)) * 2)) return false;
        fit_.functions.push_back(fitting_.fit(matched.sizes_of(request)));
        sample_.push_back(request);
      }
      fit_.function_of[request] = static_cast<int32_t>(fit_.functions.size()) - 1;
      previous = request;
    }
    return find_step_functions();
  }

  // From one recording: those that grow do so as the parameter.
  [[nodiscard]] Status guess_functions() {
    const FittedRecording& only = question_.recordings.front();
    const int64_t number = only.at[0];
    const auto scales =
        guess_scaling(*question_.guessed_from, *only.rehearsal, fit_.matched, number, budget_);
    if (!scales) return tl::unexpected(scales.error());
    fit_.complete = only.rehearsal->ending.is_complete();
    Guessed guessed;
    guessed.recorded = number;
    const auto linear = static_cast<uint8_t>(
        std::find(fit_.monomials.begin(), fit_.monomials.end(), Monomial{1}) - fit_.monomials.begin());
    std::map<std::pair<Scales, int64_t>, int32_t> known;
    if (!fit_.function_of.resize(static_cast<size_t>(fit_.matched.count()), 0)) return no_memory();
    for (int32_t request = 0; request < fit_.matched.count(); ++request) {
      const Scales how = (*scales)[request];
      const int64_t size = fit_.matched.sizes_of(request)[0];
      (how == Scales::grows ? guessed.grow : how == Scales::stays ? guessed.stay : guessed.unknown) += 1;
      const auto [at, is_new] = known.try_emplace({how, size}, static_cast<int32_t>(fit_.functions.size()));
      fit_.function_of[request] = at->second;
      if (!is_new) continue;
      if (!charge_.more(static_cast<int64_t>(sizeof(SizeFunction)) * 2)) return no_memory();
      sample_.push_back(request);
      SizeFunction& function = fit_.functions.emplace_back();
      function.kind = SizeFunction::Kind::polynomial;
      function.guessed = true;
      function.terms = 1;
      function.numerator[0] = size;
      if (how == Scales::stays) continue;
      function.monomial[0] = linear;
      function.denominator = number;
      if (how == Scales::grows) continue;
      function.other_terms = 1;
      function.other_numerator[0] = size;
    }
    fit_.assumed = guessed.grow + guessed.stay;
    fit_.unexplained = guessed.unknown;
    fit_.guessed = guessed;
    if (guessed.grow > 0) return {};
    return fail(
        ErrorCode::wrong_usage, -1,
        "it cannot be told from {} alone: no block in it is known to be an activation, an input or temporary memory "
        "with a size that divides by {}. Take two recordings: small.pickle:{}=4 large.pickle:{}=8",
        only.name, number, question_.parameters[0], question_.parameters[0]);
  }

  // Of what grows from turn to turn, one for each distinct list of steps.
  [[nodiscard]] bool find_step_functions() {
    const MatchedRequests& matched = fit_.matched;
    std::map<std::vector<int64_t>, int32_t> known;
    if (!matched.step.empty() && !step_of_.resize(static_cast<size_t>(matched.count()), -1)) return false;
    for (int32_t request = 0; request < matched.count(); ++request) {
      Known how = known_of(function(sized_as(request)));
      if (!matched.step.empty()) {
        const auto steps = matched.steps_of(request);
        std::vector<int64_t> list(steps.begin(), steps.end());
        if (std::any_of(list.begin(), list.end(), [](int64_t step) { return step != 0; })) {
          const auto [at, is_new] = known.try_emplace(list, static_cast<int32_t>(steps_.size()));
          if (is_new) {
            if (!charge_.more(static_cast<int64_t>(sizeof(Step)))) return false;
            steps_.push_back(step_through(std::move(list)));
          }
          step_of_[request] = at->second;
        }
        const int32_t step = step_of_[matched.sized_as[request]];
        if (step >= 0) how = std::max(how, known_of(steps_[static_cast<size_t>(step)].function));
      }
      (how == Known::unexplained ? fit_.unexplained
       : how == Known::confirmed ? fit_.confirmed
                                 : fit_.assumed) += 1;
    }
    fit_.exact = fit_.assumed == 0 && fit_.unexplained == 0 && matched.unmatched == 0 &&
                 matched.freed_differently == 0 && matched.left_out == 0 && matched.flushed_at_times == 0 &&
                 !matched.waits_in_turns;
    return true;
  }
  enum class Known : uint8_t { confirmed, assumed, unexplained };
  [[nodiscard]] static Known known_of(const SizeFunction& function) {
    return function.kind == SizeFunction::Kind::unexplained ? Known::unexplained
           : function.confirmed                             ? Known::confirmed
                                                            : Known::assumed;
  }
  [[nodiscard]] const SizeFunction& function(int32_t request) const {
    return fit_.functions[static_cast<size_t>(fit_.function_of[request])];
  }
  // The request that has its function.
  [[nodiscard]] int32_t sized_as(int32_t request) const {
    return fit_.matched.sized_as.empty() ? request : fit_.matched.sized_as[request];
  }

  // How much more each turn asks for, or less.
  struct Step {
    std::vector<int64_t> bytes;  // by recording, all above 0, or all 0
    bool is_less = false;
    SizeFunction function;
  };
  [[nodiscard]] Step step_through(std::vector<int64_t> bytes) const {
    Step step;
    step.is_less = bytes.front() < 0;
    for (int64_t& one : bytes) one = step.is_less ? -one : one;
    step.function = fitting_.fit(bytes);
    step.bytes = std::move(bytes);
    return step;
  }

  [[nodiscard]] Status find_repeat_functions() {
    for (const OutlinedRepeat& one : fit_.matched.repeats()) {
      FitRepeat repeat;
      repeat.request = one.first;
      repeat.requests = one.period;
      repeat.times.assign(one.times.begin(), one.times.end());
      repeat.function = fitting_.fit_count(repeat.times);
      repeat.confirmed = repeat.function.confirmed && question_.recordings.size() > 2;
      fit_.exact = fit_.exact && repeat.confirmed;
      if (repeat.function.kind == SizeFunction::Kind::unexplained)
        return fail(
            ErrorCode::wrong_usage, -1,
            "it cannot be told: {} is repeated {} times in the recordings, and no function of the parameters "
            "gives that",
            fit_.matched.outline.line_of(one.first), fmt::join(repeat.times, ", "));
      for (int32_t request = one.first; request < one.first + one.period; ++request) {
        if (step_of_.empty() || step_of_[request] < 0) continue;
        if (steps_[static_cast<size_t>(step_of_[request])].function.kind == SizeFunction::Kind::unexplained)
          return fail(
              ErrorCode::wrong_usage, -1,
              "it cannot be told: what {} asks for grows from turn to turn, and no function of the parameters "
              "gives by how much",
              fit_.matched.outline.line_of(request));
      }
      fit_.repeats.push_back(std::move(repeat));
    }
    return {};
  }

  // How often each repeat is done.
  [[nodiscard]] Result<std::vector<int64_t>> times_at(const Point& at, const Fitting& fitting,
                                                      std::span<const SizeFunction> functions) const {
    std::vector<int64_t> times;
    for (size_t i = 0; i < functions.size(); ++i) {
      const ForetoldSize count = fitting.foretell(functions[i], fit_.repeats[i].times, at);
      if (count.too_large || count.low != count.high)
        return fail(
            ErrorCode::wrong_usage, -1,
            "it cannot be told at {}: {} is repeated {} times in the recordings, which gives no whole number there",
            point_name(question_.parameters, at), fit_.matched.outline.line_of(fit_.repeats[i].request),
            fmt::join(fit_.repeats[i].times, ", "));
      times.push_back(count.value);
    }
    return times;
  }
  [[nodiscard]] Result<std::vector<int64_t>> times_at(const Point& at) const {
    std::vector<SizeFunction> functions;
    for (const FitRepeat& one : fit_.repeats) functions.push_back(one.function);
    return times_at(at, fitting_, functions);
  }

  // The log of so many turns, and room for its sizes.
  [[nodiscard]] Status set_log(const std::vector<int64_t>& times) {
    if (!run_.request.empty() && times == run_times_) return {};
    auto run = run_log(fit_.matched.outline, fit_.matched.deaths, times, budget_);
    if (!run) return tl::unexpected(run.error());
    run_ = std::move(*run);
    run_times_ = times;
    sizes_.clear();
    if (!sizes_.resize(run_.log.size_rows(), 0)) return no_memory();
    return {};
  }

  [[nodiscard]] Status set_recorded(size_t recording) {
    std::vector<int64_t> times;
    for (const FitRepeat& one : fit_.repeats) times.push_back(one.times[recording]);
    if (auto status = set_log(times); !status) return status;
    const MatchedRequests& matched = fit_.matched;
    for (size_t row = 0; row < run_.request.size(); ++row) {
      const int32_t request = run_.request[row];
      if (request < 0) continue;
      sizes_[row] = matched.sizes_of(request)[recording];
      if (!matched.step.empty()) sizes_[row] += matched.steps_of(request)[recording] * run_.turn[row];
    }
    return {};
  }

  // What is matched must give the recording back, but for blocks that one recording keeps a little longer than another.
  [[nodiscard]] Status check_repetition(size_t recording, const alloc::Config& config) {
    if (auto status =
            check_repeated(recording, fit_.recorded_peaks[recording], fit_.repeated_peaks[recording]);
        !status)
      return status;
    // With what waits for streams, which is not asked for any more: of repeats, where it is not simply what was recorded.
    const int64_t allocated = question_.recordings[recording].rehearsal->recorded.peak_allocated;
    if (fit_.repeats.empty() || fit_.matched.left_out > 0 || allocated == 0) return {};
    const auto peaks = peaks_of(config, question_.recordings[recording].at);
    if (!peaks) return tl::unexpected(peaks.error());
    return check_repeated(recording, allocated, peaks->allocated);
  }
  [[nodiscard]] Status check_repeated(size_t recording, int64_t recorded, int64_t repeated) {
    constexpr int64_t kMostError = 100;  // one in so many
    const int64_t by = recorded < repeated ? repeated - recorded : recorded - repeated;
    if (by == 0) return {};
    fit_.exact = false;
    if (by <= recorded / kMostError) return {};
    return fail(
        ErrorCode::wrong_usage, -1,
        "it cannot be told: as its requests are matched with the others', {} would need {} bytes at its peak, and it "
        "needed {}. {} blocks are not freed between the same requests. Record the same steps of the same program, "
        "with stacks",
        question_.recordings[recording].name, repeated, recorded, fit_.matched.freed_differently);
  }

  // Of all functions, at one point.
  struct Sizes {
    std::vector<int64_t> of_function, of_step;  // the second below 0 for what shrinks
  };
  [[nodiscard]] Status set_sizes(const Sizes& sizes, const Point& at) {
    for (size_t row = 0; row < run_.request.size(); ++row) {
      if (run_.request[row] < 0) continue;
      const int32_t request = sized_as(run_.request[row]);
      int64_t size = sizes.of_function[static_cast<size_t>(fit_.function_of[request])];
      if (!step_of_.empty() && step_of_[request] >= 0) {
        const int64_t step = sizes.of_step[static_cast<size_t>(step_of_[request])];
        if (step > kLargestForetold / kMostForetoldRequests) return too_large(at);
        size += step * run_.turn[row];
        if (size > kLargestForetold) return too_large(at);
        if (size < 0)
          return fail(ErrorCode::wrong_usage, -1,
                      "it cannot be told at {}: what {} asks for shrinks from turn to turn, below nothing",
                      point_name(question_.parameters, at), fit_.matched.outline.line_of(request));
      }
      sizes_[row] = size;
    }
    if (requested_peak(run_.log, sizes_.span()).too_large) return too_large(at);
    return {};
  }

  // Log and sizes. Errors: too_large(), and what cannot be told.
  [[nodiscard]] Status set_point(const Point& at, Bound side) {
    Sizes sizes;
    is_known_ = true;
    const auto add = [&](const SizeFunction& function, std::span<const int64_t> recorded, int64_t sign,
                         std::vector<int64_t>& found) {
      const ForetoldSize size = fitting_.foretell(function, recorded, at);
      if (size.too_large) return false;
      found.push_back(sign * (side == Bound::low ? size.low : side == Bound::high ? size.high : size.value));
      is_known_ = is_known_ && size.low == size.high;
      return true;
    };
    for (size_t i = 0; i < fit_.functions.size(); ++i) {
      if (!add(fit_.functions[i], fit_.matched.sizes_of(sample_[i]), 1, sizes.of_function))
        return too_large(at);
    }
    for (const Step& step : steps_) {
      if (!add(step.function, step.bytes, step.is_less ? -1 : 1, sizes.of_step)) return too_large(at);
    }
    const auto times = times_at(at);
    if (!times) return tl::unexpected(times.error());
    if (auto status = set_log(*times); !status) return status;
    return set_sizes(sizes, at);
  }

  struct Run {
    ForetoldPeaks peaks;
    std::optional<ForetoldFailure> failure;  // the first
  };
  // With the sizes that are set. Stops at a failure.
  [[nodiscard]] Result<Run> run_sizes(const alloc::Config& config, int64_t capacity) {
    constexpr size_t kBetweenQuestions = 256;
    simulate::Runner runner({run_.log, config, capacity, nullptr, sizes_.span()},
                            question_.recordings.back().rehearsal->device.recording.strings, nullptr,
                            budget_);
    if (auto status = runner.begin(); !status) return tl::unexpected(status.error());
    Run run;
    while (!runner.at_end()) {
      const size_t row = runner.at();
      if (row % kBetweenQuestions == 0 && goes_on_ && !goes_on_())
        return fail(ErrorCode::limit_exceeded, -1, "the run was stopped after {} of {} requests", row,
                    run_.log.size_rows());
      if (auto status = runner.step(); !status) return tl::unexpected(status.error());
      if (!runner.is_out_of_memory()) continue;
      run.failure = ForetoldFailure{run_.request[row], sizes_[row]};
      break;
    }
    const alloc::MemoryStats& stats = runner.allocator().stats();
    run.peaks = {stats.requested_bytes.all().peak, stats.reserved_bytes.all().peak,
                 stats.allocated_bytes.all().peak};
    return run;
  }

  // Where all fits.
  [[nodiscard]] Result<ForetoldPeaks> peaks_of(const alloc::Config& config, const Point& at) {
    const auto run = run_sizes(config, simulate::kLargestDevice);
    if (!run) return tl::unexpected(run.error());
    if (run->failure)
      return fail(ErrorCode::wrong_usage, -1, "at {} more than {} bytes are needed: no device has so many",
                  point_name(question_.parameters, at), simulate::kLargestDevice);
    return run->peaks;
  }

  // Told from what cannot be told by its code, which is for here alone.
  [[nodiscard]] tl::unexpected<Error> too_large(const Point& at) const {
    return fail(ErrorCode::out_of_memory, -1,
                "at {} a request is beyond 2^60 bytes, or all together beyond 2^62: no device has so many",
                point_name(question_.parameters, at));
  }

  [[nodiscard]] Result<Foretold> foretell(const Point& at, const alloc::Config& config) {
    Foretold foretold;
    foretold.at = at;
    const auto look = [&](Bound side, ForetoldPeaks& peaks) -> Result<std::optional<ForetoldFailure>> {
      if (auto status = set_point(at, side); !status) return tl::unexpected(status.error());
      const auto found = peaks_of(config, at);
      if (!found) return tl::unexpected(found.error());
      peaks = *found;
      if (question_.capacity <= 0 || peaks.reserved <= question_.capacity) return std::nullopt;
      const auto on_device = run_sizes(config, question_.capacity);
      if (!on_device) return tl::unexpected(on_device.error());
      return on_device->failure;
    };
    const auto failure = look(Bound::value, foretold.peaks);
    if (!failure) return tl::unexpected(failure.error());
    foretold.failure = *failure;
    foretold.times = run_times_;
    foretold.low = foretold.high = foretold.peaks;
    if (question_.capacity > 0) foretold.fits = !failure->has_value();
    // What came after the failure may need more.
    if (!fit_.complete && !failure->has_value()) foretold.fits.reset();
    if (is_known_) return foretold;
    const auto at_low = look(Bound::low, foretold.low);
    if (!at_low) return tl::unexpected(at_low.error());
    const auto at_high = look(Bound::high, foretold.high);
    if (!at_high) return tl::unexpected(at_high.error());
    if (at_low->has_value() != at_high->has_value()) foretold.fits.reset();
    return foretold;
  }

  // On the device of the question. None: it cannot be told. What is too large does not fit.
  struct Tried {
    bool is_told = true;
    std::optional<ForetoldFailure> failure;
  };
  [[nodiscard]] Result<Tried> try_point(const Point& at, const alloc::Config& config, Bound side) {
    if (const auto status = set_point(at, side); !status) {
      if (status.error().code == ErrorCode::out_of_memory) return Tried{true, ForetoldFailure{}};
      if (status.error().code == ErrorCode::wrong_usage) return Tried{false, std::nullopt};
      return tl::unexpected(status.error());
    }
    const RequestedPeak peak = requested_peak(run_.log, sizes_.span());
    if (peak.bytes > question_.capacity)
      return Tried{true, ForetoldFailure{run_.request[peak.row], sizes_[peak.row]}};
    const auto run = run_sizes(config, question_.capacity);
    if (!run) return tl::unexpected(run.error());
    return Tried{true, run->failure};
  }

  // Values of the first parameter at which all is done a whole number of times: from one on, each so-manieth.
  struct Values {
    int64_t first = 1, step = 1;
  };
  [[nodiscard]] Result<Values> whole_values() const {
    constexpr int64_t kLargestStep = 4096;
    Values values;
    for (const FittedRecording& one : question_.recordings) values.first = std::max(values.first, one.at[0]);
    for (const FitRepeat& one : fit_.repeats)
      values.step =
          std::min(kLargestStep, std::lcm(values.step, std::min(kLargestStep, one.function.denominator)));
    Point at = fit_.fixed;
    Status untold;
    for (at[0] = values.first; at[0] < values.first + values.step; ++at[0]) {
      const auto times = times_at(at);
      if (times) {
        values.first = at[0];
        return values;
      }
      untold = tl::unexpected(times.error());
    }
    return tl::unexpected(untold.error());
  }

  // Doubles until it does not fit, then halves.
  [[nodiscard]] Result<LargestThatFits> largest_of(std::string_view conf, const alloc::Config& config) {
    auto largest = largest_of(conf, config, Bound::high);
    if (!largest || fit_.unexplained == 0) return largest;
    const auto at_best = largest_of(conf, config, Bound::low);
    if (!at_best) return tl::unexpected(at_best.error());
    if (at_best->unbounded || at_best->value != largest->value) largest->at_most = at_best->value.value_or(0);
    if (at_best->unbounded || at_best->at_least) largest->at_most = INT64_MAX;
    return largest;
  }
  [[nodiscard]] Result<LargestThatFits> largest_of(std::string_view conf, const alloc::Config& config,
                                                   Bound side) {
    LargestThatFits largest;
    largest.conf = conf;
    const auto values = whole_values();
    if (!values) return tl::unexpected(values.error());
    largest.step = values->step;
    // Below 1 there is none; what cannot be told between is neither.
    int64_t fits = values->first - (values->first + values->step - 1) / values->step * values->step,
            fails = 0;
    Point at = fit_.fixed;
    const auto try_value = [&](int64_t value) -> Status {
      at[0] = value;
      const auto tried = try_point(at, config, side);
      if (!tried) return tl::unexpected(tried.error());
      if (tried->is_told && tried->failure) {
        fails = value;
        largest.next_failure = *tried->failure;
      } else {
        fits = value;
        if (tried->is_told) largest.value = value;
        largest.at_least = !tried->is_told && value > values->first;
      }
      return {};
    };
    for (int64_t value = values->first; fails == 0 && !largest.at_least && value <= kLargestParameter;
         value = values->first + (2 * value - values->first) / values->step * values->step) {
      if (auto status = try_value(value); !status) return tl::unexpected(status.error());
    }
    largest.unbounded = fails == 0 && !largest.at_least;
    while (fails - fits > values->step) {
      if (auto status = try_value(fits + (fails - fits) / values->step / 2 * values->step); !status)
        return tl::unexpected(status.error());
    }
    largest.smallest_too_large = fails;
    if (fails == 0) return largest;
    // The first request that fails, which is not always that of the peak.
    at[0] = fails;
    if (!set_point(at, side)) return largest;
    const auto run = run_sizes(config, question_.capacity);
    if (!run) return tl::unexpected(run.error());
    if (run->failure) largest.next_failure = run->failure;
    return largest;
  }

  [[nodiscard]] Status find_largest(const alloc::Config& config) {
    auto largest = largest_of(fit_.conf, config);
    if (!largest) return tl::unexpected(largest.error());
    fit_.largest = std::move(*largest);
    if (config.expandable_segments || fit_.largest->unbounded) return {};
    const std::string conf =
        fit_.conf.empty() ? std::string(kExpandable) : fmt::format("{},{}", fit_.conf, kExpandable);
    auto other = settings_of(conf);
    if (!other || !other->expandable_segments) return {};
    other->free_order = config.free_order;
    auto found = largest_of(conf, *other);
    if (!found) return tl::unexpected(found.error());
    fit_.largest_expandable = std::move(*found);
    return {};
  }

  // What is there at the peak requested, by line of code and growth.
  [[nodiscard]] Status find_terms() {
    fit_.terms_at = question_.recordings.back().at;
    if (!fit_.at.empty()) {
      fit_.terms_at = fit_.at.back().at;
    } else if (fit_.largest && fit_.largest->value) {
      fit_.terms_at[0] = *fit_.largest->value;
    }
    if (auto status = set_point(fit_.terms_at, Bound::value); !status) return status;
    const MatchedRequests& matched = fit_.matched;
    const simulate::RequestLog& log = run_.log;
    const RequestedPeak peak = requested_peak(log, sizes_.span());
    fit_.terms_bytes = peak.bytes;
    Column<uint8_t> is_freed(budget_);
    if (!is_freed.resize(log.size_rows(), 0)) return no_memory();
    for (int32_t row = 0; row <= peak.row; ++row) {
      if (log.request[row] == Request::free) is_freed[log.subject[row]] = 1;
    }
    std::vector<WhoOfStacks> who;
    for (const FittedRecording& one : question_.recordings) {
      who.emplace_back(one.rehearsal->device.recording);
      if (!who.back().prepare()) return no_memory();
    }
    std::vector<Keys> keys;
    for (size_t r = 0; r < who.size(); ++r) {
      auto found = find_keys(question_.recordings[r].rehearsal->device.recording, who[r], By::line);
      if (!found) return tl::unexpected(found.error());
      keys.push_back(std::move(*found));
    }
    std::map<std::tuple<uint8_t, int32_t, SizeFunction::Kind, std::array<uint8_t, SizeFunction::kMostTerms>,
                        uint8_t, bool, bool>,
             size_t>
        places;
    for (int32_t row = 0; row <= peak.row; ++row) {
      const int32_t request = run_.request[row];
      if (request < 0 || is_freed[row] != 0 || sizes_[row] == 0) continue;
      const SizeFunction& of = function(sized_as(request));
      FitTerm term;
      term.request = request;
      term.kind = of.kind;
      term.monomial = of.monomial;
      term.monomials = of.terms;
      term.may_stay = of.guessed && of.other_terms > 0;
      term.by_turn = !step_of_.empty() && step_of_[sized_as(request)] >= 0;
      const uint8_t source = matched.source[request];
      const auto [at, is_new] =
          places.try_emplace({source, keys[source].of(matched.stack[request]), term.kind, term.monomial,
                              term.monomials, term.may_stay, term.by_turn},
                             fit_.terms.size());
      if (is_new) {
        if (!charge_.more(256)) return no_memory();
        fit_.terms.push_back(term);
      }
      FitTerm& known = fit_.terms[at->second];
      add_saturated(known.bytes, sizes_[row]);
      ++known.blocks;
    }
    std::stable_sort(fit_.terms.begin(), fit_.terms.end(),
                     [](const FitTerm& a, const FitTerm& b) { return a.bytes > b.bytes; });
    if (fit_.terms.size() > kMostTermsSaid) fit_.terms.resize(kMostTermsSaid);
    return {};
  }

  // Each recording foretold from the others, as far as peak requested.
  [[nodiscard]] Status leave_out() {
    const size_t count = question_.recordings.size();
    if (count <= std::max<size_t>(2, question_.parameters.size() + 1)) return {};
    for (size_t r = 0; r < count; ++r) {
      auto status = set_from_others(r);
      if (!status && !is_of_point(status.error())) return status;
      const int64_t foretold = status ? requested_peak(run_.log, sizes_.span()).bytes : -1;
      fit_.left_out.push_back({r, fit_.recorded_peaks[r], foretold});
    }
    return {};
  }
  // Errors: as of set_point().
  [[nodiscard]] Status set_from_others(size_t r) {
    const Fitting others(points_of(question_, r), question_.parameters.size());
    const Point& at = question_.recordings[r].at;
    const auto without = [&](std::span<const int64_t> all) {
      std::vector<int64_t> list(all.begin(), all.end());
      list.erase(list.begin() + static_cast<ptrdiff_t>(r));
      return list;
    };
    Sizes sizes;
    const auto add = [&](const std::vector<int64_t>& list, int64_t sign, std::vector<int64_t>& found) {
      const ForetoldSize size = others.foretell(others.fit(list), list, at);
      found.push_back(sign * size.value);
      return !size.too_large;
    };
    for (const int32_t sample : sample_) {
      if (!add(without(fit_.matched.sizes_of(sample)), 1, sizes.of_function)) return too_large(at);
    }
    for (const Step& step : steps_) {
      if (!add(without(step.bytes), step.is_less ? -1 : 1, sizes.of_step)) return too_large(at);
    }
    std::vector<int64_t> times;
    for (const FitRepeat& one : fit_.repeats) {
      const std::vector<int64_t> list = without(one.times);
      const SizeFunction of = others.fit_count(list);
      const ForetoldSize found = others.foretell(of, list, at);
      if (of.kind == SizeFunction::Kind::unexplained || found.too_large || found.low != found.high)
        return fail(ErrorCode::wrong_usage, -1, "the others do not tell how often it is done");
      times.push_back(found.value);
    }
    if (auto status = set_log(times); !status) return status;
    return set_sizes(sizes, at);
  }

  const FitQuestion& question_;
  Budget& budget_;
  const GoesOn& goes_on_;
  Fitting fitting_;
  Fit fit_{budget_};
  Charge charge_{budget_};
  std::vector<int32_t> sample_;  // by function: a request of it
  std::vector<Step> steps_;      // of distinct lists
  // by request; -1 = it does not grow from turn to turn; empty if nothing does
  Column<int32_t> step_of_{budget_};
  RunLog run_{budget_};  // of these turns
  std::vector<int64_t> run_times_;
  Column<int64_t> sizes_{budget_};  // by row of the log
  bool is_known_ = true;            // low and high of the sizes that were set last are the same
};

}  // namespace

std::string point_name(std::span<const std::string> parameters, const Point& at) {
  std::string name;
  for (size_t i = 0; i < parameters.size(); ++i)
    name += fmt::format("{}{}={}", i == 0 ? "" : ",", parameters[i], at[i]);
  return name;
}

Result<Fit> fit(const FitQuestion& question, Budget& budget, const GoesOn& goes_on) {
  auto answer = Foretelling(question, budget, goes_on).run();
  if (!answer && answer.error().code == ErrorCode::out_of_memory)
    answer.error().code = ErrorCode::wrong_usage;
  return answer;
}

}  // namespace gpustrata::analysis
