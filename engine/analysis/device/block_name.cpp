#include "engine/analysis/device/block_name.h"

#include <fmt/core.h>

namespace gpustrata::analysis {

std::string block_name(uint64_t address, uint32_t version) {
  return fmt::format("b'{:x}_{}", address, version);
}

std::string segment_name(uint64_t address, uint32_t version) {
  return fmt::format("s'{:x}_{}", address, version);
}

}  // namespace gpustrata::analysis
