// Commands about one file, or two: reading them, choosing snapshot and device, and how they fail.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace memstrata::cli {

struct FileChoice {
  std::string file;
  std::string snapshot;  // name or index; empty = the one with the longest trace
  std::string device;    // ordinal or "host"; empty = the one with the longest trace
  bool json = false;
};

struct Chosen {
  const model::Snapshot* snapshot = nullptr;
  int32_t device = 0;
};
// The snapshot and device that the choice names. Error: wrong_usage, with what there is.
[[nodiscard]] Result<Chosen> choose(const model::Recording& recording, const FileChoice& choice);

// Reads the file, writes what `answer` says and gives the exit code. A failure goes to standard error, with
// --json as an object to standard output.
[[nodiscard]] int answer_about(const FileChoice& choice,
                               const std::function<Result<std::string>(model::Recording&)>& answer);

// The same for two files.
struct FailureOfTwo {
  const FileChoice& file;  // at fault
  Error error;
};
using AnswerAboutTwo =
    std::function<tl::expected<std::string, FailureOfTwo>(model::Recording& before, model::Recording& after)>;
[[nodiscard]] int answer_about(const FileChoice& before, const FileChoice& after,
                               const AnswerAboutTwo& answer);

// Line ends stay, anything that could steer a terminal goes.
[[nodiscard]] std::string printable_lines(std::string_view text);

// Nothing to print, or why the file is not there. Error: wrong_usage.
[[nodiscard]] Result<std::string> write_file(const std::string& path, const std::string& text);

}  // namespace memstrata::cli
