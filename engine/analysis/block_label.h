// What a band says about its block where it is high enough: the place in the program that asked for it.
#pragma once

#include <string>

#include "engine/model/recording.h"
#include "engine/replay/lifetimes.h"

namespace memstrata::analysis {

// Frames of the stack that the details show, innermost first, as far as a label looks:
// [{"name","file","line","hidden"}], empty if there is none. Which of them is the program's own is for the
// page to say, as in its details. Reads a bounded number of events and frames.
[[nodiscard]] std::string label_frames_json(const model::Recording& recording,
                                            const model::Snapshot& snapshot,
                                            const replay::Lifetimes& lifetimes, int32_t rank);
[[nodiscard]] std::string label_frames_json(const model::Recording& recording, StackId stack);

}  // namespace memstrata::analysis
