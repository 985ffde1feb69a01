// Where a long answer goes, piece by piece: it is never held as a whole.
#pragma once

#include <functional>
#include <string_view>

#include "engine/base/status.h"

namespace memstrata::answers {

// Takes the next piece. False: it could not be written, and nothing more is wanted.
using Sink = std::function<bool(std::string_view)>;

inline constexpr size_t kPieceBytes = size_t{64} << 10;  // about; a line is never cut

// What a writer gives back when its sink refuses.
[[nodiscard]] inline Status refused_by_sink() {
  return fail(ErrorCode::io_error, -1, "The output could not be written.");
}

}  // namespace memstrata::answers
