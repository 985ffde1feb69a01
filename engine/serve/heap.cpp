#include "engine/serve/heap.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace gpustrata::serve {

void keep_heap_small() {
#if defined(__GLIBC__)
  constexpr int kOwnPages = 512 << 10;  // bytes; setting it ends that it grows by itself
  constexpr int kMostHeaps = 4;
  (void)mallopt(M_MMAP_THRESHOLD, kOwnPages);
  (void)mallopt(M_ARENA_MAX, kMostHeaps);
#endif
}

void give_back_free_heap() {
#if defined(__GLIBC__)
  (void)malloc_trim(0);
#endif
}

}  // namespace gpustrata::serve
