// Which blocks of the timeline, segments or events match a text?
//
// Case-insensitive substring (ASCII case) over what the details show: the block's name (b'address_version),
// its frames as file:line:name, its metadata (user metadata, annotations, compile context, unknown keys).
// O(bytes of distinct texts + frames + stack nodes + blocks): a text is looked at once, however many frames
// and blocks have it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/segment_bands.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

// op: the whole name of an op around it, as a profiler's trace has it, case and all; nothing else.
enum class SearchIn : uint8_t { anything, address, frame, metadata, op };

struct Matches {
  explicit Matches(Budget& budget) : ranks(budget), matched(budget) {}
  Column<int32_t> ranks;    // ascending
  Column<uint8_t> matched;  // per rank 0 or 1, as replay::PaintStyle takes it
  int64_t bytes = 0;        // sum of their sizes
};

// An address may be given with or without 0x, b or b'. Empty text matches nothing.
[[nodiscard]] Result<Matches> search(const model::Recording& recording, const model::Part& part,
                                     const replay::BlockLives& lives, SearchIn where, std::string_view text);

// The same of segments as bands, whose names begin with s' and that have no metadata; their stacks, per rank.
[[nodiscard]] Result<Matches> search_segments(const model::Recording& recording,
                                              const replay::SegmentBands& segments,
                                              std::span<const StackId> stacks, SearchIn where,
                                              std::string_view text);

// The same of events: their names, their stacks and what they say themselves. Per event 1 = found.
[[nodiscard]] Result<Column<uint8_t>> search_events(const model::Recording& recording,
                                                    const replay::StateHistory& history, SearchIn where,
                                                    std::string_view text);

}  // namespace gpustrata::analysis
