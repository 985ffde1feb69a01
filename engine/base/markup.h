// Text inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace memstrata {

// For content and for attributes in double quotes: & < > " as entities. Control characters that XML has not
// are replaced by spaces.
[[nodiscard]] std::string escaped_markup(std::string_view text);

}  // namespace memstrata
