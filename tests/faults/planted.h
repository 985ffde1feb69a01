// In front of every C++ file of the copy: is fault `number` the one that is tried (GPUSTRATA_FAULT)?
//
// With GPUSTRATA_FAULT_REACHED, a file of 4 KiB, the byte of each place that is passed is set to 1 there.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

namespace planted {

inline constexpr int kMost = 4096;

inline int number = -1;  // not yet read; 0: none
inline unsigned char* reached = nullptr;

[[gnu::cold, gnu::noinline]] inline void read_number() {
  if (const char* file = std::getenv("GPUSTRATA_FAULT_REACHED")) {
    const int descriptor = ::open(file, O_RDWR | O_CLOEXEC);
    if (descriptor >= 0) {
      void* at = ::mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
      if (at != MAP_FAILED) reached = static_cast<unsigned char*>(at);
      ::close(descriptor);
    }
  }
  const char* text = std::getenv("GPUSTRATA_FAULT");
  number = text ? std::atoi(text) : 0;
}

inline bool is_on(int fault) {
  if (number < 0) read_number();
  if (reached && !reached[fault]) reached[fault] = 1;
  return number == fault;
}

// A constant that is settled while compiling stays as it is.
constexpr bool on(int fault) {
  if (std::is_constant_evaluated()) return false;
  return is_on(fault);
}

}  // namespace planted
