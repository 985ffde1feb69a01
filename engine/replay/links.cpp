#include "engine/replay/links.h"

namespace gpustrata::replay {

using trace::Action;

BlockEvents events_of_block(const model::Recording& recording, const StateHistory& history, int32_t block) {
  // A repair may set begin or end at an event that is not the block's own.
  const auto own = [&](int32_t event, auto&& fits) {
    const bool in_trace = event >= 0 && event < history.event_count();
    return in_trace && history.row_of_event[event] == block &&
                   fits(recording.events.action[history.rows.events.first + event])
               ? event
               : -1;
  };
  const auto is_request = [](Action a) { return a == Action::free_requested || a == Action::free; };
  BlockEvents events;
  events.alloc = own(history.blocks.begin[block], [](Action a) { return a == Action::alloc; });
  events.free_requested = own(history.pending_from[block], is_request);
  events.free_completed =
      own(history.blocks.end[block], [&](Action a) { return trace::completes_free(a) || is_request(a); });
  return events;
}

int32_t rank_of_block(const model::Recording& recording, const StateHistory& history, const BlockLives& lives,
                      int32_t block) {
  const BlockEvents events = events_of_block(recording, history, block);
  if (events.alloc >= 0) return lives.rank_born_at(events.alloc);
  const int32_t source = history.block_source[block];
  for (int32_t rank = 0; rank < lives.from_start; ++rank) {
    const bool same = source >= 0 ? lives.source[rank] == source
                                  : events.free_completed >= 0 && lives.freed[rank] == events.free_completed;
    if (same) return rank;
  }
  return -1;
}

int32_t block_of_rank(const StateHistory& history, const BlockLives& lives, int32_t rank) {
  if (lives.born[rank] >= 0) return history.row_of_event[lives.born[rank]];
  if (lives.source[rank] < 0) {
    const int32_t freed = lives.freed[rank];
    return freed < history.event_count() ? history.row_of_event[freed] : -1;
  }
  for (size_t block = 0; block < history.block_source.size(); ++block) {
    if (history.block_source[block] == lives.source[rank]) return static_cast<int32_t>(block);
  }
  return -1;
}

bool rank_blocks(const model::Recording& recording, const StateHistory& history, const BlockLives& lives,
                 Column<int32_t>& rank_of_block) {
  if (!rank_of_block.resize(static_cast<size_t>(history.blocks.count()), -1)) return false;
  Column<int32_t> row_of_source(recording.budget);
  if (!row_of_source.resize(recording.blocks.size_rows(), -1)) return false;
  for (size_t row = 0; row < history.block_source.size(); ++row) {
    if (history.block_source[row] >= 0) row_of_source[history.block_source[row]] = static_cast<int32_t>(row);
  }
  for (int32_t rank = 0; rank < lives.count(); ++rank) {
    int32_t row = -1;
    if (lives.born[rank] >= 0) {
      row = history.row_of_event[lives.born[rank]];
    } else if (lives.source[rank] >= 0) {
      row = row_of_source[lives.source[rank]];
    } else if (lives.freed[rank] < history.event_count()) {
      row = history.row_of_event[lives.freed[rank]];
    }
    if (row >= 0) rank_of_block[row] = rank;
  }
  return true;
}

}  // namespace gpustrata::replay
