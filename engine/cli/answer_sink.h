// Long answers on their way into the output of a command, piece by piece.
#pragma once

#include "engine/answers/sink.h"
#include "engine/cli/printable.h"
#include "engine/cli/text_out.h"

namespace memstrata::cli {

// `lines`: text with strings of a file in it, made printable; else it is written as it is. `out` remembers
// why a piece could not be written.
[[nodiscard]] inline answers::Sink sink_into(TextOut& out, bool lines) {
  return [&out, lines](std::string_view piece) {
    if (lines) {
      out.add(printable_lines(piece));
    } else {
      out.add(piece);
    }
    return !out.failed();
  };
}

}  // namespace memstrata::cli
