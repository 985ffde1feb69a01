// Which blocks of the timeline does a filter mean? The language is told in filter_syntax.h.
//
// O(terms * (blocks + what one search costs)); 64 terms at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/device/device.h"
#include "engine/analysis/filters/filter_tree.h"
#include "engine/analysis/filters/search.h"
#include "engine/analysis/ops/made_in.h"
#include "engine/base/status.h"
#include "engine/replay/segment_bands.h"

namespace gpustrata::analysis {

// An empty text means nothing. `peak_event`: what `alive@peak` means where the blocks are part of other bands
// (pool_bands.h), whose peak counts; none = that of the blocks. `made_in`: ops and functions of a trace of the same run,
// which terms mean as they mean stacks. Error: invalid_format with the byte of `text` at fault as offset, limit_exceeded.
[[nodiscard]] Result<Matches> filter_blocks(Device& device, std::string_view text,
                                            std::optional<int32_t> peak_event = {},
                                            const MadeIn* made_in = nullptr);
// Of one term alone, per rank.
[[nodiscard]] Result<Mask> blocks_of_term(Device& device, const FilterNode& term, const MadeIn* made_in);
// The same of segments as bands, which have no category; their attributes.
[[nodiscard]] Result<Matches> filter_segments(Device& device, const replay::SegmentBands& segments,
                                              const BlockAttributes& attributes, std::string_view text);

}  // namespace gpustrata::analysis
