#include "engine/analysis/device/pool_id.h"

#include <fmt/core.h>

namespace gpustrata::analysis {

std::string pool_text(const model::Pool& pool, std::string_view separator) {
  return fmt::format("{}{}{}", static_cast<uint64_t>(pool.graph_id), separator,
                     static_cast<uint64_t>(pool.user_id));
}

}  // namespace gpustrata::analysis
