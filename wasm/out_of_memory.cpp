// Without it, Emscripten's abort() says nothing of why; the page shows the last line of stderr.
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

void say_out_of_memory() {
  std::set_new_handler(nullptr);  // writing must not come back here
  std::fputs("gpustrata: out of memory\n", stderr);
  std::abort();
}
[[maybe_unused]] const std::new_handler previous_handler = std::set_new_handler(say_out_of_memory);

}  // namespace
