#include "engine/cli/output/viewer.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <vector>

#include "engine/cli/input/input.h"

namespace gpustrata::cli {

namespace {

constexpr size_t kLongestViewer = size_t{64} << 20;

// Beside the command, where `cmake --install` puts it, where the wasm preset builds it, and beside the library that holds this
// code, which is the package of Python.
[[nodiscard]] std::vector<std::string> places_of_viewer() {
  std::vector<std::string> places;
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length > 0) {
    const std::string command(path.data(), static_cast<size_t>(length));
    const std::string folder = command.substr(0, command.rfind('/'));
    places = {folder + "/gpustrata.html", folder + "/../share/gpustrata/gpustrata.html",
              folder + "/../../site/gpustrata.html"};
  }
  Dl_info code{};
  if (dladdr(reinterpret_cast<const void*>(&places_of_viewer), &code) != 0 && code.dli_fname != nullptr) {
    const std::string library = code.dli_fname;
    const size_t slash = library.rfind('/');
    if (slash != std::string::npos) places.push_back(library.substr(0, slash) + "/gpustrata.html");
  }
  return places;
}

}  // namespace

Outcome<std::string> viewer_page(const std::string& named, const std::string& about) {
  if (!named.empty()) {
    auto page = read_text(named, kLongestViewer, "a viewer");
    if (page) return page;
    return failure(kNoViewer, about,
                   fmt::format("The viewer {} cannot be read: {}", named, page.error().message));
  }
  for (const std::string& place : places_of_viewer()) {
    if (auto page = read_text(place, kLongestViewer, "a viewer")) return page;
  }
  return failure(kNoViewer, about,
                 "The viewer was not found: name it with --viewer gpustrata.html (build it with "
                 "`cmake --preset wasm && cmake --build --preset wasm`, it is in build/site).");
}

}  // namespace gpustrata::cli
