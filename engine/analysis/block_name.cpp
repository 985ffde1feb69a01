#include "engine/analysis/block_name.h"

#include <fmt/core.h>

namespace memstrata::analysis {

std::string block_name(uint64_t address, uint32_t version) {
  return fmt::format("b'{:x}_{}", address, version);
}

std::string segment_name(uint64_t address, uint32_t version) {
  return fmt::format("s'{:x}_{}", address, version);
}

}  // namespace memstrata::analysis
