// Commands about one file, or two: reading them, choosing snapshot and device, and how they fail.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/answers/text/text_out.h"
#include "engine/cli/console.h"
#include "engine/cli/failure.h"
#include "engine/model/recording.h"

namespace gpustrata::cli {

struct FileChoice {
  std::string file;
  std::string snapshot;  // name or index; empty = that of the default device (replay/default_device.h)
  std::string device;    // ordinal or "host"; empty = the default one of the snapshot
  bool json = false;
};

struct Chosen {
  const model::Part* part = nullptr;
  int32_t device = 0;
};
// The snapshot and device that the choice names. Failure: wrong_usage, with what there is.
[[nodiscard]] Outcome<Chosen> choose(const model::Recording& recording, const FileChoice& choice);

// Reads the file and gives it to `answer`, which writes to standard output. The exit code. A failure is told,
// with
// --json as an object on a line of its own, also if it comes when a part of the answer is out.
using Answer = std::function<Outcome<void>(model::Recording&, answers::TextOut&)>;
[[nodiscard]] int answer_about(const FileChoice& choice, const Console& console, const Answer& answer);

// The same for two files.
using AnswerAboutTwo = std::function<Outcome<void>(const model::Recording& before,
                                                   const model::Recording& after, answers::TextOut&)>;
[[nodiscard]] int answer_about(const FileChoice& before, const FileChoice& after, const Console& console,
                               const AnswerAboutTwo& answer);

// The same for any number of files, which `answer` reads itself.
using AnswerAboutMany = std::function<Outcome<void>(answers::TextOut&)>;
[[nodiscard]] int answer_about_many(bool json, const Console& console, const AnswerAboutMany& answer);

}  // namespace gpustrata::cli
