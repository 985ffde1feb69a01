#include "engine/analysis/fit/check_question.h"

#include <algorithm>

namespace gpustrata::analysis {

namespace {

[[nodiscard]] Status is_cut(const FittedRecording& one) {
  return fail(
      ErrorCode::wrong_usage, -1,
      "{} is damaged or ends too early: not all requests of its run are in it. Fit recordings that are whole",
      one.name);
}

// One recording with one parameter, which ran to its end or to its only failure.
[[nodiscard]] Status check_guess(const FitQuestion& question) {
  const auto& recordings = question.recordings;
  if (recordings.size() != 1 || question.parameters.size() != 1)
    return fail(ErrorCode::wrong_usage, -1, "a guess is told from one recording with one parameter");
  const Rehearsal& one = *recordings.front().rehearsal;
  if (one.ending.is_cut) return is_cut(recordings.front());
  if (one.recorded.ooms > 1 || (one.recorded.ooms == 1 && !one.ending.at_failure()))
    return fail(
        ErrorCode::wrong_usage, -1,
        "{} ran out of memory at event {} and went on: what the program did then is not what it does where all "
        "fits. Take a recording of a smaller size",
        recordings.front().name, one.recorded.first_oom_event);
  return {};
}
[[nodiscard]] Status check_parameters(const FitQuestion& question) {
  const auto& recordings = question.recordings;
  const auto& names = question.parameters;
  const auto is_constant = [&](size_t parameter) {
    return std::all_of(recordings.begin(), recordings.end(), [&](const FittedRecording& one) {
      return one.at[parameter] == recordings.front().at[parameter];
    });
  };
  for (size_t i = 0; i < names.size(); ++i) {
    if (is_constant(i))
      return fail(
          ErrorCode::wrong_usage, -1,
          "{} is {} in every recording: nothing tells how memory depends on it. Leave it out, or record another "
          "value",
          names[i], recordings.front().at[i]);
    for (size_t j = 0; j < i; ++j) {
      const bool together =
          std::all_of(recordings.begin(), recordings.end(), [&](const FittedRecording& one) {
            return one.at[i] * recordings.front().at[j] == one.at[j] * recordings.front().at[i];
          });
      if (together)
        return fail(
            ErrorCode::wrong_usage, -1,
            "{} and {} grow together in all recordings: nothing tells which of them a size depends on. Record "
            "one with another ratio",
            names[j], names[i]);
    }
  }
  if (recordings.size() <= names.size())
    return fail(ErrorCode::wrong_usage, -1, "{} parameters need {} recordings at least, not {}", names.size(),
                names.size() + 1, recordings.size());
  return {};
}

}  // namespace

Status check_question(const FitQuestion& question) {
  const auto& recordings = question.recordings;
  if (question.guessed_from != nullptr) return check_guess(question);
  if (recordings.size() < 2 || recordings.size() > kMostFitted)
    return fail(ErrorCode::wrong_usage, -1, "a fit needs 2 to {} recordings, not {}", kMostFitted,
                recordings.size());
  for (const FittedRecording& one : recordings) {
    if (one.rehearsal->ending.at_failure())
      return fail(
          ErrorCode::wrong_usage, -1,
          "{} ends at a request that failed: what came after is not in it. Fit recordings of smaller sizes, "
          "which run to the end",
          one.name);
    if (one.rehearsal->ending.is_cut) return is_cut(one);
    if (one.rehearsal->ending.is_open)
      return fail(
          ErrorCode::wrong_usage, -1,
          "{} is a journal that its program did not end: what came after is not in it. Fit recordings that run to "
          "the end",
          one.name);
    if (one.rehearsal->recorded.ooms > 0)
      return fail(
          ErrorCode::wrong_usage, -1,
          "{} ran out of memory at event {}: what the program did then is not what it does where all fits. "
          "Fit recordings of smaller sizes",
          one.name, one.rehearsal->recorded.first_oom_event);
  }
  for (size_t i = 0; i < recordings.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (recordings[i].at == recordings[j].at)
        return fail(ErrorCode::wrong_usage, -1,
                    "two recordings are of {}: give one of them, and another with a different value",
                    recordings[i].name);
    }
  }
  return check_parameters(question);
}

}  // namespace gpustrata::analysis
