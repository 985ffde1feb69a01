#include "engine/base/status.h"

namespace gpustrata {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_format:
      return "invalid_format";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::truncated:
      return "truncated";
    case ErrorCode::limit_exceeded:
      return "limit_exceeded";
    case ErrorCode::internal:
      return "internal";
    case ErrorCode::wrong_usage:
      return "wrong_usage";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::device_error:
      return "device_error";
    case ErrorCode::io_error:
      return "io_error";
  }
  return "internal";
}

}  // namespace gpustrata
