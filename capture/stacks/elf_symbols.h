// Function names from the symbol tables of an ELF file.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace gpustrata::capture {

// `addresses` ascend and are those of the file. names[i] becomes the mangled name of the function around
// addresses[i] if it is empty and the file has one. One pass over the symbols; the file may be damaged. Stops
// when `expired` says so.
void name_from_symbols(const std::string& path, std::span<const uint64_t> addresses,
                       std::vector<std::string>& names, const std::function<bool()>& expired);

}  // namespace gpustrata::capture
