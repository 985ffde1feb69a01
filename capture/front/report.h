// What the host program's user is told: once on stderr, and as the calling thread's last error.
#pragma once

#include <string_view>

namespace gpustrata::capture {

// "gpustrata: <text>" on stderr. A text that was told before, or the 64th and later ones, stay silent: a
// fault in a loop must not drown the program's own output. Keeps the text as the thread's last error.
void report(std::string_view text);

// Of the calling thread; empty if none. Valid until its next failing call.
[[nodiscard]] const char* last_error();
void set_last_error(std::string_view text);

}  // namespace gpustrata::capture
