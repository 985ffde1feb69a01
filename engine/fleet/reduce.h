// All facts to one fleet: what the SQL says, as columns, curves and findings.
#pragma once

#include <string_view>

#include "engine/base/status.h"
#include "engine/fleet/fact_table.h"
#include "engine/model/fleet.h"

namespace gpustrata::fleet {

// `facts` is sealed. `fleet` is new. Error: limit_exceeded.
[[nodiscard]] Status reduce(FactTable& facts, std::string_view title, model::Fleet& fleet);

}  // namespace gpustrata::fleet
