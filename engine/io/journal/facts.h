// Keys of the facts that this program knows; others are kept and shown as they are.
#pragma once

#include <string_view>

namespace gpustrata::io::journal {

// As PYTORCH_CUDA_ALLOC_CONF says it; the last one counts.
inline constexpr std::string_view kSettingsFact = "PYTORCH_CUDA_ALLOC_CONF";
// JSON text, as `allocator_settings` of a snapshot; without it, it is made from the former.
inline constexpr std::string_view kSettingsJsonFact = "allocator_settings";
// Of the process in its job: decimal numbers.
inline constexpr std::string_view kRankFact = "rank";
inline constexpr std::string_view kWorldSizeFact = "world_size";

}  // namespace gpustrata::io::journal
