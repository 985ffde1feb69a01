#include "engine/model/tables.h"

namespace memstrata::model {

EventTable::EventTable(Budget& budget)
    : action(budget),
      address(budget),
      size(budget),
      time_us(budget),
      stack(budget),
      context(budget),
      metadata(budget),
      stream(budget),
      pool(budget) {}

bool EventTable::reserve(size_t rows) {
  return action.reserve(rows) && address.reserve(rows) && size.reserve(rows) && time_us.reserve(rows) &&
         stack.reserve(rows) && context.reserve(rows) && metadata.reserve(rows) && stream.reserve(rows) &&
         pool.reserve(rows);
}

BlockTable::BlockTable(Budget& budget)
    : address(budget),
      size(budget),
      requested_size(budget),
      state(budget),
      stack(budget),
      metadata(budget),
      history(budget) {}

HistoryTable::HistoryTable(Budget& budget) : address(budget), real_size(budget), stack(budget) {}

SegmentTable::SegmentTable(Budget& budget)
    : device(budget),
      address(budget),
      total_size(budget),
      allocated_size(budget),
      active_size(budget),
      requested_size(budget),
      stream(budget),
      pool(budget),
      type(budget),
      expandable(budget),
      stack(budget),
      metadata(budget),
      blocks(budget) {}

AnnotationTable::AnnotationTable(Budget& budget)
    : name(budget), stage(budget), device(budget), time_us(budget) {}

ExtraTable::ExtraTable(Budget& budget) : owner(budget), row(budget), key(budget), value(budget) {}

}  // namespace memstrata::model
