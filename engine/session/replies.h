// The table of questions, in parts: each part stands below the replies that it names, in replies_of_*.cpp. A reply calls a View or a
// StateView and writes what it says. A row is one line: web/engine/protocol/generate.mjs makes types of TypeScript of the rows, and of
// the comments above them what the types say.
#pragma once

#include "engine/session/questions.h"

namespace gpustrata::session::reply {

using Of = Question::Of;

[[nodiscard]] std::span<const Question> of_files();
[[nodiscard]] std::span<const Question> of_views();
[[nodiscard]] std::span<const Question> of_answers();
[[nodiscard]] std::span<const Question> of_trees();
[[nodiscard]] std::span<const Question> of_series();
[[nodiscard]] std::span<const Question> of_ops();
[[nodiscard]] std::span<const Question> of_lanes();
[[nodiscard]] std::span<const Question> of_made_in();
[[nodiscard]] std::span<const Question> of_states();
[[nodiscard]] std::span<const Question> of_runs();
[[nodiscard]] std::span<const Question> of_fit();

// An error about a filter: its offset in UTF-16 units of the text.
[[nodiscard]] Error in_units(std::string_view text, Error error);

}  // namespace gpustrata::session::reply
