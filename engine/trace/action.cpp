#include "engine/trace/action.h"

#include <array>

namespace gpustrata::trace {

namespace {
constexpr std::array<std::string_view, static_cast<size_t>(Action::first_unknown)> kNames = {
    "alloc",          "free_requested",
    "free_completed", "segment_alloc",
    "segment_free",   "segment_map",
    "segment_unmap",  "oom",
    "snapshot",       "annotate",
    "user_defined",   "workspace_snapshot",
    "empty_cache",    "free"};
}  // namespace

std::optional<Action> action_of(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Action>(i);
  }
  return std::nullopt;
}

std::string_view name_of(Action action) {
  const auto index = static_cast<size_t>(action);
  return index < kNames.size() ? kNames[index] : std::string_view{};
}

}  // namespace gpustrata::trace
