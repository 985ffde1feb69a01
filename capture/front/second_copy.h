// Two copies of the library in one process would keep two books.
#pragma once

namespace memstrata::capture {

// Tells if another libmemstrata_capture.so is loaded, from another path.
void warn_of_second_copy();

}  // namespace memstrata::capture
