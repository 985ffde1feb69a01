#include "engine/replay/chosen_bands.h"

#include <algorithm>

namespace gpustrata::replay {

namespace {

[[nodiscard]] bool copy_steps(const StepSeries& from, StepSeries& to) {
  to.initial = from.initial;
  return to.event.reserve(from.event.size()) && to.event.append(from.event.span()) &&
         to.value.reserve(from.value.size()) && to.value.append(from.value.span());
}

// Levels from what each event changes.
[[nodiscard]] bool sum_levels(Bands& bands) {
  if (!bands.level.resize(static_cast<size_t>(std::max(bands.events.count, 0)), 0)) return false;
  for (int32_t band = 0; band < bands.count(); ++band) {
    const int64_t size = bands.size[band];
    const int32_t born = bands.born[band];
    const int32_t freed = bands.freed[band];
    if (born >= freed) continue;
    if (born < 0) bands.initial_level += size;
    if (born >= 0 && born < bands.events.count) bands.level[born] += size;
    if (freed >= 0 && freed < bands.events.count) bands.level[freed] -= size;
  }
  int64_t level = bands.initial_level;
  bands.peak_level = level;
  for (int32_t event = 0; event < bands.events.count; ++event) {
    level += bands.level[event];
    bands.level[event] = level;
    if (level <= bands.peak_level) continue;
    bands.peak_level = level;
    bands.peak_event = event;
  }
  bands.final_level = level;
  return true;
}

struct PendingChange {
  int32_t event;
  int64_t change;
};

[[nodiscard]] bool sum_pending(const BlockLives& blocks, Bands& bands, Budget& budget) {
  Column<PendingChange> steps(budget);
  for (const BlockLives::Request& request : blocks.early_requests) {
    const int64_t size = bands.size[request.rank];
    const int32_t freed = bands.freed[request.rank];
    if (bands.born[request.rank] >= freed) continue;
    if (request.event < 0) {
      bands.pending.initial += size;
    } else if (!steps.push_back({std::min(request.event, bands.events.count - 1), size})) {
      return false;
    }
    if (freed < bands.events.count && !steps.push_back({freed, -size})) return false;
  }
  std::sort(steps.data(), steps.data() + steps.size(),
            [](const PendingChange& a, const PendingChange& b) { return a.event < b.event; });
  int64_t pending = bands.pending.initial;
  for (size_t i = 0; i < steps.size(); ++i) {
    pending += steps[i].change;
    const bool is_last = i + 1 == steps.size() || steps[i + 1].event != steps[i].event;
    if (is_last &&
        (!bands.pending.event.push_back(steps[i].event) || !bands.pending.value.push_back(pending)))
      return false;
  }
  return true;
}

}  // namespace

Result<Bands> chosen_bands(const Bands& all, const BlockLives* blocks, std::span<const uint8_t> chosen,
                           Budget& budget) {
  Bands bands(budget);
  bands.clock = all.clock;
  bands.device = all.device;
  bands.events = all.events;
  const auto count = static_cast<size_t>(all.count());
  bool fits = bands.size.reserve(count) && bands.size.append(all.size.span()) && bands.born.reserve(count) &&
              bands.born.append(all.born.span()) && bands.freed.reserve(count) &&
              bands.freed.append(all.freed.span()) && copy_steps(all.reserved, bands.reserved);
  for (size_t band = 0; fits && band < count; ++band) {
    if (chosen[band] == 0) bands.born[band] = bands.freed[band] = -1;
  }
  fits = fits && sum_levels(bands) && (blocks == nullptr || sum_pending(*blocks, bands, budget));
  if (!fits)
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to stack some of {} blocks", all.count());
  return bands;
}

}  // namespace gpustrata::replay
