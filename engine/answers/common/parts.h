// What many answers have in common: frames, texts, pools, lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/analysis/compare/compare.h"
#include "engine/analysis/device/block_sources.h"
#include "engine/analysis/device/device_index.h"
#include "engine/answers/described/members.h"
#include "engine/base/ids.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// Member "pool": [a, b], or null where the file does not say.
void describe_pool(Members& m, const model::Recording& recording, PoolId pool);

// Member `name`: the lines of a stack, innermost first (analysis/frame_filter.h); empty for none. Returns how many frames
// were left out.
int64_t describe_frames(Members& m, const model::Recording& recording, StackId stack,
                        Name name = {"frames", "Innermost first."});

// Member "damaged", where it is so (Diagnostics::incomplete()).
void describe_damage(Members& m, bool damaged);

// Member "annotations": texts; the last entry says how many more there are. Returns how many were left out.
int64_t describe_annotations(Members& m, const model::Recording& recording,
                             const analysis::Annotations& annotations);

// The text, cut, or null for none.
void describe_text(Members& m, Name name, const model::Recording& recording, StringId text);

// Member "stack_of": "alloc", "free", "block"; null for nothing.
void describe_stack_from(Members& m, analysis::StackFrom from);

// {"before","after","growth"}
void describe_both(Members& m, Name name, const analysis::BeforeAfter& both);

// Of blocks in use: the first two of these.
inline constexpr std::string_view kLiveStates[] = {"active_allocated", "active_pending_free"};

// None where the file does not say it.
[[nodiscard]] std::optional<int32_t> device_or_null(int32_t device);

}  // namespace gpustrata::answers
