#include "tests/property/timeline_twin.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace gpustrata::replay {

namespace {

using trace::Action;

bool ends_block(Action action, bool requests_only) {
  return action == Action::free_completed || action == Action::free ||
         (requests_only && action == Action::free_requested);
}

// Exact even for the sums of hostile sizes.
int64_t clamped(__int128 bytes) {
  if (bytes < 0) return 0;
  return bytes > kMaxLevel ? kMaxLevel : static_cast<int64_t>(bytes);
}

}  // namespace

Twin::Twin(const model::Recording& recording, const model::Part& part, int32_t device) {
  const model::RowRange range = part.events_of(device);
  events = range.count;
  std::vector<Action> action;
  std::vector<uint64_t> address;
  std::vector<int64_t> size, time_us;
  for (int32_t row = range.first; row < range.end(); ++row) {
    const auto i = static_cast<size_t>(row);
    action.push_back(recording.events.action[i]);
    address.push_back(recording.events.address[i]);
    size.push_back(recording.events.size[i]);
    time_us.push_back(recording.events.time[i]);
  }
  const bool any_end =
      std::any_of(action.begin(), action.end(), [](Action a) { return ends_block(a, false); });
  const bool requests_only = !any_end;
  const size_t n = action.size();

  const auto waits_to_the_end = [&](size_t i) {
    for (size_t later = i + 1; later < n; ++later) {
      if (address[later] == address[i] &&
          (action[later] == Action::alloc || action[later] == Action::free_requested))
        return false;
    }
    for (int32_t s = part.segments.first; s < part.segments.end(); ++s) {
      if (recording.segments.device[static_cast<size_t>(s)] != device) continue;
      const model::RowRange rows = recording.segments.blocks[static_cast<size_t>(s)];
      for (int32_t row = rows.first; row < rows.end(); ++row) {
        if (recording.blocks.address[static_cast<size_t>(row)] == address[i] &&
            recording.blocks.state[static_cast<size_t>(row)] == model::BlockState::active_pending_free)
          return true;
      }
    }
    return false;
  };

  // Blocks.
  std::vector<TwinBlock> allocs, older;
  std::map<uint64_t, uint32_t> frees;
  std::map<uint64_t, size_t> open;
  for (size_t i = 0; i < n; ++i) {
    const auto event = static_cast<int32_t>(i);
    if (action[i] == Action::alloc) {
      if (open.count(address[i]) != 0) allocs[open[address[i]]].freed = event;
      open[address[i]] = allocs.size();
      allocs.push_back({address[i], size[i], event, events, frees[address[i]], -1});
    } else if (ends_block(action[i], requests_only)) {
      if (requests_only && open.count(address[i]) != 0 && waits_to_the_end(i)) continue;
      if (open.count(address[i]) != 0) {
        allocs[open[address[i]]].freed = event;
        open.erase(address[i]);
      } else {
        older.push_back({address[i], size[i], -1, event, frees[address[i]], -1});
      }
      ++frees[address[i]];
    }
  }
  __int128 segment_bytes = 0;
  for (int32_t s = part.segments.first; s < part.segments.end(); ++s) {
    if (recording.segments.device[static_cast<size_t>(s)] != device) continue;
    segment_bytes += recording.segments.total_size[static_cast<size_t>(s)];
    const model::RowRange rows = recording.segments.blocks[static_cast<size_t>(s)];
    for (int32_t row = rows.first; row < rows.end(); ++row) {
      const auto i = static_cast<size_t>(row);
      const uint64_t where = recording.blocks.address[i];
      if (recording.blocks.state[i] != model::BlockState::active_allocated || open.count(where) != 0)
        continue;
      const int64_t requested = recording.blocks.requested_size[i];
      older.push_back(
          {where, requested < 0 ? recording.blocks.size[i] : requested, -1, events, frees[where], row});
    }
  }
  for (TwinBlock& block : older) {
    if (initial_level + static_cast<__int128>(block.size) > kMaxLevel) block.size = 0;
    initial_level += block.size;
  }
  blocks.assign(older.rbegin(), older.rend());
  blocks.insert(blocks.end(), allocs.begin(), allocs.end());

  // Levels, block by block per event.
  std::vector<std::vector<size_t>> ends_at(n + 1);
  for (size_t rank = 0; rank < blocks.size(); ++rank)
    ends_at[static_cast<size_t>(blocks[rank].freed)].push_back(rank);
  int64_t now = initial_level;
  size_t next = older.size();
  for (size_t i = 0; i < n; ++i) {
    for (const size_t rank : ends_at[i]) now -= blocks[rank].size;
    if (action[i] == Action::alloc) {
      TwinBlock& block = blocks[next++];
      if (now + static_cast<__int128>(block.size) > kMaxLevel) block.size = 0;
      now += block.size;
    }
    level.push_back(now);
  }

  // Pending: every block looks for the first request of its life that is not completed at once.
  std::vector<int64_t> change(n + 1, 0);
  const auto is_asked_before = [&](int32_t end) {
    for (int32_t e = end - 1; e >= 0; --e) {
      const auto i = static_cast<size_t>(e);
      if (address[i] != address[static_cast<size_t>(end)]) continue;
      if (action[i] == Action::free_requested) return true;
      if (action[i] == Action::alloc || ends_block(action[i], false)) return false;
    }
    return false;
  };
  const auto is_completed_unasked = [&](const TwinBlock& block) {
    return block.freed < events && action[static_cast<size_t>(block.freed)] == Action::free_completed &&
           !is_asked_before(block.freed);
  };
  // Requests are lost only where they are written.
  const bool writes_requests =
      std::any_of(action.begin(), action.end(),
                  [](Action a) { return a == Action::free_requested || a == Action::free; }) ||
      std::none_of(allocs.begin(), allocs.end(), is_completed_unasked);
  for (const TwinBlock& block : blocks) {
    if (block.born >= 0 || !writes_requests || !is_completed_unasked(block)) continue;
    bool is_first = true;  // use of the address
    for (int32_t e = 0; e < block.freed; ++e) {
      const auto i = static_cast<size_t>(e);
      is_first = is_first && !(address[i] == block.address &&
                               (action[i] == Action::alloc || ends_block(action[i], false)));
    }
    if (!is_first) continue;
    initial_pending += block.size;
    change[static_cast<size_t>(block.freed)] -= block.size;
  }
  // Blocks that wait in the end, though nobody asked.
  std::set<uint64_t> waiting_in_the_end;
  for (int32_t s = part.segments.first; s < part.segments.end(); ++s) {
    if (recording.segments.device[static_cast<size_t>(s)] != device) continue;
    const model::RowRange rows = recording.segments.blocks[static_cast<size_t>(s)];
    for (int32_t row = rows.first; row < rows.end(); ++row) {
      const auto i = static_cast<size_t>(row);
      const auto found = open.find(recording.blocks.address[i]);
      if (recording.blocks.state[i] != model::BlockState::active_pending_free || found == open.end() ||
          !waiting_in_the_end.insert(found->first).second) {
        continue;
      }
      const TwinBlock& block = blocks[older.size() + found->second];
      bool is_asked = false;
      for (int32_t e = block.born + 1; e < events; ++e) {
        const auto j = static_cast<size_t>(e);
        is_asked =
            is_asked || (action[j] == Action::free_requested && address[j] == recording.blocks.address[i]);
      }
      if (!is_asked) change[n - 1] += block.size;
    }
  }
  for (const TwinBlock& block : blocks) {
    if ((requests_only && block.freed < events) || block.source >= 0) continue;
    // An older block's request is one after the last use of its address by another block.
    int32_t from = block.born;
    if (from < 0) {
      for (int32_t e = block.freed - 1; e >= 0; --e) {
        const auto i = static_cast<size_t>(e);
        if (address[i] == block.address && (action[i] == Action::alloc || ends_block(action[i], false))) {
          from = e;
          break;
        }
      }
    }
    for (int32_t e = from + 1; e < block.freed; ++e) {
      const auto i = static_cast<size_t>(e);
      if (action[i] != Action::free_requested || address[i] != block.address) continue;
      if (i + 1 < n && address[i + 1] == block.address && ends_block(action[i + 1], false)) continue;
      change[i] += block.size;
      change[static_cast<size_t>(block.freed)] -= block.size;
      break;
    }
  }
  int64_t waiting = initial_pending;
  for (size_t i = 0; i < n; ++i) pending.push_back(waiting += change[i]);

  // Reserved.
  const auto growth = [&](size_t i) -> int64_t {
    if (action[i] == Action::segment_alloc || action[i] == Action::segment_map) return size[i];
    if (action[i] == Action::segment_free || action[i] == Action::segment_unmap) return -size[i];
    return 0;
  };
  __int128 before = segment_bytes;
  for (size_t i = 0; i < n; ++i) before -= growth(i);
  initial_reserved = clamped(before);
  int64_t held = initial_reserved;
  for (size_t i = 0; i < n; ++i) reserved.push_back(held = clamped(static_cast<__int128>(held) + growth(i)));

  // Times: the latest so far, from the first that there is.
  std::optional<__int128> base, latest;
  for (size_t i = 0; i < n; ++i) {
    if (time_us[i] != model::kNoTime) {
      if (!base) base = latest = time_us[i];
      latest = std::max(*latest, static_cast<__int128>(time_us[i]));
    }
    const __int128 position = base ? *latest - *base : 0;
    time.push_back(static_cast<int64_t>(std::min(position, (static_cast<__int128>(1) << 53) - 1)));
  }
  has_times = base.has_value();
}

