#include "engine/cli/paths.h"

#include <fstream>
#include <iostream>
#include <string_view>

namespace memstrata::cli {

bool append_paths(const std::string& list, std::vector<std::string>& paths) {
  std::ifstream file;
  if (list != "-") file.open(list);
  std::istream& in = list == "-" ? std::cin : file;
  if (!in) return false;
  for (std::string line; std::getline(in, line);) {
    constexpr std::string_view kSpace = " \t\r";
    const size_t first = line.find_first_not_of(kSpace);
    if (first == std::string::npos) continue;
    std::string_view path(line);
    path = path.substr(first, line.find_last_not_of(kSpace) - first + 1);
    const bool quoted =
        path.size() > 2 && path.front() == path.back() && (path.front() == '"' || path.front() == '\'');
    if (quoted) path = path.substr(1, path.size() - 2);
    paths.emplace_back(path);
  }
  return in.eof();
}

}  // namespace memstrata::cli
