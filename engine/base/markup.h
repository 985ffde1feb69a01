// Text inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace gpustrata {

// For content and for attributes in double quotes, whatever the bytes are: & < > " as entities. Control
// characters, those of XML and U+007F to U+009F, become spaces; what is not UTF-8 and what XML has not
// (U+FFFE, U+FFFF) becomes U+FFFD.
[[nodiscard]] std::string escaped_markup(std::string_view text);

}  // namespace gpustrata
