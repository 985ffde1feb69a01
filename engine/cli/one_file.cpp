#include "engine/cli/one_file.h"

#include <fmt/core.h>

#include <charconv>
#include <new>
#include <optional>

#include "engine/analysis/findings/oom_events.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input/input.h"
#include "engine/replay/default_device.h"
#include "engine/replay/state_history.h"

namespace gpustrata::cli {

namespace {

[[nodiscard]] std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// By name or index; null if there is none.
[[nodiscard]] const model::Part* find_snapshot(const model::Recording& recording, const std::string& name) {
  for (const model::Part& part : recording.parts) {
    if (part.name == name) return &part;
  }
  const auto index = number_of(name);
  const bool is_there = index && *index >= 0 && static_cast<size_t>(*index) < recording.parts.size();
  return is_there ? &recording.parts[static_cast<size_t>(*index)] : nullptr;
}

[[nodiscard]] int finish(const Outcome<void>& answered, answers::TextOut& out, bool json,
                         const Console& console) {
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
    chosen.part = find_snapshot(recording, choice.snapshot);
    if (chosen.part == nullptr)
      return wrong(fmt::format("There is no snapshot \"{}\" in this file; it has {}.", choice.snapshot,
                               recording.parts.size()));
  } else {
    if (recording.parts.empty()) return wrong("There is no snapshot in this file.");
    const auto first = replay::default_device(recording);
    chosen.part = &recording.parts[static_cast<size_t>(first ? first->part : 0)];
  }
  if (choice.device.empty()) {
    const auto first = replay::default_device(recording, *chosen.part);
    if (!first) return wrong("No device of this file has a segment or an event.");
    chosen.device = *first;
    return chosen;
  }
  const auto device =
      choice.device == "host" ? std::optional<int64_t>(replay::kHostDevice) : number_of(choice.device);
  std::string known;
  for (const int32_t one : chosen.part->devices(recording.segments)) {
    chosen.device = one;
    if (device == one) return chosen;
    const bool ran_out = analysis::find_oom_events(recording, chosen.part->events_of(one), 0).count > 0;
    known += fmt::format("{}{}{}", known.empty() ? "" : ", ", one, ran_out ? " (OOM)" : "");
  }
  if (device == replay::kHostDevice && chosen.part->has_host) {
    chosen.device = replay::kHostDevice;
    return chosen;
  }
  if (chosen.part->has_host) known += known.empty() ? "host" : ", host";
  return wrong(fmt::format("There is no device \"{}\" in this file. Devices: {}.", choice.device,
                           known.empty() ? "none" : known));
}

int answer_about(const FileChoice& choice, const Console& console, const Answer& answer) {
  answers::TextOut out(console.out);
  Outcome<void> answered;
  try {
    Budget budget(console.budget_bytes);
    InputRecording input(console, budget);
    const auto recording = input.read(choice.file);
    if (recording && !choice.json) note_damage(choice.file, **recording, console);
    answered = recording ? answer(**recording, out) : tl::unexpected(recording.error());
  } catch (const std::bad_alloc&) {  // beyond what the budget knows
    answered = failure(name_of(ErrorCode::limit_exceeded), choice.file, "This file needs too much memory.");
  }
  return finish(answered, out, choice.json, console);
}

int answer_about(const FileChoice& before, const FileChoice& after, const Console& console,
                 const AnswerAboutTwo& answer) {
  answers::TextOut out(console.out);
  Outcome<void> answered;
  try {
    Budget budget(console.budget_bytes);
    InputRecording of_before(console, budget), of_after(console, budget);
    const auto first = of_before.read(before.file);
    const auto second = first ? of_after.read(after.file) : tl::unexpected(first.error());
    if (second && !before.json) {
      note_damage(before.file, **first, console);
      note_damage(after.file, **second, console);
    }
    answered = second ? answer(**first, **second, out) : tl::unexpected(second.error());
  } catch (const std::bad_alloc&) {
    answered =
        failure(name_of(ErrorCode::limit_exceeded), after.file, "These files need too much memory together.");
  }
  return finish(answered, out, before.json, console);
}

int answer_about_many(bool json, const Console& console, const AnswerAboutMany& answer) {
  answers::TextOut out(console.out);
  Outcome<void> answered;
  try {
    answered = answer(out);
  } catch (const std::bad_alloc&) {
    answered = failure(name_of(ErrorCode::limit_exceeded), "", "These files need too much memory together.");
  }
  return finish(answered, out, json, console);
}

}  // namespace gpustrata::cli
