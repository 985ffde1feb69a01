#include "capture/front/journaled_device.h"

namespace gpustrata::capture {

using io::journal::BlockRecord;
using io::journal::SegmentRecord;
using io::journal::SegmentSize;

void KeptJournal::note_text(StringId id, std::string_view text) {
  if (id.is_none()) return;
  const StringId told = journal->text(text);
  const std::lock_guard guard(texts_lock_);
  if (id.index() >= texts_.size()) texts_.resize(id.index() + 1);
  texts_[id.index()] = told;
}

StringId KeptJournal::text(StringId id) {
  if (id.is_none()) return {};
  const std::lock_guard guard(texts_lock_);
  return id.index() < texts_.size() ? texts_[id.index()] : StringId();
}

void KeptJournal::tell_state(int device, const alloc::MemoryState& state) {
  std::vector<SegmentRecord> segments;
  std::vector<BlockRecord> blocks;
  for (const alloc::SegmentId id : state.segments()) {
    const alloc::Segment& segment = state.segment(id);
    bool goes_on = false;  // the mapped range before the block
    for (alloc::BlockId at = segment.first; !at.is_none(); at = state.block(at).next) {
      const alloc::Block& block = state.block(at);
      if (block.mapped && !goes_on) {
        SegmentRecord range{};
        range.address = block.address;
        range.stream = segment.stream;
        range.graph_id = segment.pool.graph_id;
        range.user_id = segment.pool.user_id;
        range.stack = stacks(segment.stack).value;
        range.pool_size = segment.small ? SegmentSize::small : SegmentSize::large;
        range.expandable = segment.expandable ? 1 : 0;
        segments.push_back(range);
      }
      goes_on = block.mapped;
      if (block.mapped) segments.back().size += block.size;
      if (!block.is_active()) continue;
      BlockRecord live{};
      live.address = block.address;
      live.size = block.size;
      live.requested_size = block.requested_size;
      live.stack = stacks(block.stack).value;
      live.metadata = text(block.metadata).value;
      live.pending = block.state == alloc::BlockState::active_pending_free ? 1 : 0;
      blocks.push_back(live);
    }
  }
  journal->state(device, segments, blocks);
}

void JournaledDevice::tell_newest(trace::Action action) {
  const trace::RecordSettings& settings = recorder_.settings();
  const auto& events = history_.events();
  if (journal_ == nullptr || !settings.enabled || settings.skips(action) || events.size() == 0) return;
  trace::TraceEvent event = events[events.size() - 1];
  event.stack = journal_->stacks(event.stack);
  event.context = journal_->text(event.context);
  event.metadata = journal_->text(event.metadata);
  journal_->journal->event(device_, event);
}

}  // namespace gpustrata::capture
