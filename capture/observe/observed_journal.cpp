#include "capture/observe/observed_journal.h"

#include <utility>

#include "capture/observe/device_history.h"
#include "engine/io/journal/facts.h"

namespace gpustrata::capture {

using io::journal::BlockRecord;
using io::journal::SegmentRecord;
using io::journal::SegmentSize;

Result<std::shared_ptr<ObservedJournal>> ObservedJournal::create(const std::string& path, int64_t max_size,
                                                                 const gpustrata_observable& allocator,
                                                                 const RawStacks& stacks,
                                                                 const EvenClock& clock) {
  auto journal = Journal::create(path, {.max_size = max_size});
  if (!journal) return tl::unexpected(journal.error());
  return std::shared_ptr<ObservedJournal>(new ObservedJournal(std::move(*journal), allocator, stacks, clock));
}

ObservedJournal::ObservedJournal(std::unique_ptr<Journal> journal, const gpustrata_observable& allocator,
                                 const RawStacks& stacks, const EvenClock& clock)
    : journal_(std::move(journal)),
      stacks_(*journal_, stacks),
      clock_(clock),
      empty_(journal_->text("")),
      no_context_(journal_->text("N/A")),
      devices_(static_cast<size_t>(allocator.device_count)) {
  if (allocator.events_have_pools == 0) journal_->fact(io::journal::kEventPoolsFact, io::journal::kHidden);
}

StringId ObservedJournal::text(const char* text, StringId otherwise) {
  if (text == nullptr) return otherwise;
  return *text == 0 ? empty_ : journal_->text(text);
}

void ObservedJournal::event(int device, trace::TraceEvent event, const char* context, const char* metadata) {
  if (static_cast<size_t>(device) >= devices_.size()) return;
  Device& own = devices_[static_cast<size_t>(device)];
  event.time_us = own.times.microseconds(clock_, static_cast<uint64_t>(event.time_us));
  event.stack = stacks_(event.stack);
  event.context = text(context, no_context_);
  event.metadata = text(metadata, StringId());
  own.events.fetch_add(1, std::memory_order_relaxed);
  if (!own.is_told.load(std::memory_order_acquire)) {
    const std::lock_guard guard(own.lock);
    if (!own.is_told.load(std::memory_order_relaxed)) {
      own.held.push_back(event);
      return;
    }
  }
  journal_->event(device, event);
}

void ObservedJournal::region(std::string_view name, bool begins, int device, uint64_t time) {
  const StringId id = journal_->text(name);
  if (!id.is_none()) journal_->region(device, id, begins, region_times_.microseconds(clock_, time));
}

void ObservedJournal::begin_with(const ObservedState& state) {
  journal_->fact(io::journal::kSettingsFact, state.settings_text);
  journal_->fact(io::journal::kSettingsJsonFact, state.settings);
  for (size_t i = 0; i < devices_.size(); ++i) {
    Device& device = devices_[i];
    const std::lock_guard guard(device.lock);
    tell_state(static_cast<int>(i), state);
    for (const trace::TraceEvent& event : std::exchange(device.held, {}))
      journal_->event(static_cast<int>(i), event);
    device.is_told.store(true, std::memory_order_release);
  }
}

void ObservedJournal::tell_state(int device, const ObservedState& state) {
  std::vector<SegmentRecord> segments;
  std::vector<BlockRecord> blocks;
  for (const ObservedState::Segment& segment : state.segments) {
    const gpustrata_observed_segment& row = segment.row;
    if (row.device != device) continue;
    SegmentRecord range{};
    range.address = row.address;
    range.size = row.total_size;
    range.stream = row.stream;
    const trace::PoolKey pool = key_of(row.pool);
    range.graph_id = pool.graph_id;
    range.user_id = pool.user_id;
    range.stack = -1;
    range.pool_size = row.is_large != 0 ? SegmentSize::large : SegmentSize::small;
    range.expandable = row.is_expandable != 0 ? 1 : 0;
    segments.push_back(range);
    for (const gpustrata_observed_block& block : segment.blocks) {
      if (block.is_active == 0) continue;
      BlockRecord live{};
      live.address = block.address;
      live.size = block.size;
      live.requested_size = block.requested_size;
      live.stack = live.metadata = -1;
      live.pending = block.is_allocated == 0 ? 1 : 0;
      blocks.push_back(live);
    }
  }
  journal_->state(device, segments, blocks);
}

int64_t ObservedJournal::events(int device) const {
  const auto number = static_cast<size_t>(device);
  return number < devices_.size() ? devices_[number].events.load(std::memory_order_relaxed) : -1;
}

}  // namespace gpustrata::capture
