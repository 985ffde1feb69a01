#include "engine/replay/state_sketch.h"

#include <algorithm>
#include <limits>

#include "engine/replay/block_size.h"
#include "engine/replay/range_undo.h"
#include "engine/replay/recorded_settings.h"

namespace gpustrata::replay {

namespace {

using trace::Action;

// A block of the dump: its bytes.
struct FinalBlock {
  uint64_t address;
  int64_t size;
};

struct LiveBlock {
  uint64_t address;
  int32_t rank;
};

class Sketcher {
 public:
  Sketcher(const Device& device, int32_t event)
      : device_(device),
        recording_(device.recording),
        event_(std::clamp(event, -1, device.rows.events.count - 1)),
        sketch_(recording_.budget),
        live_(recording_.budget),
        final_(recording_.budget) {
    sketch_.history.rows = device.rows;
    sketch_.history.rows.events.count = 0;
    sketch_.history.config = recorded_settings(recording_.strings.view(device.part.settings_json)).config;
  }

  [[nodiscard]] Result<StateSketch> run() {
    if (find_ranges() && find_live() && find_final() && add_blocks() && sketch_.history.blocks.index(0))
      return std::move(sketch_);
    return fail(ErrorCode::limit_exceeded, -1,
                "A sketch of the state does not fit into memory: the limit is {} bytes.",
                recording_.budget.limit());
  }

 private:
  // Only events of segments are undone, and only those after the moment.
  [[nodiscard]] bool find_ranges() {
    StateHistory undone(recording_.budget);
    undone.rows = device_.rows;
    const int32_t count = undone.event_count();
    RangeUndo ranges(recording_, undone);
    if (!undone.row_of_event.resize(static_cast<size_t>(count), -1) || !ranges.prepare()) return false;
    for (int32_t event = count - 1; event > event_; --event) {
      const auto row = static_cast<size_t>(device_.rows.events.first + event);
      const Action action = recording_.events.action[row];
      const bool mapped = action == Action::segment_map, unmapped = action == Action::segment_unmap;
      const auto bytes = [&] {
        return bytes_of(recording_.events.address[row], recording_.events.size[row]);
      };
      if (mapped || action == Action::segment_alloc) {
        if (!ranges.undo_appearance(event, bytes(), mapped)) return false;
      } else if (unmapped || action == Action::segment_free) {
        if (!ranges.undo_disappearance(event, bytes(), unmapped)) return false;
      }
    }
    return ranges.write_open(sketch_.history);
  }

  [[nodiscard]] bool find_live() {
    const BlockLives& lives = device_.lives;
    for (int32_t rank = 0; rank < lives.count(); ++rank) {
      if (lives.is_live_after(rank, event_) && !live_.push_back({lives.address(recording_, rank), rank}))
        return false;
    }
    std::sort(live_.data(), live_.data() + live_.size(), [](const LiveBlock& a, const LiveBlock& b) {
      return a.address != b.address ? a.address < b.address : a.rank < b.rank;
    });
    return true;
  }

  [[nodiscard]] bool find_final() {
    const model::SegmentTable& segments = recording_.segments;
    const model::BlockTable& blocks = recording_.blocks;
    const model::RowRange all = device_.rows.segments;
    for (int32_t segment = all.first; segment < all.end(); ++segment) {
      if (segments.device[segment] != device_.ordinal() && device_.ordinal() != kHostDevice) continue;
      for (int32_t row = segments.blocks[segment].first; row < segments.blocks[segment].end(); ++row) {
        const bool is_active = blocks.state[row] == model::BlockState::active_allocated ||
                               blocks.state[row] == model::BlockState::active_pending_free;
        if (is_active && !final_.push_back({blocks.address[row], blocks.size[row]})) return false;
      }
    }
    std::sort(final_.data(), final_.data() + final_.size(),
              [](const FinalBlock& a, const FinalBlock& b) { return a.address < b.address; });
    return true;
  }

  // Bytes of a live block, at most `room`.
  [[nodiscard]] int64_t size_of(const LiveBlock& block, int64_t requested, int64_t room) const {
    const auto rank = static_cast<size_t>(block.rank);
    if (device_.lives.freed[rank] == device_.rows.events.count) {
      const FinalBlock* found =
          std::lower_bound(final_.begin(), final_.end(), block.address,
                           [](const FinalBlock& one, uint64_t address) { return one.address < address; });
      if (found != final_.end() && found->address == block.address) return std::min(found->size, room);
    }
    return block_size(sketch_.history, requested, room, is_in_plain_segment(block.address));
  }

  // Index of the range that holds the address, -1 = none.
  [[nodiscard]] int32_t range_around(uint64_t address) const {
    const SpanHistory& ranges = sketch_.history.ranges;
    const auto above = std::upper_bound(ranges.address.begin(), ranges.address.end(), address);
    const auto range = static_cast<int32_t>(above - ranges.address.begin()) - 1;
    return range >= 0 && address <= ranges.last_byte(range) ? range : -1;
  }
  [[nodiscard]] bool is_in_plain_segment(uint64_t address) const {
    const int32_t range = range_around(address);
    return range >= 0 && sketch_.history.expandable[range] == 0;
  }

  // Bytes to the next live block, to the end of a segment that is not expandable, or to that of all addresses.
  [[nodiscard]] int64_t room_of(size_t i) const {
    const uint64_t address = live_[i].address;
    uint64_t room = std::numeric_limits<uint64_t>::max() - address;
    if (i + 1 < live_.size()) room = std::min(room, live_[i + 1].address - address);
    if (const int32_t range = range_around(address); range >= 0) {
      if (sketch_.history.expandable[range] == 0)
        room = std::min(room, sketch_.history.ranges.last_byte(range) - address + 1);
    }
    return static_cast<int64_t>(std::min(room, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
  }

  [[nodiscard]] bool add_blocks() {
    const BlockLives& lives = device_.lives;
    StateHistory& out = sketch_.history;
    for (size_t i = 0; i < live_.size(); ++i) {
      const LiveBlock& block = live_[i];
      const int64_t requested = lives.size[block.rank];
      const int64_t size = size_of(block, requested, room_of(i));
      if (size <= 0) continue;  // two at one address
      const int32_t asked = lives.requested(recording_, block.rank);
      const bool is_pending = asked >= 0 && asked <= event_;
      if (!out.blocks.address.push_back(block.address) || !out.blocks.size.push_back(size) ||
          !out.blocks.begin.push_back(-1) || !out.blocks.end.push_back(0) ||
          !out.requested_size.push_back(requested) || !out.pending_from.push_back(is_pending ? -1 : 0) ||
          !out.block_version.push_back(lives.version[block.rank]) || !out.block_source.push_back(-1) ||
          !sketch_.rank_of_block.push_back(block.rank)) {
        return false;
      }
    }
    return true;
  }

  const Device& device_;
  const model::Recording& recording_;
  const int32_t event_;
  StateSketch sketch_;
  Column<LiveBlock> live_;    // by address
  Column<FinalBlock> final_;  // by address
};

}  // namespace

Result<StateSketch> sketch_state(const Device& device, int32_t event) {
  return Sketcher(device, event).run();
}

}  // namespace gpustrata::replay
