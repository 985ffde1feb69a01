// The `gpustrata` of the wheel: finds the package of its installation and becomes the command that the package's library holds,
// without Python, which would take longer than most answers.
#include <dlfcn.h>
#include <glob.h>
#include <sys/auxv.h>

#include <bit>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr size_t kLongest = 2 * PATH_MAX + 1;  // of a path in which each character may be escaped

// From the folder of commands: --target; environments, --user and Conda; Debian's own pip, Fedora's (lib64).
constexpr const char* kPlaces[] = {"../gpustrata", "../lib*/python3*/site-packages/gpustrata",
                                   "../lib*/python3*/dist-packages/gpustrata"};

// The path of this program without its links, as pipx makes them, up to the last "/", for glob().
[[nodiscard]] bool find_own_folder(char (&folder)[kLongest]) {
  char path[PATH_MAX];
  const auto* const begun_as =
      std::bit_cast<const char*>(getauxval(AT_EXECFN));  // where /proc is not mounted
  if (realpath("/proc/self/exe", path) == nullptr &&
      (begun_as == nullptr || realpath(begun_as, path) == nullptr))
    return false;
  size_t length = strlen(path);
  while (length > 0 && path[length - 1] != '/') --length;
  size_t end = 0;
  for (size_t i = 0; i < length; ++i) {
    if (strchr("*?[\\", path[i]) != nullptr) folder[end++] = '\\';
    folder[end++] = path[i];
  }
  folder[end] = 0;
  return true;
}

// The library, if it is there and of this version: several Pythons may share a folder of commands.
[[nodiscard]] void* load(const char* path) {
  void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "gpustrata: %s\n", dlerror());
    return nullptr;
  }
  using Version = const char* (*)();
  const auto version = reinterpret_cast<Version>(dlsym(library, "gpustrata_file_version"));
  if (version != nullptr && strcmp(version(), GPUSTRATA_VERSION) == 0) return library;
  dlclose(library);
  return nullptr;
}

[[nodiscard]] void* find_library() {
  char folder[kLongest];
  if (!find_own_folder(folder)) return nullptr;
  for (const char* place : kPlaces) {
    char pattern[kLongest + 100];
    (void)snprintf(pattern, sizeof pattern, "%s%s/libgpustrata_file.so", folder, place);
    glob_t found;
    void* library = nullptr;
    if (glob(pattern, 0, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc && library == nullptr; ++i) library = load(found.gl_pathv[i]);
      globfree(&found);
    }
    if (library != nullptr) return library;
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  void* const library = find_library();
  using Command = int (*)(int, char**);
  const auto command =
      library == nullptr ? nullptr : reinterpret_cast<Command>(dlsym(library, "gpustrata_command"));
  if (command != nullptr) return command(argc, argv);
  fputs("gpustrata: the Python package gpustrata " GPUSTRATA_VERSION
        " is not beside this command: install it again\n",
        stderr);
  return 1;
}
