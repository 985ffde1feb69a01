// The values of a pickle of any protocol: opcodes are walked with a stack of where each value began.
#pragma once

#include "tests/fuzz/mutator/values.h"

namespace gpustrata::tests {

// `first`: the byte where the pickle begins.
[[nodiscard]] FoundValues find_pickle_values(std::string_view input, size_t first);

}  // namespace gpustrata::tests