std::vector<int32_t> Twin::live_after(int32_t event) const {
  std::vector<int32_t> ranks;
  for (size_t rank = 0; rank < blocks.size(); ++rank) {
    if (blocks[rank].born <= event && event < blocks[rank].freed) ranks.push_back(static_cast<int32_t>(rank));
  }
  return ranks;
}

TwinColumn Twin::column(Axis axis, int64_t k, int64_t width) const {
  const __int128 left = static_cast<__int128>(k) * width;
  const __int128 right = left + width;
  const bool by_time = axis == Axis::time;
  const int64_t extent = by_time ? (has_times ? time.back() + 1 : 0) : std::max(events, 1);
  if (width < 1 || right <= 0 || left >= extent) return {};

  TwinColumn shown;
  int32_t before = -1;
  bool any = false;
  for (int32_t e = 0; e < events; ++e) {
    const auto i = static_cast<size_t>(e);
    const int64_t position = by_time ? time[i] : e;
    if (position < left) before = e;
    if (position < left || position >= right) continue;
    const auto here = static_cast<double>(level[i]);
    if (!any) shown = {e, here, here, 0, static_cast<double>(reserved[i])};
    any = true;
    if (here > shown.highest) shown.event = e;
    shown.highest = std::max(shown.highest, here);
    shown.lowest = std::min(shown.lowest, here);
    shown.reserved = std::max(shown.reserved, static_cast<double>(reserved[i]));
  }
  const auto reserved_after = [&](int32_t e) {
    return static_cast<double>(e < 0 ? initial_reserved : reserved[static_cast<size_t>(e)]);
  };
  if (!any) {
    const auto here = static_cast<double>(level_after(before));
    shown = {before, here, here, 0, reserved_after(before)};
  } else if (left <= 0 && static_cast<double>(initial_level) > shown.highest) {
    shown.event = -1;
    shown.highest = static_cast<double>(initial_level);
    shown.reserved = std::max(shown.reserved, reserved_after(-1));
  }
  shown.allocated =
      shown.highest -
      static_cast<double>(shown.event < 0 ? initial_pending : pending[static_cast<size_t>(shown.event)]);
  return shown;
}

