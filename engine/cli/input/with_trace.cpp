#include "engine/cli/input/with_trace.h"

#include "engine/cli/input/input.h"

namespace gpustrata::cli {

Outcome<replay::AttachedOps> attach_trace(const WithTrace& with, const std::string& file,
                                          model::Recording& snapshot, const Console& console) {
  model::Recording trace(snapshot.budget);
  if (auto read = read_recording(with.trace, trace, console); !read) return tl::unexpected(read.error());
  const auto attached = replay::attach_ops(snapshot, trace, with.wanted);
  if (!attached) return failure(attached.error(), file);
  return *attached;
}

}  // namespace gpustrata::cli
