// Which events does a filter mean? The language is told in filter_syntax.h.
//
//   action                         what the event did: names as in the file, `blocks` (alloc, free_requested, free_completed,
//                                  free), `segments`, `markers` (all others); several with commas
//   size stream address stack      of the event itself: the stack of a free is of who freed, where it is recorded
//   call who metadata, any word
//   op                             of the event itself; of an allocation also what a trace of the same run told
//   pool                           of the event; of one that does not say it, of its block
//   category lifetime born freed   of its block: all events of such blocks
//   alive
#pragma once

#include <string_view>

#include "engine/analysis/details/event_list.h"
#include "engine/analysis/device/device.h"
#include "engine/analysis/ops/made_in.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

// An empty text means all. O(terms * events), and O(blocks) for terms of blocks. Error: as filter_blocks().
[[nodiscard]] Result<EventList> filter_events(Device& device, std::string_view text,
                                              const MadeIn* made_in = nullptr);

}  // namespace gpustrata::analysis
