// What to record: the arguments of torch.cuda.memory._record_memory_history, with its words and defaults.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/trace/action.h"

namespace gpustrata::trace {

struct RecordOptions {
  std::optional<std::string> enabled = "all";  // none: stop, forget the history; "state": blocks only; "all"
  std::optional<std::string> context =
      "all";                   // who keeps a stack: none, "state", "alloc", "all"; see StackLevel
  std::string stacks = "all";  // "python" or "all": Python frames only, or C++ too
  int64_t max_entries = std::numeric_limits<int64_t>::max();  // of each device, at least 1 while enabled
  int device = -1;                                            // of no effect, as in PyTorch
  bool clear_history = false;
  bool compile_context = false;           // the compiled region, else "N/A"
  std::vector<std::string> skip_actions;  // names of actions that are not recorded
};

// Each level keeps what the ones before it keep.
enum class StackLevel : uint8_t {
  none,   // no stacks
  state,  // live blocks and segments keep the stack of their allocation
  alloc,  // events too; a free has the stack of the block's allocation
  all,    // a free has its own stack
};

enum class StackKind : uint8_t { python, all };

// The same, checked. An error names the argument, what was found and what is allowed.
struct RecordSettings {
  bool enabled = false;
  StackLevel level = StackLevel::none;
  StackKind stacks = StackKind::all;
  int64_t max_entries = 1;
  bool clear = false;
  bool compile_context = false;
  uint32_t skipped = 0;  // bit of each action

  [[nodiscard]] bool skips(Action action) const {
    return action < Action::first_unknown && (skipped >> static_cast<uint32_t>(action) & 1) != 0;
  }
};
[[nodiscard]] Result<RecordSettings> checked(const RecordOptions& options);

}  // namespace gpustrata::trace
