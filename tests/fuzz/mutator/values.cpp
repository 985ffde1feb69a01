#include "tests/fuzz/mutator/values.h"

#include <utility>

#include "tests/fuzz/mutator/json_values.h"
#include "tests/fuzz/mutator/pickle_values.h"

namespace gpustrata::tests {

FoundValues find_values(std::string_view input) {
  FoundValues best;
  const auto offer = [&](FoundValues found) {
    if (found.values.size() > best.values.size()) best = std::move(found);
  };
  for (size_t first = 0; first < 2 && first < input.size(); ++first) offer(find_pickle_values(input, first));
  offer(find_json_values(input));
  return best;
}

}  // namespace gpustrata::tests
