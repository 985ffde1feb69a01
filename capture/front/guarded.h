// Where C callers come in: errors become status codes and the thread's last error, exceptions (no memory)
// too.
//
// Not noexcept: a Python thread that asks for the interpreter's lock while the interpreter ends is unwound to
// its end (pthread_exit), through these functions.
#pragma once

#include <exception>
#include <string_view>

#include "capture/front/report.h"
#include "capture/gpustrata.h"
#include "engine/base/status.h"

namespace gpustrata::capture {

[[nodiscard]] inline gpustrata_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::out_of_memory:
      return GPUSTRATA_OUT_OF_MEMORY;
    case ErrorCode::wrong_usage:
      return GPUSTRATA_WRONG_USAGE;
    case ErrorCode::limit_exceeded:
      return GPUSTRATA_NO_MEMORY;
    case ErrorCode::io_error:
      return GPUSTRATA_IO_ERROR;
    default:
      return GPUSTRATA_DEVICE_ERROR;
  }
}

[[nodiscard]] inline gpustrata_status refused(std::string_view text) {
  set_last_error(text);
  return GPUSTRATA_WRONG_USAGE;
}

// `action` returns a Status.
template <typename Action>
[[nodiscard]] gpustrata_status guarded(Action&& action) {
  try {
    const Status status = action();
    if (status) return GPUSTRATA_OK;
    set_last_error(status.error().message);
    return status_of(status.error().code);
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return GPUSTRATA_NO_MEMORY;
  }
}

// `action` returns a value; `otherwise` is that of a failure.
template <typename Value, typename Action>
[[nodiscard]] Value guarded_value(Value otherwise, Action&& action) {
  try {
    return action();
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return otherwise;
  }
}

// For callers that cannot hear of a failure (PyTorch's hooks): stderr says it once.
template <typename Action>
void guarded_report(Action&& action) {
  try {
    const Status status = action();
    if (!status) report(status.error().message);
  } catch (const std::exception& error) {
    report(error.what());
  }
}

}  // namespace gpustrata::capture
