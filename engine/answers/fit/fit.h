// What fits, as JSON and as text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/analysis/fit/fit.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

// A line of the command. `files` are those of the recordings, in their order.
struct FitLine {
  std::span<const std::string> files;
  const analysis::FitQuestion& question;
  const analysis::Fit& fit;
};
void describe(Members& m, const FitLine& line);

// The answer, the curve, what grows how, how sure. Lines of at most 80 characters.
[[nodiscard]] std::string to_text(const analysis::FitQuestion& question, const analysis::Fit& fit);

// What fits, in sentences; empty without a capacity.
[[nodiscard]] std::string fit_answer(const analysis::FitQuestion& question, const analysis::Fit& fit);
// What the answer rests on, in sentences.
[[nodiscard]] std::string fit_sureness(const analysis::FitQuestion& question, const analysis::Fit& fit);

// "batch*seq^2", "1 + batch", "constant".
[[nodiscard]] std::string growth_text(const analysis::FitQuestion& question, const analysis::Fit& fit,
                                      const analysis::FitTerm& term);

// How often it is done: "batch", "batch/2", "1 + 3*layers".
[[nodiscard]] std::string times_text(const analysis::FitQuestion& question, const analysis::Fit& fit,
                                     const analysis::FitRepeat& repeat);

// The line of code that asks for it; none without a stack.
[[nodiscard]] std::optional<std::string> who_of_request(const analysis::FitQuestion& question,
                                                        const analysis::Fit& fit, int32_t request);

}  // namespace gpustrata::answers
