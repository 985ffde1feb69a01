// Keys of the facts that this program knows; others are kept and shown as they are.
#pragma once

#include <string_view>

namespace gpustrata::io::journal {

// As PYTORCH_CUDA_ALLOC_CONF says it; the last one counts.
inline constexpr std::string_view kSettingsFact = "PYTORCH_CUDA_ALLOC_CONF";
// JSON text, as `allocator_settings` of a snapshot; without it, it is made from the former.
inline constexpr std::string_view kSettingsJsonFact = "allocator_settings";
// "hidden": the program's PyTorch has pools of events in its memory, but in none of its files (before 2.12). They are in the
// journal because the state follows from them; its events are shown as those files have them, by which versions are told apart.
inline constexpr std::string_view kEventPoolsFact = "event_pools";
inline constexpr std::string_view kHidden = "hidden";
// Of the process in its job: decimal numbers.
inline constexpr std::string_view kRankFact = "rank";
inline constexpr std::string_view kWorldSizeFact = "world_size";
// The device whose events and segments are those of the host: pinned and managed memory. A decimal number.
inline constexpr std::string_view kHostDeviceFact = "host_device";
// Whose events they are, if not those of a caching allocator.
inline constexpr std::string_view kRecordsFact = "records";
inline constexpr std::string_view kDriver = "CUDA driver";

}  // namespace gpustrata::io::journal
