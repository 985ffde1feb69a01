#include "engine/cli/one_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

#include "engine/analysis/summary.h"
#include "engine/base/units.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input.h"
#include "engine/cli/printable.h"
#include "engine/replay/state_history.h"

namespace memstrata::cli {

namespace {

[[nodiscard]] std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[nodiscard]] Result<const model::Snapshot*> choose_snapshot(const model::Recording& recording,
                                                             const std::string& name) {
  for (const model::Snapshot& snapshot : recording.snapshots) {
    if (snapshot.name == name) return &snapshot;
  }
  const auto index = number_of(name);
  if (index && *index >= 0 && static_cast<size_t>(*index) < recording.snapshots.size())
    return &recording.snapshots[static_cast<size_t>(*index)];
  return fail(ErrorCode::wrong_usage, -1, "There is no snapshot \"{}\" in this file; it has {}.", name,
              recording.snapshots.size());
}

// -2 = the snapshot has no device at all.
[[nodiscard]] int32_t longest_device(const model::Recording& recording, const model::Snapshot& snapshot) {
  int32_t best = -2, most = -1;
  for (const int32_t device : snapshot.devices(recording.segments)) {
    const int32_t events = snapshot.events_of(device).count;
    if (events > most) {
      best = device;
      most = events;
    }
  }
  return best == -2 && snapshot.has_host ? replay::kHostDevice : best;
}

void print_failure(const FileChoice& choice, std::string_view code, std::string_view message,
                   int64_t offset) {
  if (choice.json) {
    std::fputs((analysis::error_json(code, message, offset, {}, choice.file) + "\n").c_str(), stdout);
    return;
  }
  const std::string place = offset > 0 ? fmt::format(" (at byte {})", count_text(offset)) : "";
  std::fputs(fmt::format("memstrata: {}: {}{}\n", printable(choice.file), printable(message), place).c_str(),
             stderr);
}

[[nodiscard]] bool read_or_tell(const FileChoice& choice, model::Recording& recording) {
  const auto read = read_recording(choice.file, recording);
  if (!read) print_failure(choice, read.error().code, read.error().message, read.error().offset);
  return read.has_value();
}

[[nodiscard]] int exit_code_of(const FileChoice& choice, const Error& error) {
  print_failure(choice, name_of(error.code), error.message, error.offset);
  return error.code == ErrorCode::wrong_usage ? kWrongUsage : kUnreadable;
}

[[nodiscard]] int print_text(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("memstrata: the output could not be written\n", stderr);
    return kUnreadable;
  }
  return kSuccess;
}

}  // namespace

Result<Chosen> choose(const model::Recording& recording, const FileChoice& choice) {
  Chosen chosen;
  if (!choice.snapshot.empty()) {
    const auto snapshot = choose_snapshot(recording, choice.snapshot);
    if (!snapshot) return tl::unexpected(snapshot.error());
    chosen.snapshot = *snapshot;
  } else {
    int32_t most = -1;
    for (const model::Snapshot& snapshot : recording.snapshots) {
      const int32_t events = snapshot.events_of(longest_device(recording, snapshot)).count;
      if (events <= most) continue;
      most = events;
      chosen.snapshot = &snapshot;
    }
  }
  if (chosen.snapshot == nullptr)
    return fail(ErrorCode::wrong_usage, -1, "There is no snapshot in this file.");
  if (choice.device.empty()) {
    chosen.device = longest_device(recording, *chosen.snapshot);
    if (chosen.device == -2)
      return fail(ErrorCode::wrong_usage, -1, "No device of this file has a segment or an event.");
    return chosen;
  }
  const auto device =
      choice.device == "host" ? std::optional<int64_t>(replay::kHostDevice) : number_of(choice.device);
  std::string known;
  for (const int32_t one : chosen.snapshot->devices(recording.segments)) {
    if (device == one) chosen.device = one;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", one);
    if (device == one) return chosen;
  }
  if (device == replay::kHostDevice && chosen.snapshot->has_host) {
    chosen.device = replay::kHostDevice;
    return chosen;
  }
  if (chosen.snapshot->has_host) known += known.empty() ? "host" : ", host";
  return fail(ErrorCode::wrong_usage, -1, "There is no device \"{}\" in this file. Devices: {}.",
              choice.device, known.empty() ? "none" : known);
}

int answer_about(const FileChoice& choice,
                 const std::function<Result<std::string>(model::Recording&)>& answer) {
  try {
    Budget budget(default_budget_bytes());
    model::Recording recording(budget);
    if (!read_or_tell(choice, recording)) return kUnreadable;
    const Result<std::string> text = answer(recording);
    return text ? print_text(*text) : exit_code_of(choice, text.error());
  } catch (const std::bad_alloc&) {  // beyond what the budget knows
    print_failure(choice, name_of(ErrorCode::limit_exceeded), "This file needs too much memory.", -1);
    return kUnreadable;
  }
}

int answer_about(const FileChoice& before, const FileChoice& after, const AnswerAboutTwo& answer) {
  try {
    Budget budget(default_budget_bytes());
    model::Recording first(budget), second(budget);
    if (!read_or_tell(before, first) || !read_or_tell(after, second)) return kUnreadable;
    const auto text = answer(first, second);
    return text ? print_text(*text) : exit_code_of(text.error().file, text.error().error);
  } catch (const std::bad_alloc&) {
    print_failure(after, name_of(ErrorCode::limit_exceeded), "These files need too much memory together.",
                  -1);
    return kUnreadable;
  }
}

std::string printable_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += printable(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Result<std::string> write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed)
    return fail(ErrorCode::wrong_usage, -1, "{} cannot be written: {}.", path, std::strerror(errno));
  return std::string();
}

}  // namespace memstrata::cli
