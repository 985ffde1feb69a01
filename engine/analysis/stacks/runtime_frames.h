// Frames of the CPython interpreter and of the C runtime, which start a program, call its functions and run its threads.
//
// Frames that have only an address in a file of these, or of CUDA's driver and runtime, which everybody calls, are such, too.
// Where the file of a frame is known, it decides: a folder of CPython's source, of glibc or of libstdc++. Else its symbol
// does: a stripped interpreter names the nearest symbol that it exports, so that frames of it have names from all over its
// table, and `libc` likewise. A suffix that a compiler added (".cold", ".llvm.42", ".localalias") is no part of a symbol.
#pragma once

#include <string_view>

namespace gpustrata::analysis {

[[nodiscard]] bool is_of_runtime(std::string_view function, std::string_view file);

}  // namespace gpustrata::analysis
