#include "engine/session/view.h"

#include <algorithm>

#include "engine/analysis/findings/oom_events.h"
#include "engine/analysis/report/summary.h"
#include "engine/analysis/stacks/no_stack_reasons.h"
#include "engine/model/processor.h"
#include "engine/replay/chosen_bands.h"

namespace gpustrata::session {

using replay::Axis;

namespace {
constexpr size_t kMaxOomEvents = 1000;
}  // namespace

View::View(std::shared_ptr<Device> device, Bands bands)
    : device_(std::move(device)),
      kind_(bands),
      budget_(device_->recording().budget),
      bands_(&device_->lives()),
      made_in_version_(device_->made_in_version()) {}

Status View::choose(std::string_view only) {
  if (pools_)
    return fail(ErrorCode::wrong_usage, -1, "private pools keep what they keep: choose among blocks");
  auto meant = device_->memo().with_room([&] { return find_filtered(only); });
  if (!meant) return tl::unexpected(meant.error());
  const replay::BlockLives* const blocks = segments_ ? nullptr : &device_->lives();
  auto found = replay::chosen_bands(*bands_, blocks, meant->matches.matched.span(), budget_);
  if (!found) return tl::unexpected(found.error());
  bands_ = &chosen_.emplace(std::move(*found));
  only_.emplace(std::move(*meant));
  only_->at_peak = chosen_->peak_level;
  return {};
}

Result<std::unique_ptr<View>> View::open(std::shared_ptr<Device> device, Bands bands, std::string_view only) {
  std::unique_ptr<View> view(new View(std::move(device), bands));
  Device& of = *view->device_;
  if (bands == Bands::segments) {
    const auto history = of.history();
    if (!history) return tl::unexpected(history.error());
    auto found = replay::segment_bands(of.recording(), **history);
    if (!found) return tl::unexpected(found.error());
    view->bands_ = &view->segments_.emplace(std::move(*found));
  }
  if (bands == Bands::pools) {
    const auto known = of.attributes();
    if (!known) return tl::unexpected(known.error());
    auto found = replay::pool_bands(of.recording(), of.part(), of.lives(), (*known)->pool.span(),
                                    (*known)->stream.span());
    if (!found) return tl::unexpected(found.error());
    view->bands_ = &view->pools_.emplace(std::move(*found));
  }
  if (only.find_first_not_of(" \t\n\r") != std::string_view::npos) {
    if (Status chosen = view->choose(only); !chosen) return tl::unexpected(chosen.error());
  }
  auto timeline = replay::Timeline::build(of.recording(), *view->bands_);
  if (!timeline) return tl::unexpected(timeline.error());
  view->timeline_.emplace(std::move(*timeline));
  return view;
}

ViewInfo View::info() const {
  const model::EventTable& events = recording().events;
  const replay::Bands& lives = *bands_;
  ViewInfo info;
  info.bands = kind_;
  info.device = lives.device;
  info.events = lives.events.count;
  info.blocks = ranked().count();
  info.from_start = segments_ ? segments_->from_start : device_->lives().from_start;
  if (only_) {
    const std::span<const int32_t> ranks = only_->matches.ranks.span();
    info.blocks = static_cast<int64_t>(ranks.size());
    info.from_start = std::count_if(ranks.begin(), ranks.end(),
                                    [&](int32_t rank) { return lives.is_live_after(rank, -1); });
  }
  if (pools_) info.pools = static_cast<int64_t>(pools_->envelopes.size());
  info.peak_bytes = lives.peak_level;
  info.peak_event = lives.peak_event;
  info.initial_bytes = lives.initial_level;
  info.final_bytes = lives.final_level;
  info.reserved_peak = lives.reserved.initial;
  for (const int64_t value : lives.reserved.value) info.reserved_peak = std::max(info.reserved_peak, value);
  info.reserved_final = lives.reserved.at(lives.events.count - 1);
  info.extent_events = timeline_->extent(Axis::event);
  if (const int64_t time = timeline_->extent(Axis::time); time > 0) info.extent_us = time;
  for (int32_t event = 0; event < lives.events.count; ++event) {
    const auto row = static_cast<size_t>(lives.events.first + event);
    info.has_stacks =
        info.has_stacks || (!events.stack[row].is_none() && recording().stacks.leaf(events.stack[row]) >= 0);
  }
  info.has_history = analysis::has_history(recording(), lives.events);
  info.oom_events = analysis::find_oom_events(recording(), lives.events, kMaxOomEvents).events;
  info.capacity = analysis::capacity_at_last_oom(recording(), lives);
  for (int32_t event = 0; event < lives.events.count && !info.first_time_us; ++event)
    info.first_time_us = time_of(event);
  for (int32_t event = lives.events.count - 1; event >= 0 && !info.last_time_us; --event)
    info.last_time_us = time_of(event);
  const model::Part& snapshot = device_->part();
  info.has_stacks = info.has_stacks || analysis::any_block_has_frames(recording(), snapshot, lives.device);
  for (int32_t row = snapshot.segments.first; row < snapshot.segments.end(); ++row)
    info.segments += recording().segments.device[row] == lives.device ? 1 : 0;
  info.is_processor = model::is_of_processor(snapshot);
  info.has_ops = snapshot.kind == model::PartKind::trace;
  info.has_series = std::any_of(recording().parts.begin(), recording().parts.end(),
                                [](const model::Part& part) { return part.series.count > 0; });
  if (!snapshot.settings_json.is_none())
    info.settings_json = recording().strings.view(snapshot.settings_json);
  return info;
}

int32_t View::rank_count() const {
  const size_t envelopes = pools_ ? pools_->envelopes.size() : 0;
  return ranked().count() + static_cast<int32_t>(envelopes);
}

model::Diagnostics View::diagnostics() const {
  model::Diagnostics diagnostics = recording().diagnostics;
  // Pools tell what their blocks told, and more; segments come from the states.
  const replay::Bands& of_blocks = pools_ ? static_cast<const replay::Bands&>(*pools_) : device_->lives();
  analysis::add_device_diagnostics(diagnostics, recording(), of_blocks);
  if (segments_) diagnostics.add_all(segments_->diagnostics);
  return diagnostics;
}

const replay::PoolEnvelope* View::envelope(int32_t rank) const {
  const int32_t blocks = ranked().count();
  return pools_ && rank >= blocks ? &pools_->envelopes[static_cast<size_t>(rank - blocks)] : nullptr;
}

int32_t View::band_of(int32_t rank) const {
  if (!pools_) return rank;
  const replay::PoolEnvelope* pool = envelope(rank);
  return pool != nullptr ? pool->first_band : pools_->band_of_rank[rank];
}

int32_t View::rank_of(int32_t band) const {
  return pools_ && band >= 0 ? pools_->rank_of_band[static_cast<size_t>(band)] : band;
}

Result<const analysis::BlockAttributes*> View::attributes() {
  if (kind_ != Bands::segments) return device_->attributes();
  const auto found = kept<analysis::BlockAttributes>("", [&]() -> Result<analysis::BlockAttributes> {
    const auto history = device_->history();
    if (!history) return tl::unexpected(history.error());
    return analysis::segment_attributes(recording(), device_->part(), **history,
                                        segments_->range_of_rank.span());
  });
  if (!found) return tl::unexpected(found.error());
  return *found;
}

Result<Column<int32_t>> View::live_at(int32_t event) const {
  Column<int32_t> live(budget_);
  if (!timeline_->live_at(event, live))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to list what is in use");
  if (!pools_) return live;
  size_t blocks = 0;
  for (const int32_t band : live) {
    const int32_t rank = rank_of(band);
    if (rank < ranked().count()) live[blocks++] = rank;
  }
  live.truncate(blocks);
  return live;
}

std::optional<int64_t> View::time_of(int32_t event) const {
  if (event < 0 || event >= bands_->events.count) return std::nullopt;
  return bands_->clock.microseconds(recording().events.time[bands_->events.first + event]);
}

int64_t View::position(Axis axis, int32_t event) const { return timeline_->position(axis, event); }

void View::next_question() {
  device_->memo().next_question();
  if (made_in_version_ == device_->made_in_version()) return;
  made_in_version_ = device_->made_in_version();
  device_->memo().forget(this);
}

}  // namespace gpustrata::session
