// The Python stack of the calling thread, without linking Python.
//
// The interpreter's public C functions are looked up by name in the running process; where they are not
// (a C++ program) there are no Python frames. A thread that Python does not know (autograd's) has none
// either. PyTorch gives up the interpreter's lock around its operators, so it is taken here for a moment: no
// lock of this library may be held by the caller.
#pragma once

#include <span>

#include "capture/stacks/raw_stacks.h"

namespace gpustrata::capture {

// Holds the interpreter's lock while it lives, if the thread has a state of the main interpreter and that is not
// about to end.
class PythonLock {
 public:
  PythonLock();
  ~PythonLock();
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;

  [[nodiscard]] bool held() const { return held_; }

 private:
  bool held_ = false;
  int state_ = 0;
};

// From now on no stack is read; returns when no thread waits for the interpreter's lock here any more (or
// after a second). An ending interpreter would end such a thread, wherever its caller is.
void stop_python_stacks();

// Is there an interpreter whose stacks can be read?
[[nodiscard]] bool has_python();
// Under a PythonLock: fills `frames` innermost first, returns how many. A frame's code object lives as long
// as the lock is held.
[[nodiscard]] size_t gather_python_stack(std::span<PythonFrame> frames);

// For RawStacks, under a PythonLock.
[[nodiscard]] PythonFrameText name_python_frame(const PythonFrame& frame);
void keep_python_code(void* code);

}  // namespace gpustrata::capture