int32_t Twin::event_in_life(Axis axis, int64_t k, int64_t width, const TwinBlock& block) const {
  const auto lives = [&](int32_t event) { return block.born <= event && event < block.freed; };
  const int32_t shown = column(axis, k, width).event;
  if (shown == -2 || lives(shown)) return shown;
  int32_t best = -2;
  const __int128 left = static_cast<__int128>(k) * width;
  for (int32_t e = 0; e < events; ++e) {
    const int64_t position = axis == Axis::time ? time[static_cast<size_t>(e)] : e;
    if (position < left || position >= left + width || !lives(e)) continue;
    if (best == -2 || level_after(e) > level_after(best)) best = e;
  }
  return best == -2 && left <= 0 && lives(-1) ? -1 : best;
}

int32_t Twin::block_at(int32_t event, double height) const {
  double bottom = 0;
  for (const int32_t rank : live_after(event)) {
    const double top = bottom + static_cast<double>(blocks[static_cast<size_t>(rank)].size);
    if (bottom <= height && height < top) return rank;
    bottom = top;
  }
  return -1;
}

uint32_t Twin::pixel(int32_t event, double centre, double bytes_per_row) const {
  const int32_t rank = block_at(event, centre);
  if (rank < 0) return kNothing;
  const bool merged = static_cast<double>(blocks[static_cast<size_t>(rank)].size) < bytes_per_row;
  return static_cast<uint32_t>(rank) | (merged ? kMergedBit : 0);
}

std::array<double, 3> Twin::mean_colour(int32_t event, double low, double high,
                                        const std::function<uint32_t(int32_t)>& colour_of) const {
  const double from = std::max(std::floor(low), 0.0);
  const double to = std::floor(high);
  std::array<double, 3> light{};
  double covered = 0;
  double bottom = 0;
  for (const int32_t rank : live_after(event)) {
    const double top = bottom + static_cast<double>(blocks[static_cast<size_t>(rank)].size);
    const double bytes = std::max(0.0, std::min(top, to) - std::max(bottom, from));
    for (size_t channel = 0; channel < 3; ++channel) {
      const double value = (colour_of(rank) >> (8 * channel) & 0xFF) / 255.0;
      light[channel] += bytes * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
    }
    covered += bytes;
    bottom = top;
  }
  for (double& channel : light) {
    const double mean = covered > 0 ? channel / covered : 0;
    channel = 255 * (mean <= 0.0031308 ? mean * 12.92 : 1.055 * std::pow(mean, 1 / 2.4) - 0.055);
  }
  return light;
}

int64_t Twin::bytes_below(int32_t rank, int32_t event) const {
  int64_t bytes = 0;
  for (const int32_t live : live_after(event))
    bytes += live < rank ? blocks[static_cast<size_t>(live)].size : 0;
  return bytes;
}

}  // namespace gpustrata::replay
