// What libFuzzer asks for a changed input, in every target: half of them by its own means, half with kinds mixed.
#include <cstdint>
#include <cstring>

#include "tests/fuzz/mutator/kind_mixer.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed) {
  using gpustrata::tests::kind_mixer;
  using gpustrata::tests::KindMixer;
  KindMixer::Random random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr unsigned kOtherDocument = 100;  // one in so many begins with a file of another kind
  std::string from(input);
  if (random() % kOtherDocument == 0) {
    // Most targets keep the first byte for themselves.
    from = std::string(input.substr(0, random() % 4 == 0 ? 0 : 1)).append(kind_mixer().document(random));
  }
  const std::string mixed = kind_mixer().mix(from, random, most);
  if (mixed.empty() || mixed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, mixed.data(), mixed.size());
  return mixed.size();
}
