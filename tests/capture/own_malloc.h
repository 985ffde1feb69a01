// GPUSTRATA_COUNTS_MALLOC: is malloc that of glibc, which can be counted? A sanitizer has its own.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GPUSTRATA_COUNTS_MALLOC 0
#elif defined(__has_feature)
#define GPUSTRATA_COUNTS_MALLOC !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define GPUSTRATA_COUNTS_MALLOC 1
#endif
