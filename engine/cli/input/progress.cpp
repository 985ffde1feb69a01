#include "engine/cli/input/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::cli {

namespace {

using namespace std::chrono_literals;
constexpr auto kPatience = 300ms;  // what is faster needs no progress
constexpr auto kInterval = 100ms;

}  // namespace

Progress::Progress(const Console& console, std::string_view file, int64_t total_bytes)
    : console_(console),
      file_(answers::printable(file)),
      total_(total_bytes),
      started_(Clock::now()),
      next_(started_ + kPatience) {}

Progress::~Progress() {
  if (shown_) console_.note("\r\033[K");
}

void Progress::read(int64_t bytes) {
  if (!console_.is_watched) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  const double seconds = std::chrono::duration<double>(now - started_).count();
  std::string text = fmt::format("reading {}", size_text(bytes));
  if (total_ > 0) {
    const double part = static_cast<double>(bytes) / static_cast<double>(total_);
    text += fmt::format(" of {} ({:.0f}%)", size_text(total_), part * 100);
  }
  text += fmt::format(", {}/s", size_text(static_cast<int64_t>(static_cast<double>(bytes) / seconds)));
  show(text);
}

void Progress::written(int64_t bytes) {
  if (!console_.is_watched) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  show(fmt::format("writing {}", size_text(bytes)));
}

void Progress::phase(std::string_view name) {
  if (console_.is_watched && Clock::now() - started_ >= kPatience) show(name);
}

void Progress::show(std::string_view text) {
  std::string line = fmt::format("{}: {}", file_, text);
  // A long name loses its beginning; the line must not wrap. Bytes count as columns: too short, never too
  // long.
  const size_t room = columns_of(STDERR_FILENO) - 1;
  if (line.size() > room) line = answers::printable(line.substr(line.size() - room));
  console_.note("\r\033[K{}", line);
  shown_ = true;
}

}  // namespace gpustrata::cli
