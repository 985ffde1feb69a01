#include "engine/session/state_view.h"

#include <utility>

#include "engine/analysis/report/summary.h"
#include "engine/replay/links.h"
#include "engine/session/state_view_parts.h"

namespace gpustrata::session {

StateView::StateView(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
StateView::~StateView() = default;

std::unique_ptr<StateView> StateView::open(const replay::Device& device, const replay::StateHistory& history,
                                           const analysis::DeviceIndex& index) {
  auto parts = std::make_unique<Parts>(device, history, index);
  return std::unique_ptr<StateView>(new StateView(std::move(parts)));
}

analysis::EventContext StateView::context() const { return parts_->context(); }
const replay::MemoryAt& StateView::memory() const { return parts_->memory; }

analysis::StateInfo StateView::info(int32_t peak_event) const {
  const Parts& p = *parts_;
  analysis::StateInfo info{
      p.history.event_count(), p.history.blocks.count(), p.history.ranges.count(), peak_event, 0, 0, 0, {}};
  const model::RowRange rows = p.history.rows.events;
  for (int32_t row = rows.first; row < rows.end(); ++row) {
    const trace::Action action = p.recording.events.action[row];
    info.oom_events += action == trace::Action::oom;
    info.snapshot_events += action == trace::Action::snapshot;
    info.annotate_events += action == trace::Action::annotate;
  }
  info.findings = analysis::findings(p.history.diagnostics);
  return info;
}

const replay::StateHistory& StateView::history() const { return parts_->history; }

std::optional<analysis::EventDetails> StateView::event_details(int32_t event) const {
  if (event < 0 || event >= parts_->history.event_count()) return std::nullopt;
  return analysis::event_details(context(), event);
}

Result<int32_t> StateView::find_event(std::string_view action, int32_t from, bool backwards) const {
  const auto wanted = trace::action_of(action);
  if (!wanted) return fail(ErrorCode::wrong_usage, -1, "there is no action \"{}\"", action.substr(0, 40));
  return analysis::find_event(parts_->recording, parts_->history, *wanted, from, backwards);
}

Result<analysis::MemoryTotals> StateView::totals(int32_t event) {
  if (const Status there = parts_->go_to(event); !there) return tl::unexpected(there.error());
  return analysis::memory_totals(context(), parts_->memory);
}

Result<replay::StateRects> StateView::layout(int32_t event, const replay::StateWindow& window,
                                             const replay::BandColours* colours, uint32_t unranked) {
  Parts& p = *parts_;
  if (const Status there = p.go_to(event, true); !there) return tl::unexpected(there.error());
  if (colours == nullptr) return p.layout.rects(p.memory, window);
  if (const Status ranked = rank_blocks(); !ranked) return tl::unexpected(ranked.error());
  const replay::StatePaint paint{*colours, p.rank_of_block.span(), unranked};
  return p.layout.rects(p.memory, window, &paint);
}

Result<replay::StateLayout::Hit> StateView::pick(int32_t event, const replay::StateWindow& window, double x,
                                                 double y) {
  if (const Status there = parts_->go_to(event, true); !there) return tl::unexpected(there.error());
  return parts_->layout.hit(parts_->memory, window, x, y);
}

Result<analysis::StateBlock> StateView::block(int32_t event, int32_t block) {
  if (const Status exists = check_block(block); !exists) return tl::unexpected(exists.error());
  if (const Status there = parts_->go_to(event); !there) return tl::unexpected(there.error());
  return analysis::state_block(context(), parts_->memory, block);
}

Result<std::optional<analysis::StateSegment>> StateView::segment(int32_t event, int32_t range) {
  if (range < 0 || range >= parts_->history.ranges.count())
    return fail(ErrorCode::wrong_usage, -1, "there is no segment {}", range);
  if (const Status there = parts_->go_to(event); !there) return tl::unexpected(there.error());
  return analysis::state_segment(context(), parts_->memory, range);
}

Result<analysis::AddressOwner> StateView::owner(int32_t event, uint64_t address) {
  if (const Status there = parts_->go_to(event); !there) return tl::unexpected(there.error());
  return analysis::find_owner(context(), parts_->memory, address);
}

Result<std::optional<analysis::StatePlace>> StateView::place(int32_t event, int32_t block,
                                                             const replay::StateWindow& window) {
  Parts& p = *parts_;
  if (const Status exists = check_block(block); !exists) return tl::unexpected(exists.error());
  if (const Status there = p.go_to(event, true); !there) return tl::unexpected(there.error());
  const auto segments = p.memory.segments();
  for (size_t i = 0; i < segments.size(); ++i) {
    for (const replay::BlockAt& one : p.memory.blocks_of(segments[i])) {
      if (one.row != block) continue;
      const auto place = p.layout.place_of(p.memory, static_cast<int32_t>(i), window);
      const double scale = place.width / static_cast<double>(segments[i].size);
      return analysis::StatePlace{place.x,
                                  place.y,
                                  place.width,
                                  place.height,
                                  place.x + static_cast<double>(one.address - segments[i].address) * scale,
                                  static_cast<double>(one.size) * scale};
    }
  }
  return std::optional<analysis::StatePlace>();
}

int32_t StateView::block_of_rank(int32_t rank) const {
  if (rank < 0 || rank >= parts_->device.lives.count()) return -1;
  return replay::block_of_rank(parts_->history, parts_->device.lives, rank);
}

Status StateView::check_block(int32_t block) const {
  if (block >= 0 && block < parts_->history.blocks.count()) return {};
  return fail(ErrorCode::wrong_usage, -1, "there is no block {}", block);
}

Status StateView::rank_blocks() {
  Parts& p = *parts_;
  if (p.are_ranked) return {};
  if (!replay::rank_blocks(p.recording, p.history, p.device.lives, p.rank_of_block)) return p.no_memory();
  p.are_ranked = true;
  return {};
}

Result<int32_t> StateView::rank_of_block(int32_t block) {
  if (const Status exists = check_block(block); !exists) return tl::unexpected(exists.error());
  if (const Status ranked = rank_blocks(); !ranked) return tl::unexpected(ranked.error());
  return parts_->rank_of_block[static_cast<size_t>(block)];
}

Result<std::vector<int32_t>> StateView::ranks_of(const replay::StateRects& rects) {
  if (const Status ranked = rank_blocks(); !ranked) return tl::unexpected(ranked.error());
  std::vector<int32_t> ranks(rects.row.size(), -1);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (rects.row[i] < 0 || rects.kind[i] == static_cast<uint8_t>(replay::StateKind::segment)) continue;
    ranks[i] = parts_->rank_of_block[static_cast<size_t>(rects.row[i])];
  }
  return ranks;
}

}  // namespace gpustrata::session
