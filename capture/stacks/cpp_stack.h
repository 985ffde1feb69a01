// The C++ call stack of the calling thread, as return addresses.
//
// libunwind's unw_backtrace keeps what it learnt of every return address, about 10 to 20 ns a frame. Debian's
// static libunwind cannot be linked into a shared library (its objects are not position independent), and the
// shared one exports _Unwind_RaiseException, which must not replace the host's: so it is loaded at run time
// with its names kept to itself. Where it is absent, or GPUSTRATA_UNWINDER=libgcc is in the environment
// (ThreadSanitizer does not outlive libunwind's end of a thread), the compiler's own unwinder does it, at
// about 140 ns a frame.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpustrata::capture {

// Loads the unwinder and lets it learn. Gathering works without it, the first one takes longer then.
void prepare_cpp_stacks();
// Empty, or in words why C++ stacks are slow here though nobody asked for the slow unwinder.
[[nodiscard]] std::string why_cpp_stacks_are_slow();
// "libunwind" or "libgcc"; ended by a 0.
[[nodiscard]] std::string_view cpp_unwinder();
// Fills `addresses` innermost first, the caller of this function first; returns how many. Deeper stacks lose
// their outermost frames. Takes no memory once the thread has done it before.
[[nodiscard]] size_t gather_cpp_stack(std::span<uint64_t> addresses);

}  // namespace gpustrata::capture
