// What holds free memory back after an event, as JSON.
#pragma once

#include <optional>
#include <span>

#include "engine/analysis/event_context.h"
#include "engine/analysis/fragmentation.h"
#include "engine/analysis/free_places.h"
#include "engine/analysis/never_full.h"
#include "engine/answers/members.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::EventContext& context, const analysis::Fragmentation& fragmentation,
              std::span<const analysis::FreePlace> places);
// Without the places and the sentence, as reports have it.
void describe_numbers(Members& m, const analysis::EventContext& context,
                      const analysis::Fragmentation& found);

}  // namespace gpustrata::answers
