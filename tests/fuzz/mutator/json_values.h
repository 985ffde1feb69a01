// The values of JSON texts, one after another; what is between them is passed by.
#pragma once

#include "tests/fuzz/mutator/values.h"

namespace gpustrata::tests {

[[nodiscard]] FoundValues find_json_values(std::string_view input);

}  // namespace gpustrata::tests
