// What fits, told from recordings that have a session each: the others tell their requests, the one with the largest parameters is
// told them and foretells.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "engine/analysis/fit/carried_requests.h"
#include "engine/analysis/fit/fit.h"
#include "engine/answers/fit/carried_requests.h"
#include "engine/answers/fit/fit.h"
#include "engine/base/utf8.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

namespace {

constexpr std::chrono::seconds kLongestFit{300};
constexpr size_t kLongestParameter = 64;  // bytes of a name
constexpr size_t kMostForetold = 256;

Status requests(Asked& asked) {
  const auto rehearsal = asked.view->device().rehearsal(asked.session.for_at_most(kLongestFit));
  if (!rehearsal) return tl::unexpected(rehearsal.error());
  const auto carried = analysis::find_carried_requests(**rehearsal, asked.session.recording().budget);
  if (!carried) return tl::unexpected(carried.error());
  answers::to_columns(asked.json(), asked.answer, *carried);
  return {};
}

Status tell_requests(Asked& asked) {
  const Arguments& given = asked.arguments;
  const auto part = given.carried_requests("part", asked.session.recording().budget);
  if (!part) return tl::unexpected(part.error());
  const auto rows = asked.session.tell_requests(given.integer("other"), *part, given.flag("anew"));
  if (!rows) return tl::unexpected(rows.error());
  asked.json().value(*rows);
  return {};
}

[[nodiscard]] Status check_parameters(const std::vector<std::string_view>& names) {
  if (names.empty() || names.size() > analysis::kMostParameters)
    return fail(ErrorCode::wrong_usage, -1, "a fit has 1 to {} parameters, not {}", analysis::kMostParameters,
                names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || names[i].size() > kLongestParameter)
      return fail(ErrorCode::wrong_usage, -1, "the name of a parameter has 1 to {} bytes", kLongestParameter);
    if (std::find(names.begin(), names.begin() + static_cast<ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<ptrdiff_t>(i))
      return fail(ErrorCode::wrong_usage, -1, "two parameters are called {}", names[i]);
  }
  return {};
}

[[nodiscard]] Result<analysis::Point> point_of(const std::vector<std::string>& parameters,
                                               const std::vector<double>& values) {
  analysis::Point at;
  at.fill(1);
  if (values.size() != parameters.size())
    return fail(ErrorCode::wrong_usage, -1, "{} values are given for {} parameters", values.size(),
                parameters.size());
  for (size_t i = 0; i < values.size(); ++i) {
    at[i] = static_cast<int64_t>(values[i]);
    if (at[i] < 1 || at[i] > analysis::kLargestParameter)
      return fail(ErrorCode::wrong_usage, -1, "{} is {}: it must be a whole number from 1 to {}",
                  parameters[i], at[i], analysis::kLargestParameter);
  }
  return at;
}

[[nodiscard]] Error inside(Error error, std::string_view name) {
  error.inside = name;
  return error;
}

Status fit(Asked& asked) {
  const Arguments& given = asked.arguments;
  const auto names = given.texts("parameters");
  if (Status fine = check_parameters(names); !fine) return fine;
  analysis::FitQuestion question;
  question.parameters.assign(names.begin(), names.end());
  const std::vector<AskedFitRecording> of = given.fit_recordings("recordings");
  if (of.size() < 2 || of.size() > analysis::kMostFitted)
    return fail(ErrorCode::wrong_usage, -1, "a fit needs 2 to {} recordings, not {}", analysis::kMostFitted,
                of.size());
  if (given.has("conf")) {
    question.conf = given.text("conf");
    if (const auto config = analysis::settings_of(*question.conf); !config)
      return tl::unexpected(inside(in_units(*question.conf, config.error()), "conf"));
  }
  if (given.has("capacity")) {
    question.capacity = given.whole("capacity");
    if (const auto usable = simulate::check_capacity(question.capacity); !usable)
      return tl::unexpected(inside(usable.error(), "capacity"));
  }
  question.seeks_largest = given.flag("largest");
  question.leaves_out = given.has("leaveOut") && given.flag("leaveOut");
  const auto points = given.fit_points("at");
  if (points.size() > kMostForetold)
    return fail(ErrorCode::wrong_usage, -1, "{} values are more than {}", points.size(), kMostForetold);
  for (const std::vector<double>& values : points) {
    const auto at = point_of(question.parameters, values);
    if (!at) return tl::unexpected(at.error());
    question.at.push_back(*at);
  }
  const analysis::GoesOn goes_on = asked.session.for_at_most(kLongestFit);
  const auto own = asked.view->device().rehearsal(goes_on);
  if (!own) return tl::unexpected(own.error());
  std::vector<std::string> files;
  for (size_t i = 0; i < of.size(); ++i) {
    const auto at = point_of(question.parameters, of[i].values);
    if (!at) return tl::unexpected(at.error());
    const bool is_own = i + 1 == of.size();
    const analysis::Rehearsal* const rehearsal =
        is_own ? *own : asked.session.told_requests(static_cast<int32_t>(i));
    if (rehearsal == nullptr)
      return fail(ErrorCode::wrong_usage, -1, "the requests of {} were not told, or not all of them",
                  of[i].file);
    if (i > 0 && *at < question.recordings.back().at)
      return fail(ErrorCode::wrong_usage, -1,
                  "recordings must be in the order of their parameters: the last one is that of the view");
    question.recordings.push_back({analysis::point_name(question.parameters, *at), *at, rehearsal});
    files.emplace_back(of[i].file);
  }
  const auto found = analysis::fit(question, asked.session.recording().budget, goes_on);
  if (!found) return tl::unexpected(found.error());
  answers::to_json(asked.json(), answers::FitLine{files, question, *found});
  return {};
}

// clang-format off
constexpr Question kOfFit[] = {
    // What fits at other sizes (engine/analysis/fit/fit.h), told from recordings that have a session each. Of each recording but
    // the one with the largest parameters: its requests.
    {"requests", Of::states, "", "RequestsOfRecording", requests},
    // To that one: the requests of another recording, by a number from 0, in parts of at most 20,000 items a list: a part has
    // what comes behind the parts before. `anew`: what was told of this number before is forgotten. How many rows it has now.
    {"tellRequests", Of::view, "other: Count, anew: Flag, part: CarriedRequests", "Count", tell_requests},
    // Then what fits. `recordings`: those that were told, by their numbers, then the view's own; in the order of their values.
    // `largest`: with a capacity, the largest value of the first parameter is looked for. `leaveOut`: what cannot be told of `at`
    // is left out; else it is an error.
    {"fit", Of::states, "parameters: Text[], recordings: FitRecording[], at: FitPoint[], largest: Flag, leaveOut?: Flag, capacity?: Size, conf?: Text", "Fit", fit},
};
// clang-format on

}  // namespace

std::span<const Question> of_fit() { return kOfFit; }

}  // namespace gpustrata::session::reply
