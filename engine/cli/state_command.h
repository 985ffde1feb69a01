// memstrata state FILE --event N[,N...] [--device D] [--snapshot S] [--json]
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cli/one_file.h"

namespace memstrata::cli {

struct StateOptions {
  FileChoice choice;
  std::vector<int64_t> events;  // -1 = before the first event; one answer each
};

[[nodiscard]] int run_state(const StateOptions& options, const Console& console);

}  // namespace memstrata::cli
