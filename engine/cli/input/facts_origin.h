// Where a file of a training job belongs, as the names of file and folders say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/answers/report/facts.h"

namespace gpustrata::cli {

// The number behind the last "rank" of a name, with one of "_-.=" between them or not: "rank3.pickle", "job_rank-03.pickle.gz",
// "global_rank_12". None: there is none, or it is above 2^31.
[[nodiscard]] std::optional<int64_t> rank_in_name(std::string_view name);

// What folders "run=NAME", "host=NAME" and "rank=N" of a path say, the innermost of each, as Hive names partitions: "%2F" is a
// byte, "__HIVE_DEFAULT_PARTITION__" is nothing.
struct FolderNames {
  std::string run, host;  // empty: not said
  std::optional<int64_t> rank;
};
[[nodiscard]] FolderNames names_of_folders(std::string_view path);

// What the folders of the file say, then its name (the rank), then the folders of the output that is made of it.
[[nodiscard]] answers::FactsOrigin origin_of_path(std::string_view path, std::string_view output);

}  // namespace gpustrata::cli
