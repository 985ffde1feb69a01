// The settings a snapshot says its allocator had.
//
// Source of the keys: `allocator_settings` of the snapshot format: the settings text (for what has no key of its own),
// max_split_size with -1 = unlimited, garbage_collection_threshold, expandable_segments, roundup_power2_divisions by size
// in MiB. A key that is absent or not what it should be keeps what the text says, else the allocator's default.
#pragma once

#include <string_view>

#include "engine/alloc/config.h"

namespace gpustrata::replay {

// `settings_json` is model::Part::settings_json; it may be empty.
[[nodiscard]] alloc::Config recorded_config(std::string_view settings_json);

}  // namespace gpustrata::replay
