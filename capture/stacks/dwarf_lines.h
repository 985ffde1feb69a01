// Files, lines and inlined calls from DWARF, by libdw.
//
// libdw.so.1 (elfutils) is loaded when it is first needed; without it, or without its header at build time,
// there are no lines.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "capture/stacks/symbols.h"

namespace gpustrata::capture {

// Is libdw there?
[[nodiscard]] bool has_dwarf();
// `addresses` ascend and are those of the file. frames[i] gets the inlined calls and the function around
// addresses[i], innermost first, names mangled; it stays empty if the file does not know it. False if the
// file has no DWARF. Stops when `expired` says so.
bool frames_from_dwarf(const std::string& path, std::span<const uint64_t> addresses,
                       std::vector<Symbols::Frames>& frames, const std::function<bool()>& expired);

}  // namespace gpustrata::capture
