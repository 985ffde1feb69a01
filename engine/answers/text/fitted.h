// Text that fits into the columns of a terminal. Widths are those of printable text (printable.h): a column each, two
// for what East Asian scripts and pictures take, none for marks on the letter before.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpustrata::answers {

[[nodiscard]] size_t columns_of_text(std::string_view printable);

// The beginning, with "…" for the rest.
[[nodiscard]] std::string fitted(std::string_view printable, size_t columns);
// Of a path the end, from the beginning of a folder's name on if there is room for the name of the file:
// "…/nn/modules/linear.py:12".
[[nodiscard]] std::string fitted_path(std::string_view printable, size_t columns);
// A function and its place: the place loses its folders first, then the function its end.
[[nodiscard]] std::string fitted_frame(std::string_view function, std::string_view place, size_t columns);

// Parted at spaces; a unit stays with its number: "(8.1 MiB,". One piece at least.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

// Pieces in lines, a space between them: the first begins in column `indent`, where something else is written
// already, further ones are indented as far. A piece that is longer than a line has its own.
[[nodiscard]] std::string wrapped(std::span<const std::string> printable, size_t columns, size_t indent);

}  // namespace gpustrata::answers
