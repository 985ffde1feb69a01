// Folders that say which part of a data set a file is, as Hive names them: Spark, DuckDB, pyarrow and polars read them back
// as columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/cli/failure.h"

namespace gpustrata::cli {

struct Partition {
  std::string run;    // empty = none
  int64_t rank = -1;  // -1 = none

  [[nodiscard]] bool is_given() const { return !run.empty() || rank >= 0; }
};

// FOLDER/run=NAME/rank=N/FILE, or with one of both; the folders below FOLDER are made. Bytes of a name that are no letter,
// digit, '-', '_' or '.' become %XX. Failure: wrong_usage (`folder` is none), unwritable.
[[nodiscard]] Outcome<std::string> path_in(const std::string& folder, const Partition& partition,
                                           std::string_view file);

}  // namespace gpustrata::cli
