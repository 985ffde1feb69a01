// Expected failures are values that say what happened, where, and what to do.
//
// Result<T> is a value or an Error; Status is success or an Error. The engine is built without
// exceptions, so these two are the only way a failure travels.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace gpustrata {

enum class ErrorCode : uint8_t {
  invalid_format,  // the bytes are not what their format says
  unsupported,     // understood, but not something this program reads
  truncated,       // the input ends too early and nothing of it can be shown
  limit_exceeded,  // a limit or the byte budget; the message names the size that would have been needed
  internal,        // a defect of this program
  wrong_usage,     // what was asked for cannot be done: an unknown address, a setting out of range
  out_of_memory,   // the device has no memory for a request
  device_error,    // the device refused for another reason
  io_error,        // a file could not be written
};

[[nodiscard]] std::string_view name_of(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // one or two sentences for a person, without the offset
  int64_t offset = -1;  // byte offset, -1 = does not apply
  // What `offset` counts in where a file holds others ("rank0.pickle"); empty = the file.
  std::string inside = {};
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, int64_t offset, fmt::format_string<Args...> text,
                                         Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(text, std::forward<Args>(args)...), offset, {}});
}

}  // namespace gpustrata
