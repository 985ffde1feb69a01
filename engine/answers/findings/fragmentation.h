// What holds free memory back after an event, as JSON.
#pragma once

#include <optional>
#include <span>

#include "engine/analysis/device/event_context.h"
#include "engine/analysis/findings/fragmentation.h"
#include "engine/analysis/findings/free_places.h"
#include "engine/analysis/findings/never_full.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::EventContext& context, const analysis::Fragmentation& fragmentation,
              std::span<const analysis::FreePlace> places);
// Without the places and the sentence, as reports have it.
void describe_numbers(Members& m, const analysis::EventContext& context,
                      const analysis::Fragmentation& found);

}  // namespace gpustrata::answers
