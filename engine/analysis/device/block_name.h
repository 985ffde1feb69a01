// How blocks and segments are called: by address, and how often that address was given back before.
#pragma once

#include <cstdint>
#include <string>

namespace gpustrata::analysis {

// b'7f064c000000_0
[[nodiscard]] std::string block_name(uint64_t address, uint32_t version);
// s'7f064c000000_0
[[nodiscard]] std::string segment_name(uint64_t address, uint32_t version);

}  // namespace gpustrata::analysis
