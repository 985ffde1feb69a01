// gpustrata report FILE... [--device N] [--rules FILE] [--json]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cli/console.h"

namespace gpustrata::cli {

struct ReportOptions {
  std::vector<std::string> files;
  std::optional<int32_t> device;
  std::string
      rules;  // file with rules of categories (analysis/categories/category_rules.h); empty = those built in
  bool json = false;
};

// The exit code: 0; 1 if there is no such device or the rules are wrong; 2 if any file could not be read.
[[nodiscard]] int run_report(const ReportOptions& options, const Console& console);

}  // namespace gpustrata::cli
