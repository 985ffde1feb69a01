// The settings a snapshot says its allocator had, as far as they decide how large a block is.
//
// Source of the keys: `allocator_settings` of the snapshot format (max_split_size with -1 = unlimited,
// roundup_power2_divisions by size in MiB). A key that is absent or not a number keeps the allocator's
// default.
#pragma once

#include <string_view>

#include "engine/alloc/config.h"

namespace memstrata::replay {

// `settings_json` is model::Part::settings_json; it may be empty.
[[nodiscard]] alloc::Config recorded_config(std::string_view settings_json);

}  // namespace memstrata::replay
