// Embind's own use of printf, the only one here: the name of a C++ type that was never registered, in an
// error about the bindings. Without it printf and its reals, 7 KB, stay out of the module (see --wrap in
// CMakeLists.txt).
#include <cstring>

extern "C" int __wrap_siprintf(char* text, const char* /*format*/, ...) {
  std::strcpy(text, "?");
  return 1;
}
