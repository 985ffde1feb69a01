#include "engine/cli/input/input.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/answers/text/printable.h"
#include "engine/base/units.h"
#include "engine/cli/input/descriptor.h"
#include "engine/cli/input/file_reading.h"
#include "engine/cli/input/progress.h"

namespace gpustrata::cli {

Outcome<void> read_recording(const std::string& path, model::Recording& recording, const Console& console) {
  return read_recording(path, recording, console, nullptr);
}

Outcome<void> read_recording(const std::string& path, model::Recording& recording, const Console& console,
                             io::ByteSink* copy) {
  FileReading reading(path, recording, copy);
  if (auto opened = reading.open(); !opened) return opened;
  Progress progress(console, path, reading.total_bytes());
  for (;;) {
    const auto more = reading.step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    progress.read(reading.bytes_so_far());
  }
  progress.phase("sorting tables");
  return reading.finish();
}

Outcome<model::Recording*> InputRecording::read(const std::string& path) {
  for (const OpenedFile& file : console_.opened) {
    if (file.path != path) continue;
    if (file.failure != nullptr) return tl::unexpected(*file.failure);
    return &file.recording;
  }
  if (const auto read = read_recording(path, own_, console_); !read) return tl::unexpected(read.error());
  return &own_;
}

void note_damage(const std::string& path, const model::Recording& recording, const Console& console) {
  if (!recording.diagnostics.incomplete()) return;
  console.note(
      "gpustrata: {}: damaged, or it ends too early: only what was read of it counts, and what is missing can make any number too "
      "high or too low.\n",
      answers::shortened(path, 200));
}

Outcome<std::string> read_text(const std::string& path, size_t most_bytes, std::string_view what) {
  const auto unreadable = [&](int error) { return failure(kUnreadable, path, std::strerror(error)); };
  const Descriptor input(path);
  if (input.get() < 0) return unreadable(errno);
  std::string text;
  for (;;) {
    constexpr size_t kPiece = size_t{64} << 10;
    const size_t held = text.size();
    text.resize(held + kPiece);
    const ssize_t count = ::read(input.get(), text.data() + held, kPiece);
    if (count < 0 && errno != EINTR) return unreadable(errno);
    text.resize(held + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return text;
    if (text.size() > most_bytes)
      return failure(kUnreadable, path,
                     fmt::format("{} may have up to {}.", what, size_text(static_cast<int64_t>(most_bytes))));
  }
}

}  // namespace gpustrata::cli
