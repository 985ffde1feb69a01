#include "engine/replay/state_history.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "engine/replay/block_undo.h"
#include "engine/replay/range_undo.h"
#include "engine/replay/recorded_settings.h"

namespace gpustrata::replay {

using trace::Action;

DeviceRows rows_of(const model::Part& part, int32_t device) {
  if (device == kHostDevice) return {device, part.host_events, part.host_segments, part.clock};
  return {device, part.events_of(device), part.segments, part.clock};
}

StateHistory::StateHistory(Budget& budget)
    : blocks(budget),
      requested_size(budget),
      pending_from(budget),
      block_version(budget),
      block_source(budget),
      ranges(budget),
      range_version(budget),
      range_source(budget),
      range_stream(budget),
      range_pool(budget),
      expandable(budget),
      row_of_event(budget) {}

struct StateBuilder::Work {
  enum class Phase : uint8_t { read, sort, count, open, undo, settle, write, number, index, done };

  Work(const model::Recording& recording_, const DeviceRows& rows, const alloc::Config& config)
      : recording(recording_),
        history(recording.budget),
        ranges(recording, history),
        blocks(recording, history, ranges) {
    history.rows = rows;
    history.config = config;
  }

  // One piece of the work, of `most` events or blocks where the phase has pieces; returns how many it was worth.
  // False in `fits` = no memory.
  [[nodiscard]] int64_t advance(int64_t most, bool& fits);
  [[nodiscard]] bool undo(int32_t event);
  [[nodiscard]] int64_t pieces() const;  // of the phase; 0 = it has none

  const model::Recording& recording;
  StateHistory history;
  RangeUndo ranges;
  BlockUndo blocks;
  std::optional<SpanIndexer> indexer;  // of the last phase
  Phase phase = Phase::read;
  int64_t at = 0;  // of the phase: how many are done
};

bool StateBuilder::Work::undo(int32_t event) {
  const auto row = static_cast<size_t>(history.rows.events.first + event);
  const Action action = recording.events.action[row];
  const auto bytes = [&] { return bytes_of(recording.events.address[row], recording.events.size[row]); };
  switch (action) {
    case Action::alloc:
      return blocks.undo_alloc(event);
    case Action::free_requested:
      return blocks.undo_free_requested(event);
    case Action::free_completed:
    case Action::free:
      return blocks.undo_free_completed(event);
    case Action::segment_alloc:
    case Action::segment_map:
      blocks.close_within(bytes(), event);
      return ranges.undo_appearance(event, bytes(), action == Action::segment_map);
    case Action::segment_free:
    case Action::segment_unmap:
      blocks.close_within(bytes(), event);
      return ranges.undo_disappearance(event, bytes(), action == Action::segment_unmap);
    case Action::annotate:
      blocks.undo_annotate(event);
      return true;
    default:
      return true;
  }
}

int64_t StateBuilder::Work::pieces() const {
  if (phase == Phase::write) return static_cast<int64_t>(blocks.row_count());
  const bool by_event =
      phase == Phase::read || phase == Phase::count || phase == Phase::undo || phase == Phase::number;
  return by_event ? history.event_count() : 0;
}

int64_t StateBuilder::Work::advance(int64_t most, bool& fits) {
  const int64_t events = history.event_count();
  const int64_t all = pieces();
  const int64_t end = std::min(all, at + most);
  const auto from = static_cast<int32_t>(at), to = static_cast<int32_t>(end);
  switch (phase) {
    case Phase::read:
      fits = blocks.read_events(from, to);
      break;
    case Phase::sort:
      fits = history.row_of_event.resize(static_cast<size_t>(events), -1) && ranges.prepare() &&
             blocks.sort_addresses();
      break;
    case Phase::count:
      blocks.count_frees(from, to);
      break;
    case Phase::open:
      fits = blocks.open_final_blocks();
      break;
    case Phase::undo:
      for (int64_t done = at; done < end && fits; ++done)
        fits = undo(static_cast<int32_t>(events - 1 - done));
      break;
    case Phase::settle:
      fits = ranges.finish() && blocks.settle_all();
      break;
    case Phase::write:
      blocks.write_rows(static_cast<size_t>(at), static_cast<size_t>(end));
      break;
    case Phase::number:
      blocks.number_events(from, to);
      break;
    case Phase::index:
      if (!indexer) indexer.emplace(history.blocks, history.event_count());
      fits = indexer->step(most);
      if (!indexer->is_done()) return most;
      indexer.reset();
      break;
    case Phase::done:
      break;
  }
  const int64_t worth = std::max<int64_t>(end - at, 1);
  at = end;
  if (at >= all && phase != Phase::done) {
    phase = static_cast<Phase>(static_cast<int>(phase) + 1);
    at = 0;
  }
  // A phase without pieces ends the slice.
  return all == 0 ? most : worth;
}

StateBuilder::StateBuilder(const model::Recording& recording, const model::Part& part, int32_t device)
    : work_(std::make_unique<Work>(recording, rows_of(part, device),
                                   recorded_settings(recording.strings.view(part.settings_json)).config)) {}
StateBuilder::~StateBuilder() = default;
StateBuilder::StateBuilder(StateBuilder&&) noexcept = default;
StateBuilder& StateBuilder::operator=(StateBuilder&&) noexcept = default;

Result<bool> StateBuilder::step(int64_t work) {
  bool fits = true;
  while (work > 0 && work_->phase != Work::Phase::done && fits) work -= work_->advance(work, fits);
  if (fits) return work_->phase == Work::Phase::done;
  const Budget& budget = work_->recording.budget;
  return fail(ErrorCode::limit_exceeded, -1,
              "The state history of device {} ({} events) does not fit into memory: at least {} bytes in all "
              "would be needed, the limit is {}.",
              work_->history.rows.device, work_->history.event_count(),
              std::max(budget.needed(), budget.used()), budget.limit());
}

double StateBuilder::share() const {
  // Of a long trace, as measured; where the phases begin, and the end.
  constexpr double kBegin[] = {0, 0.08, 0.1, 0.12, 0.125, 0.72, 0.77, 0.84, 0.88, 1};
  const auto phase = static_cast<size_t>(work_->phase);
  if (work_->phase == Work::Phase::done) return 1;
  const int64_t pieces = work_->pieces();
  double done = pieces > 0 ? static_cast<double>(work_->at) / static_cast<double>(pieces) : 0;
  if (work_->indexer) done = work_->indexer->share();
  return kBegin[phase] + (kBegin[phase + 1] - kBegin[phase]) * done;
}

StateHistory StateBuilder::take() { return std::move(work_->history); }

Result<StateHistory> undo_to_start(const model::Recording& recording, const model::Part& part,
                                   int32_t device) {
  StateBuilder builder(recording, part, device);
  for (;;) {
    const auto done = builder.step(std::numeric_limits<int32_t>::max());
    if (!done) return tl::unexpected(done.error());
    if (*done) return builder.take();
  }
}

}  // namespace gpustrata::replay
