// Settings of other versions: what this one does not know must not take the rest with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/alloc/config.h"

namespace gpustrata::alloc {

// As apply_settings(), but keys that nobody here knows are passed over; returns them. Error: a value that a known
// key may not have, a text that is no list of keys; then nothing is changed.
[[nodiscard]] Result<std::vector<std::string>> apply_known_settings(Config& config, std::string_view text);

// The text that a recording repeats, which its allocator took: also a key with a value that is not known here is passed
// over, and whatever is between keys.
void apply_recorded_settings(Config& config, std::string_view text);

}  // namespace gpustrata::alloc
