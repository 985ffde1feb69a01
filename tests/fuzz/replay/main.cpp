// Calls a fuzz target without a fuzzer: with every input that is kept for it, then with changed ones.
//
//   fuzz_replay TARGET CORPUS [ROUNDS=500]
//
// The same inputs every time: whoever runs it sees what CI saw. libFuzzer (tests/fuzz/run.sh) finds new paths; this shows, in
// the sanitized build that is there anyway, that what was once found stays mended.
#include <sanitizer/common_interface_defs.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/mutator/kind_mixer.h"

// Each target under its own name (tests/CMakeLists.txt).
#define TARGET(name) extern "C" int name(const uint8_t* data, size_t size);
#include "fuzz_targets.inc"
#undef TARGET

namespace {

using Input = std::vector<uint8_t>;

struct Target {
  const char* name;
  int (*run)(const uint8_t*, size_t);
};
constexpr Target kTargets[] = {
#define TARGET(name) {#name, name},
#include "fuzz_targets.inc"
#undef TARGET
};

// What runs now; kept in a file if it ends the program, so that it can be put into the corpus.
const Input* running = nullptr;
std::string kept_as;

void keep_running() {
  if (running == nullptr) return;
  std::ofstream(kept_as, std::ios::binary)
      .write(reinterpret_cast<const char*>(running->data()), static_cast<std::streamsize>(running->size()));
  std::fprintf(stderr, "the input is in %s\n", kept_as.c_str());
  running = nullptr;
}

constexpr size_t kLargest = 64 << 10;  // bytes of an input that is changed

Input read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Values of one kind under keys of another; nothing if there are none.
Input mixed(const Input& kept, std::mt19937_64& random) {
  using gpustrata::tests::KindMixer;
  KindMixer::Random choices(static_cast<KindMixer::Random::result_type>(random()));
  const std::string_view bytes(reinterpret_cast<const char*>(kept.data()), kept.size());
  const std::string changed = gpustrata::tests::kind_mixer().mix(bytes, choices, kLargest);
  return {changed.begin(), changed.end()};
}

// A few bytes changed, left out, doubled, or taken from another input.
Input changed(const std::vector<Input>& kept, std::mt19937_64& random) {
  const auto below = [&random](size_t n) { return n == 0 ? size_t{0} : static_cast<size_t>(random() % n); };
  Input input = kept[below(kept.size())];
  if (input.size() > kLargest) input.resize(kLargest);
  for (size_t changes = 1 + below(6); changes > 0; --changes) {
    const size_t at = below(input.size() + 1), length = std::min(below(16), input.size() - at);
    const auto from = input.begin() + static_cast<ptrdiff_t>(at);
    switch (below(6)) {
      case 0:
        for (size_t i = 0; i < length; ++i) input[at + i] = static_cast<uint8_t>(random());
        break;
      case 1:
        input.erase(from, from + static_cast<ptrdiff_t>(length));
        break;
      case 2: {
        const Input piece(from, from + static_cast<ptrdiff_t>(length));
        input.insert(from, piece.begin(), piece.end());
        break;
      }
      case 3:
        if (at < input.size()) input[at] ^= static_cast<uint8_t>(1U << below(8));
        break;
      case 4: {  // numbers at the edges
        constexpr uint8_t kEdges[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
        for (size_t i = 0; i < length; ++i) input[at + i] = kEdges[below(std::size(kEdges))];
        break;
      }
      default: {
        const Input& other = kept[below(kept.size())];
        const size_t start = below(other.size()), count = std::min(below(64), other.size() - start);
        const auto first = other.begin() + static_cast<ptrdiff_t>(start);
        input.insert(from, first, first + static_cast<ptrdiff_t>(count));
      }
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("fuzz_replay TARGET CORPUS [ROUNDS]\n", stderr);
    return 2;
  }
  const std::string name = argv[1];
  const auto* target = std::find_if(std::begin(kTargets), std::end(kTargets),
                                    [&](const Target& one) { return name == one.name; });
  if (target == std::end(kTargets)) {
    std::fprintf(stderr, "there is no target %s\n", argv[1]);
    return 2;
  }
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 500;
  std::vector<std::filesystem::path> paths;
  if (std::filesystem::is_directory(argv[2])) {
    for (const auto& file : std::filesystem::directory_iterator(argv[2])) paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());  // a folder has no order of its own
  std::vector<Input> kept{{}};
  for (const auto& path : paths) kept.push_back(read(path));
  kept_as = "fuzz_replay-" + name + ".failed";
  __sanitizer_set_death_callback(keep_running);
  std::signal(SIGABRT, [](int) { keep_running(); });  // the target found a fault of its own
  const auto run = [&](const Input& input) {
    running = &input;
    target->run(input.data(), input.size());
  };
  for (const Input& input : kept) run(input);
  std::mt19937_64 random(20261123);
  for (int round = 0; round < rounds; ++round) {
    Input input = round % 2 == 0 ? mixed(kept[random() % kept.size()], random) : Input();
    if (input.empty()) input = changed(kept, random);
    run(input);
  }
  running = nullptr;
  std::printf("%s: %zu kept inputs, %d changed ones\n", target->name, kept.size(), rounds);
  return 0;
}
