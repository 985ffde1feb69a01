// Which blocks of the timeline does a filter mean? The language is told in filter_syntax.h.
//
// O(terms * (blocks + what one search costs)); 64 terms at most. The attributes are those of the same view.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/analysis/categories/known_categories.h"
#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/filters/search.h"
#include "engine/analysis/ops/made_in.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/segment_bands.h"

namespace gpustrata::analysis {

// An empty text means nothing. `peak_event`: what `alive@peak` means where the blocks are part of other bands
// (pool_bands.h), whose peak counts; none = that of the blocks. `categories` is asked where a term names one, and must
// then be there. `made_in`: ops and functions of a trace of the same run, which terms mean as they mean stacks. Error: invalid_format with the byte of `text` at fault as offset, limit_exceeded.
[[nodiscard]] Result<Matches> filter_blocks(const model::Recording& recording, const model::Part& part,
                                            const replay::BlockLives& lives,
                                            const BlockAttributes& attributes, std::string_view text,
                                            std::optional<int32_t> peak_event = {},
                                            const CategorySource& categories = {},
                                            const MadeIn* made_in = nullptr);
// The same of segments as bands, which have no category.
[[nodiscard]] Result<Matches> filter_segments(const model::Recording& recording,
                                              const replay::SegmentBands& segments,
                                              const BlockAttributes& attributes, std::string_view text);

}  // namespace gpustrata::analysis
