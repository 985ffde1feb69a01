// What belongs to the calling thread.
#pragma once

#include "engine/base/ids.h"

namespace gpustrata::capture {

// Put on the events of this thread; none = nothing.
extern thread_local StringId t_user_metadata;

}  // namespace gpustrata::capture
