// Who asked for memory: the innermost frame of the user's own code. The only place that decides it; details,
// labels, colours, tables and comparisons ask here.
//
// A frame is
//   interpreter  if PyTorch's own viewer hides it (frame_filter.h), or if it is of CPython or of the C runtime
//                (runtime_frames.h)
//   library      if it is compiled code, Python's standard library, or one of the packages below everybody's
//                code (torch, numpy, triton, ...)
//   package      if it is of another installed package; the user's own where a stack has nothing nearer
//   own          otherwise
//
// Who stands for a stack, the first there is of: its innermost own frame; its innermost package; its
// innermost Python frame; the autograd node that runs ("DivBackward0"); the outermost operator
// ("aten::addmm"); its innermost frame that is shown; its innermost frame. So nodes and operators speak for
// stacks of C++ frames alone.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/base/words.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

GPUSTRATA_WORDS(Origin, interpreter, library, package, own);
// Of hostile files only the first kLongestName bytes are looked at.
[[nodiscard]] Origin origin_of(std::string_view function, std::string_view file);
[[nodiscard]] Origin origin_of(const model::Recording& recording, FrameId frame);

struct Who {
  enum class Kind : uint8_t { nothing, frame, autograd_node, op };
  Kind kind = Kind::nothing;  // nothing: no stack, or an empty one
  FrameId frame;              // that says so
  std::string_view
      name;          // "forward", "DivBackward0"; of an op less "aten::": "addmm". Refers to the recording
  bool own = false;  // the frame is the user's own code

  [[nodiscard]] bool is_frame() const { return kind == Kind::frame; }
};

// O(frames of the stack); of a hostile stack its innermost kMostFrames are looked at (frame_filter.h).
[[nodiscard]] Who who_of(const model::Recording& recording, StackId stack);

// A frame as WhoOfStacks found it.
[[nodiscard]] Who who_of_frame(const model::Recording& recording, FrameId frame);

// The origin of every frame of one stack, as the details mark them: packages are the user's own where nothing
// else is.
class OwnFrames {
 public:
  OwnFrames(const model::Recording& recording, StackId stack);  // O(frames of the stack)
  [[nodiscard]] bool is_own(FrameId frame) const;

 private:
  const model::Recording& recording_;
  bool packages_are_own_ = true;
};

// The same for many stacks: every frame and every node of the stack table is looked at once.
class WhoOfStacks {
 public:
  explicit WhoOfStacks(const model::Recording& recording);
  // O(frames + nodes). False = no memory.
  [[nodiscard]] bool prepare();
  // Stacks of one node or operator have the same frame, whichever of its frames they hold. O(1).
  [[nodiscard]] Who operator()(StackId stack) const;
  // The frame that speaks for the stack whose innermost node it is.
  [[nodiscard]] FrameId frame_of_node(int32_t node) const { return FrameId{answer_[node]}; }

 private:
  const model::Recording& recording_;
  Column<int32_t> frame_{recording_.budget};   // per frame: the one that stands for it
  Column<uint8_t> rank_{recording_.budget};    // per frame, then per node: see own_frame.cpp
  Column<int32_t> answer_{recording_.budget};  // per node: frame
};

}  // namespace gpustrata::analysis
