// Two copies of the library in one process would keep two books.
#pragma once

namespace gpustrata::capture {

// Tells if another libgpustrata_capture.so is loaded, from another path.
void warn_of_second_copy();

}  // namespace gpustrata::capture
