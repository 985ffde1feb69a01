// Heads of the columns of a table that is printed, as the description of its rows says them (members.h).
#pragma once

#include <functional>
#include <map>
#include <string_view>

#include "engine/answers/described/members.h"

namespace gpustrata::answers {

// By the names of members. None in the page's engine, which prints no tables.
using Heads = std::map<std::string_view, std::string_view>;
[[nodiscard]] Heads heads_of(const std::function<void(Members&)>& describe_row);

}  // namespace gpustrata::answers
