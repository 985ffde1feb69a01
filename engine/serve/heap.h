// What a server that runs for weeks does about the heap of the C library: memory that was freed is the system's again.
// Nothing where the library is not glibc.
#pragma once

namespace gpustrata::serve {

// Once, before there are threads. Answers of a megabyte get pages of their own, which go when they are freed; otherwise
// glibc learns to keep such sizes, in as many heaps as threads have met.
void keep_heap_small();
// After much was freed.
void give_back_free_heap();

}  // namespace gpustrata::serve
