#include "engine/answers/text/bounded.h"

#include <fmt/core.h>

#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

std::string more_text(int64_t count) { return fmt::format("… {} more", count_text(count)); }

std::string in_list(std::string_view text) { return utf8::cut(text, kLongestInList); }

}  // namespace gpustrata::answers
