#include "engine/cli/one_file.h"

#include <fmt/core.h>

#include <charconv>
#include <new>
#include <optional>

#include "engine/cli/exit_codes.h"
#include "engine/cli/input.h"
#include "engine/replay/state_history.h"

namespace memstrata::cli {

namespace {

[[nodiscard]] std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// By name or index; null if there is none.
[[nodiscard]] const model::Snapshot* find_snapshot(const model::Recording& recording,
                                                   const std::string& name) {
  for (const model::Snapshot& snapshot : recording.snapshots) {
    if (snapshot.name == name) return &snapshot;
  }
  const auto index = number_of(name);
  const bool is_there = index && *index >= 0 && static_cast<size_t>(*index) < recording.snapshots.size();
  return is_there ? &recording.snapshots[static_cast<size_t>(*index)] : nullptr;
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

[[nodiscard]] int finish(const Outcome<void>& answered, TextOut& out, bool json, const Console& console) {
  if (const Status written = out.finish(); !written) return tell_unwritten(console);
  return answered ? kSuccess : tell(answered.error(), json, console);
}

}  // namespace

Outcome<Chosen> choose(const model::Recording& recording, const FileChoice& choice) {
  const auto wrong = [&](std::string message) {
    return failure(name_of(ErrorCode::wrong_usage), choice.file, std::move(message));
  };
  Chosen chosen;
  if (!choice.snapshot.empty()) {
    chosen.snapshot = find_snapshot(recording, choice.snapshot);
    if (chosen.snapshot == nullptr)
      return wrong(fmt::format("There is no snapshot \"{}\" in this file; it has {}.", choice.snapshot,
                               recording.snapshots.size()));
  } else {
    int32_t most = -1;
    for (const model::Snapshot& snapshot : recording.snapshots) {
      const int32_t events = snapshot.events_of(longest_device(recording, snapshot)).count;
      if (events <= most) continue;
      most = events;
      chosen.snapshot = &snapshot;
    }
  }
  if (chosen.snapshot == nullptr) return wrong("There is no snapshot in this file.");
  if (choice.device.empty()) {
    chosen.device = longest_device(recording, *chosen.snapshot);
    if (chosen.device == -2) return wrong("No device of this file has a segment or an event.");
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
  return wrong(fmt::format("There is no device \"{}\" in this file. Devices: {}.", choice.device,
                           known.empty() ? "none" : known));
}

int answer_about(const FileChoice& choice, const Console& console, const Answer& answer) {
  TextOut out(console.out);
  Outcome<void> answered;
  try {
    Budget budget(console.budget_bytes);
    model::Recording recording(budget);
    answered = read_recording(choice.file, recording, console);
    if (answered) answered = answer(recording, out);
  } catch (const std::bad_alloc&) {  // beyond what the budget knows
    answered = failure(name_of(ErrorCode::limit_exceeded), choice.file, "This file needs too much memory.");
  }
  return finish(answered, out, choice.json, console);
}

int answer_about(const FileChoice& before, const FileChoice& after, const Console& console,
                 const AnswerAboutTwo& answer) {
  TextOut out(console.out);
  Outcome<void> answered;
  try {
    Budget budget(console.budget_bytes);
    model::Recording first(budget), second(budget);
    answered = read_recording(before.file, first, console);
    if (answered) answered = read_recording(after.file, second, console);
    if (answered) answered = answer(first, second, out);
  } catch (const std::bad_alloc&) {
    answered =
        failure(name_of(ErrorCode::limit_exceeded), after.file, "These files need too much memory together.");
  }
  return finish(answered, out, before.json, console);
}

}  // namespace memstrata::cli
