#include "tests/unit/files.h"

#include <fstream>
#include <iterator>

namespace gpustrata::tests {

// The only source that knows where the project lies: all others compile to the same object in any clone.
std::string test_path(const std::string& name) { return GPUSTRATA_TESTS_FOLDER "/" + name; }

std::string real_path(const std::string& name) { return GPUSTRATA_SHARED_DATA_FOLDER "/" + name; }

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string golden_input(std::string_view golden_case) {
  return file_bytes(test_path("golden/torch_snapshot/" + std::string(golden_case) + "/input.pickle"));
}

}  // namespace gpustrata::tests
