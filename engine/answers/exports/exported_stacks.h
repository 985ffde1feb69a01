// Memory by stack in the formats of other viewers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/analysis/calls/folded_stacks.h"
#include "engine/answers/text/text_out.h"

namespace gpustrata::answers {

// A file of https://www.speedscope.app: one sampled profile whose weights are bytes, each stack a sample.
void export_speedscope(TextOut& out, const analysis::FoldedStacks& stacks, std::string_view title);

// A profile.proto of pprof, not packed: sample type inuse_space in bytes; an entry of a stack is a function of its own.
// `time`: nanoseconds since 1970 of the moment.
void export_pprof(TextOut& out, const analysis::FoldedStacks& stacks, std::optional<int64_t> time);

}  // namespace gpustrata::answers
