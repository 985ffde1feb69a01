// From a path to a Recording. "-" is standard input.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace memstrata::cli {

class Progress;

struct ReadFailure {
  std::string code;  // a name of ErrorCode, or "unreadable": no such file, no permission, a folder
  std::string message;
  int64_t offset = -1;
  std::string inside;  // what `offset` counts in; empty = the file
};

[[nodiscard]] ReadFailure failure_of(const Error& error);

// Three quarters of the machine's memory: the rest is for the system and for the file's pages.
[[nodiscard]] int64_t default_budget_bytes();

// Success if anything could be read that can be shown; see the recording's diagnostics.
[[nodiscard]] tl::expected<void, ReadFailure> read_recording(const std::string& path,
                                                             model::Recording& recording);

}  // namespace memstrata::cli
