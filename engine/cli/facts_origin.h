// Where a file of a training job belongs, as the names of file and folders say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/answers/facts.h"

namespace memstrata::cli {

// The number behind the last "rank" of a name, with one of "_-.=" between them or not: "rank3.pickle", "job_rank-03.pickle.gz",
// "global_rank_12". None: there is none, or it is above 2^31.
[[nodiscard]] std::optional<int64_t> rank_in_name(std::string_view name);

// Folders "run=NAME", "host=NAME" and "rank=N", the innermost of each; else the rank of the file's name.
[[nodiscard]] answers::FactsOrigin origin_of_path(std::string_view path);

}  // namespace memstrata::cli
