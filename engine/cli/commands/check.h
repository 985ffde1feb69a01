// gpustrata check FILE [--max-peak 20GiB] [--max-reserved ...] [--no-oom] [--no-leak] [--max-fragmentation 0.2]
//                      [--baseline BEFORE --max-growth 2%] [--junit FILE] [--device N] [--json]
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/analysis/report/check.h"
#include "engine/cli/console.h"

namespace gpustrata::cli {

struct CheckOptions {
  std::string file, baseline, junit;
  analysis::CheckRules rules;
  std::optional<int32_t> device;
  bool json = false;
};

// "20GiB", "512 MiB", "1000000" (bytes), also GB, G, g; none = no size.
[[nodiscard]] std::optional<int64_t> size_in(std::string_view text);
// "2%", "0.02"; none = no share.
[[nodiscard]] std::optional<double> share_in(std::string_view text);

// The exit code: 0 all rules are kept; 3 one is broken; 1 wrong usage; 2 a file could not be read or written.
[[nodiscard]] int run_check(const CheckOptions& options, const Console& console);

}  // namespace gpustrata::cli
