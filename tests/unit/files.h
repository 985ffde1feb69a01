// Files that tests read.
#pragma once

#include <string>
#include <string_view>

namespace gpustrata::tests {

// A file or folder of tests/, and of the real files beside the project, which may not be there.
[[nodiscard]] std::string test_path(const std::string& name);
[[nodiscard]] std::string real_path(const std::string& name);

// All of a file; empty if there is none.
[[nodiscard]] std::string file_bytes(const std::string& path);
// The input of a case of tests/golden/torch_snapshot.
[[nodiscard]] std::string golden_input(std::string_view golden_case);

}  // namespace gpustrata::tests
