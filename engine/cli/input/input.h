// From a path to a Recording. "-" is standard input.
#pragma once

#include <string>

#include "engine/cli/console.h"
#include "engine/cli/failure.h"
#include "engine/io/byte_sink.h"
#include "engine/model/recording.h"

namespace gpustrata::cli {

// Success if anything could be read that can be shown; see the recording's diagnostics.
[[nodiscard]] Outcome<void> read_recording(const std::string& path, model::Recording& recording,
                                           const Console& console);

// The same, and every byte of the file to `copy`, as it was read and in order: what is copied is what was
// examined, also from a pipe. Failure: unwritable, if `copy` fails.
[[nodiscard]] Outcome<void> read_recording(const std::string& path, model::Recording& recording,
                                           const Console& console, io::ByteSink* copy);

// The recording of a file that a command answers about: read now, unless the console has it already.
class InputRecording {
 public:
  InputRecording(const Console& console, Budget& budget) : console_(console), own_(budget) {}
  // Called once. Not null; valid as long as this. Failure: as read_recording().
  [[nodiscard]] Outcome<model::Recording*> read(const std::string& path);

 private:
  const Console& console_;
  model::Recording own_;
};

// For answers in words: an object says it itself ("damaged", "complete", "diagnostics").
void note_damage(const std::string& path, const model::Recording& recording, const Console& console);

// The text of a small file that is no snapshot: a list, a script, a page. Failure: unreadable, also if it has
// more than `most_bytes`; `what` names it ("A list of paths").
[[nodiscard]] Outcome<std::string> read_text(const std::string& path, size_t most_bytes,
                                             std::string_view what);

}  // namespace gpustrata::cli
