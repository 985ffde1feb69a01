// Does a sanitizer watch? A read file then costs a hundred times as much, most of it for its buffer of 4 MiB: tests of
// thousands of files take every seventh. The optimised build takes them all.
#pragma once

namespace gpustrata::tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace gpustrata::tests
