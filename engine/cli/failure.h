// How a command fails: one shape for all of them, told in words or as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "engine/answers/common/failure.h"
#include "engine/base/status.h"
#include "engine/cli/console.h"

namespace gpustrata::cli {

struct Failure {
  std::string code;   // a name of ErrorCode, or one of those below
  std::string about;  // the file or option at fault
  std::string message;
  int64_t offset = -1;
  std::string inside = {};  // what `offset` counts in; empty = the file

  [[nodiscard]] int exit_code() const;
  [[nodiscard]] answers::Failed told() const;
};

inline constexpr std::string_view kUnreadable = "unreadable";  // no such file, no permission, a folder
inline constexpr std::string_view kUnwritable = "unwritable";  // an output
inline constexpr std::string_view kNoViewer = "no_viewer";     // of `gpustrata html`

template <typename T>
using Outcome = tl::expected<T, Failure>;

// `about` is the file. An io_error is one of writing.
[[nodiscard]] tl::unexpected<Failure> failure(const Error& error, std::string about);
[[nodiscard]] tl::unexpected<Failure> failure(std::string_view code, std::string about, std::string message);

// To standard error in words, or with `json` to standard output: {"file": about, "error": {...}}, a line.
// The exit code.
int tell(const Failure& failure, bool json, const Console& console);

// That standard output took not everything. The exit code.
int tell_unwritten(const Console& console);

}  // namespace gpustrata::cli
