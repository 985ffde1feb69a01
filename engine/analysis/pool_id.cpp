#include "engine/analysis/pool_id.h"

#include <fmt/core.h>

namespace memstrata::analysis {

void write_pool(JsonWriter& json, const model::Recording& recording, PoolId pool) {
  if (pool.is_none()) {
    json.null();
    return;
  }
  const model::Pool& key = recording.pools[pool.index()];
  json.begin_array();
  json.value(static_cast<uint64_t>(key.graph_id));
  json.value(static_cast<uint64_t>(key.user_id));
  json.end_array();
}

std::string pool_text(const model::Pool& pool, std::string_view separator) {
  return fmt::format("{}{}{}", static_cast<uint64_t>(pool.graph_id), separator,
                     static_cast<uint64_t>(pool.user_id));
}

}  // namespace memstrata::analysis
