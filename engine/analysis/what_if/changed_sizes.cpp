// What if: blocks that are left out, or have another size.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/analysis/filters/block_filter.h"
#include "engine/analysis/what_if/what_if.h"
#include "engine/base/charge.h"
#include "engine/base/memory_refused.h"

namespace gpustrata::analysis {

using simulate::Request;

Result<ChangedSizes> changed_sizes(const Rehearsal& rehearsal, Device& of, std::span<const Change> changes,
                                   Budget& budget) {
  const replay::Device& device = rehearsal.device;
  const model::Recording& recording = device.recording;
  const simulate::RequestLog& log = rehearsal.requests.log;
  const auto no_memory = [&] { return memory_refused(budget, "for changed sizes"); };
  ChangedSizes changed(budget);
  Column<uint8_t> is_meant(budget);
  if (!changed.sizes.append(log.size.span()) || !is_meant.resize(log.size_rows(), 0)) return no_memory();
  // Blocks from the start are known by their address.
  Charge charge(budget);
  std::unordered_map<uint64_t, int32_t> rank_at;
  if (!charge.more(int64_t{64} * device.lives.from_start)) return no_memory();
  for (int32_t rank = 0; rank < device.lives.from_start; ++rank)
    rank_at.emplace(device.lives.address(recording, rank), rank);

  for (const Change& change : changes) {
    if (!(change.factor >= 0) || change.factor > 1e6)
      return fail(ErrorCode::wrong_usage, -1, "a size can be scaled by 0 to 1,000,000, not by {}",
                  change.factor);
    const auto meant = filter_blocks(of, change.filter);
    if (!meant) return tl::unexpected(meant.error());
    for (size_t row = 0; row < log.size_rows(); ++row) {
      const bool present = log.request[row] == Request::present;
      if (!present && log.request[row] != Request::allocate) continue;
      int32_t rank = -1;
      if (rehearsal.requests.event[row] >= 0) {
        rank = device.lives.rank_born_at(rehearsal.requests.event[row] - device.rows.events.first);
      } else if (present) {
        const auto found = rank_at.find(rehearsal.requests.start.blocks[log.subject[row]].address);
        if (found != rank_at.end()) rank = found->second;
      }
      if (rank < 0 || static_cast<size_t>(rank) >= meant->matched.size() || meant->matched[rank] == 0)
        continue;
      changed.blocks += is_meant[row] == 0 ? 1 : 0;
      is_meant[row] = 1;
      int64_t& size = changed.sizes[row];
      if (present && change.factor != 0) {
        ++changed.unscaled;
        continue;
      }
      const double scaled = std::ceil(static_cast<double>(size) * change.factor);
      size =
          change.factor == 0
              ? 0
              : std::max<int64_t>(
                    1, static_cast<int64_t>(std::min(scaled, static_cast<double>(alloc::kLargestRequest))));
    }
  }
  return changed;
}

}  // namespace gpustrata::analysis
