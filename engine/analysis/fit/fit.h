// What fits: the memory of a run with other parameters (batch, sequence length), foretold from recordings with some.
//
// Requests of the recordings are matched one by one (matched_requests.h), each gets a size as a function of the parameters
// (size_function.h), and the foretold requests run through the allocator, in the order and with the settings of the last recording
// unless others are given. Sizes that are not explained are run as small and as large as they may be. What the program repeats as
// often as a parameter says (repeats.h) is asked for so often; where that is no whole number, it cannot be told.
//
// Time: a run of the requests for each point, two for a capacity, about 20 for the largest value that fits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/alloc/config.h"
#include "engine/analysis/fit/matched_requests.h"
#include "engine/analysis/fit/size_function.h"
#include "engine/analysis/what_if/what_if.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

class Device;

struct FittedRecording {
  std::string name;  // "batch=4"
  Point at{};
  const Rehearsal* rehearsal = nullptr;
};

// "batch=4,seq=512"
[[nodiscard]] std::string point_name(std::span<const std::string> parameters, const Point& at);

struct FitQuestion {
  std::vector<std::string>
      parameters;  // names; the first is the one of which the largest value is looked for
  std::vector<FittedRecording> recordings;  // two at least, no two at the same point; one if it is guessed
  std::vector<Point> at;
  int64_t capacity = 0;             // 0 = none: nothing is said of what fits
  std::optional<std::string> conf;  // none = as the last recording had
  bool seeks_largest = true;        // with a capacity; false: only whether `at` fits
  bool leaves_out = false;          // of `at`, what cannot be told; else it is an error
  // Of one recording alone: sizes are guessed by what its blocks are for (scaling.h). Null: they are fitted.
  Device* guessed_from = nullptr;
};

// Peaks, in bytes.
struct ForetoldPeaks {
  int64_t requested = 0, reserved = 0, allocated = 0;
};

struct ForetoldFailure {
  int32_t request = -1;  // of MatchedRequests
  int64_t bytes = 0;
};

struct Foretold {
  Point at{};
  std::vector<int64_t> times;  // by Fit::repeats
  // On a device with room for all; low and high differ from it where sizes are not explained.
  ForetoldPeaks peaks, low, high;
  std::optional<bool> fits;  // none: there is no capacity, or sizes that are not explained decide
  std::optional<ForetoldFailure> failure;  // the first request that does not fit, if any
};

// Requests that are alike at a peak: of one line of code, growing alike.
struct FitTerm {
  int32_t request = -1;  // one of them: whose stack it is
  SizeFunction::Kind kind = SizeFunction::Kind::polynomial;
  std::array<uint8_t, SizeFunction::kMostTerms> monomial{};  // places in Fit::monomials
  uint8_t monomials = 0;
  bool may_stay = false;  // guessed: it grows so, or not at all
  bool by_turn = false;   // it is larger, or smaller, in each turn of a repeat
  int64_t bytes = 0, blocks = 0;
};

struct LeftOut {
  size_t recording = 0;
  int64_t recorded = 0, foretold = 0;  // peak requested; foretold from the others; -1 = they do not tell it
};

// What the program repeats as often as the parameters say.
struct FitRepeat {
  int32_t request = -1;        // the first of a turn
  int32_t requests = 0;        // in a turn
  std::vector<int64_t> times;  // by recording
  SizeFunction function;       // of how often
  bool confirmed = false;      // by a third recording
};

// Told from one recording: requests whose sizes are taken to grow with the parameter, not to, and of which it is not known.
struct Guessed {
  int64_t grow = 0, stay = 0, unknown = 0;
  int64_t recorded = 0;  // the parameter
};

// Of the values of the first parameter, the others as in `fixed`.
struct LargestThatFits {
  std::string conf;
  std::optional<int64_t> value;  // none: not even 1 fits
  // Of sizes that are not explained, as large as they may be; as small as they may be, it is this one. None: the same.
  std::optional<int64_t> at_most;  // INT64_MAX = nothing ends it
  bool unbounded = false;          // nothing that grows with it was found to fill the device
  // `value` fits; of larger ones, which ask more often than is run, it is not known.
  bool at_least = false;
  int64_t step = 1;  // only each so-manieth value makes whole numbers of turns: others are not told
  int64_t smallest_too_large = 0;               // of those that were run; 0 = none was
  std::optional<ForetoldFailure> next_failure;  // of the next value
};

struct Fit {
  explicit Fit(Budget& budget) : matched(budget), function_of(budget) {}

  MatchedRequests matched;
  std::vector<Monomial> monomials;
  std::vector<SizeFunction> functions;  // of distinct lists of sizes
  Column<int32_t> function_of;          // by request
  std::vector<FitRepeat> repeats;       // in the order of the program
  std::string conf;
  int64_t capacity = 0;
  std::vector<Foretold> at;
  std::optional<LargestThatFits> largest,
      largest_expandable;  // if there is a capacity; the second if it is not the first
  Point fixed{};
  // At the last of `at`, else at the largest value that fits, else at the last recording.
  Point terms_at{};
  int64_t terms_bytes = 0;              // peak requested there
  std::vector<FitTerm> terms;           // most bytes first
  std::vector<LeftOut> left_out;        // by recording, of three and more
  std::vector<int64_t> recorded_peaks;  // requested, by recording: of what is matched
  // The same, foretold: another where blocks are freed at other places than in the other recordings.
  std::vector<int64_t> repeated_peaks;
  std::optional<Guessed> guessed;  // if it is told from one recording
  // False: that recording ends at a request that failed. What came after is not in it: peaks are lower bounds, and what
  // fits there may not.
  bool complete = true;
  // Requests by how their size is known.
  int64_t confirmed = 0, assumed = 0, unexplained = 0;
  // Every size is confirmed by more recordings than it takes, and nothing else had to be assumed.
  bool exact = false;
};

// Errors: wrong_usage (parameters that the recordings do not tell apart, or that all have the same; recordings that end at a
// failure, of other programs, or whose repeats no rule explains; sizes beyond 2^60), limit_exceeded.
[[nodiscard]] Result<Fit> fit(const FitQuestion& question, Budget& budget, const GoesOn& goes_on = {});

}  // namespace gpustrata::analysis
