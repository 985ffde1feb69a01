// Numbers as people read them. Sizes are in binary units with one decimal; half is rounded up.
#pragma once

#include <cstdint>
#include <string>

namespace gpustrata {

// "512 B", "2.0 KiB", "71.2 GiB"; TiB is the largest unit.
[[nodiscard]] std::string size_text(int64_t bytes);
// The same rounded up, for what is needed at least: 9.31 GiB are "9.4 GiB".
[[nodiscard]] std::string needed_text(int64_t bytes);
// The same rounded down, for what would fit: 3.79 GiB are "3.7 GiB".
[[nodiscard]] std::string fitting_text(int64_t bytes);
// "71.2 GiB (76,450,234,368 bytes)"; below 1 KiB only "512 bytes".
[[nodiscard]] std::string exact_size_text(int64_t bytes);
// "1,234,567"
[[nodiscard]] std::string count_text(int64_t count);
// "345 us", "12.3 ms", "4.6 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"
[[nodiscard]] std::string duration_text(int64_t microseconds);
// "1 block", "2,300 blocks"
[[nodiscard]] std::string counted(int64_t count, std::string_view thing);

}  // namespace gpustrata
