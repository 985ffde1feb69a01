#include "engine/trace/record_options.h"

#include <fmt/core.h>

#include <algorithm>

namespace gpustrata::trace {

Result<RecordSettings> checked(const RecordOptions& options) {
  RecordSettings settings;
  if (options.enabled && *options.enabled != "state" && *options.enabled != "all") {
    return fail(ErrorCode::wrong_usage, -1, "enabled is None, \"state\" or \"all\", not \"{}\"",
                *options.enabled);
  }
  settings.enabled = options.enabled.has_value();
  if (!options.context) {
    settings.level = StackLevel::none;
  } else if (*options.context == "state") {
    settings.level = StackLevel::state;
  } else if (*options.context == "alloc") {
    settings.level = StackLevel::alloc;
  } else if (*options.context == "all") {
    settings.level = StackLevel::all;
  } else {
    return fail(ErrorCode::wrong_usage, -1, "context is None, \"state\", \"alloc\" or \"all\", not \"{}\"",
                *options.context);
  }
  if (!settings.enabled) settings.level = StackLevel::none;
  if (options.stacks != "python" && options.stacks != "all") {
    return fail(ErrorCode::wrong_usage, -1, "stacks is \"python\" or \"all\", not \"{}\"", options.stacks);
  }
  settings.stacks = options.stacks == "python" ? StackKind::python : StackKind::all;
  if (settings.enabled && options.max_entries < 1) {
    return fail(ErrorCode::wrong_usage, -1,
                "max_entries is at least 1, but it is {}; to keep no history, stop recording (enabled=None)",
                options.max_entries);
  }
  const bool only_state = settings.enabled && *options.enabled == "state";
  settings.max_entries = only_state ? 1 : std::max<int64_t>(options.max_entries, 1);
  settings.clear = options.clear_history || !settings.enabled;
  settings.compile_context = options.compile_context;
  // PyTorch's list: annotate and the actions of other back ends are not in it.
  constexpr Action kSkippable[] = {Action::alloc,         Action::free_requested, Action::free_completed,
                                   Action::segment_alloc, Action::segment_free,   Action::segment_map,
                                   Action::segment_unmap, Action::snapshot,       Action::oom};
  for (const std::string& name : options.skip_actions) {
    const auto* found = std::find_if(std::begin(kSkippable), std::end(kSkippable),
                                     [&](Action action) { return name_of(action) == name; });
    if (found == std::end(kSkippable)) {
      std::string names;
      for (const Action action : kSkippable)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(action));
      return fail(ErrorCode::wrong_usage, -1, "skip_actions has \"{}\", but the actions are {}", name, names);
    }
    settings.skipped |= uint32_t{1} << static_cast<uint32_t>(*found);
  }
  return settings;
}

}  // namespace gpustrata::trace
