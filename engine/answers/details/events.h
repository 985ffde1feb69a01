// Events of a device: rows of the list, and one for the details panel.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/analysis/details/event_details.h"
#include "engine/analysis/device/event_context.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::EventContext& context, const analysis::EventRow& row);

void describe(Members& m, const analysis::EventContext& context, const analysis::EventDetails& event);

// "alloc         b'7f.._0           2.0 KiB (2,048 bytes)\n(stream 0)"
[[nodiscard]] std::string event_text(const analysis::EventContext& context, int32_t event);

}  // namespace gpustrata::answers
