// What all commands do with a list of files: one answer each, in order; what cannot be read does not stop the
// others.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/answers/text/text_out.h"
#include "engine/cli/console.h"
#include "engine/cli/failure.h"
#include "engine/model/recording.h"

namespace gpustrata::cli {

// Gives `answer` each file in turn, as it was read, to write about it to standard output; texts have an empty
// line between them, JSON lines have not. A failure goes to standard error, or into its line of JSON. The
// exit code: the highest of all files.
[[nodiscard]] int for_each_file(
    const std::vector<std::string>& files, bool json, const Console& console,
    const std::function<Outcome<void>(const std::string&, model::Recording&, answers::TextOut&)>& answer);

}  // namespace gpustrata::cli
