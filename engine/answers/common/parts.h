// What many answers have in common: frames, texts, pools, lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/analysis/compare/compare.h"
#include "engine/analysis/device/block_sources.h"
#include "engine/analysis/device/device_index.h"
#include "engine/base/ids.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// [a, b], or null where the file does not say.
void pool_to_json(JsonWriter& json, const model::Recording& recording, PoolId pool);

// The lines of a stack as an array [{"text","name","file","line","repeats","hidden","own","fx":[line,...]}],
// innermost first (see analysis/stacks/frame_filter.h); empty for none. "own": the user's own code
// (analysis/stacks/own_frame.h). Returns how many frames were left out.
int64_t frames_to_json(JsonWriter& json, const model::Recording& recording, StackId stack);

// A list of texts; its last entry says how many more there are. Returns how many were left out.
int64_t annotations_to_json(JsonWriter& json, const model::Recording& recording,
                            const analysis::Annotations& annotations);

// A member: the text, cut, or null for none.
void text_to_json(JsonWriter& json, std::string_view name, const model::Recording& recording, StringId text);

// "alloc", "free", "block"; null for nothing.
void stack_from_to_json(JsonWriter& json, analysis::StackFrom from);

// A member: {"before","after","growth"}
void both_to_json(JsonWriter& json, std::string_view name, const analysis::BeforeAfter& both);

[[nodiscard]] std::string_view name_of(model::BlockState state);

// None where the file does not say it.
[[nodiscard]] std::optional<int32_t> device_or_null(int32_t device);

}  // namespace gpustrata::answers
