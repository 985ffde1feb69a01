// memstrata state FILE --event N [--device D] [--snapshot S] [--json]
#pragma once

#include "engine/cli/one_file.h"

namespace memstrata::cli {

struct StateOptions {
  FileChoice choice;
  int64_t event = -1;  // -1 = before the first event
};

[[nodiscard]] int run_state(const StateOptions& options);

}  // namespace memstrata::cli
