// Changes an input as a hostile writer would: a value of one kind stands under a key of another.
//
// Keys and values are those of files that tests have anyway, of every kind that is read (kept inputs of all fuzz targets,
// tests/data): a key that a new test brings is known here without being written down again.
#pragma once

#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/mutator/values.h"

namespace gpustrata::tests {

class KindMixer {
 public:
  using Random = std::minstd_rand;

  // Takes the keys and values of an input; and the whole, if it has any.
  void learn(std::string_view input);
  // Up to three changes. Empty: nothing in it is a value, or what comes out is longer than `most`.
  [[nodiscard]] std::string mix(std::string_view input, Random& random, size_t most) const;
  // One of those that were learnt; empty if there is none.
  [[nodiscard]] std::string_view document(Random& random) const;

 private:
  // Values of one key; of an encoding, whole in themselves.
  using Values = std::vector<std::string>;
  struct Known {
    std::map<std::string, Values> by_key;
    std::vector<std::string> keys;
  };
  [[nodiscard]] const Known& known(Encoding encoding) const {
    return encoding == Encoding::json ? json_ : pickle_;
  }
  [[nodiscard]] std::string change(std::string_view input, const FoundValues& found, Random& random) const;
  [[nodiscard]] std::string some_value(const FoundValues& found, std::string_view input,
                                       const FoundValue& instead_of, Random& random) const;

  Known json_, pickle_;
  std::vector<std::string> documents_;
};

// Knows the files of tests/. The same one for all.
[[nodiscard]] const KindMixer& kind_mixer();

}  // namespace gpustrata::tests
