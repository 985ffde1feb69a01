// What a band says about its block where it is high enough: the place in the program that asked for it.
#pragma once

#include "engine/base/ids.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace memstrata::answers {

// Frames of the stack that the details show, innermost first, as far as a label looks:
// [{"name","file","line","hidden","own"}], empty if there is none. Reads a bounded number of frames.
void label_frames_to_json(JsonWriter& json, const model::Recording& recording, StackId stack);

}  // namespace memstrata::answers
