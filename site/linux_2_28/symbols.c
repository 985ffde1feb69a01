// What Debian's libstdc++.a wants of a glibc newer than 2.28.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

// 2.32. There may always be other threads.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

// 2.36, for std::random_device.
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t number;
  if (getentropy(&number, sizeof number) != 0) abort();
  return number;
}
