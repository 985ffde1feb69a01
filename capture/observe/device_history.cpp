#include "capture/observe/device_history.h"

namespace gpustrata::capture {

using trace::Action;

void LiveStacks::add(const trace::TraceEvent& event) {
  switch (event.action) {
    case Action::alloc:
      blocks[event.address] = event.stack;
      break;
    case Action::free_completed:
      blocks.erase(event.address);
      break;
    case Action::segment_alloc:
    case Action::segment_map:
      segments[event.address] = event.stack;
      break;
    case Action::segment_free:
    case Action::segment_unmap:
      segments.erase(event.address);
      break;
    default:
      break;
  }
}

void DeviceHistory::begin(int64_t max_entries) {
  events_.clear();
  events_.set_capacity(max_entries);
  events_.prepare();
  older_ = {};
  begins_empty_ = false;
  is_on_ = true;
}

void DeviceHistory::begin(std::shared_ptr<ObservedJournal> journal) {
  begin(1);
  journal_ = std::move(journal);
}

void DeviceHistory::end() {
  is_on_ = false;
  journal_ = nullptr;
  events_.clear();
  older_ = {};
}

DeviceHistory::Copy DeviceHistory::copy() const {
  Copy copy;
  copy.events.reserve(static_cast<size_t>(events_.size()));
  for (int64_t i = 0; i < events_.size(); ++i) copy.events.push_back(events_[i]);
  copy.older = older_;
  copy.lost = events_.lost();
  copy.capacity = events_.capacity();
  copy.has_all = begins_empty_ && copy.lost == 0;
  return copy;
}

}  // namespace gpustrata::capture
