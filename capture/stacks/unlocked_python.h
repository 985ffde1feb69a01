// The Python stack of the calling thread, read without the interpreter's lock.
//
// A thread that is inside of a C function changes none of its Python frames, and they keep their code objects alive: so it may
// read them whether it holds the lock or not. Nothing public does that (PyEval_GetFrame makes objects), so the places of the few
// words that are needed are learnt from frames that are known, and what is read is compared with what the public functions
// say. A CPython whose frames are laid out in another way is refused, never guessed at. CPython 3.11 and newer, with the lock.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "capture/stacks/raw_stacks.h"

namespace gpustrata::capture {

// Learns, or compares once more with what is known, with the frames of the calling thread: at least two functions of Python, one
// of which was called from C and has a qualified name that is not its name. The caller does not hold the interpreter's lock.
// Empty, or in words why stacks cannot be read here.
[[nodiscard]] std::string learn_python_frames();
[[nodiscard]] bool knows_python_frames();

// Fills `frames` innermost first, returns how many; the thread may hold the lock or not. 0 of threads that Python does not know.
// Takes no memory, no lock. Not while the interpreter ends.
[[nodiscard]] size_t gather_python_frames(std::span<PythonFrame> frames,
                                          uint64_t& hash);  // goes on with RawStacks' hash
// Of a frame that the calling thread runs now. The texts are valid until the thread asks again.
[[nodiscard]] PythonFrameText name_python_frame_unlocked(const PythonFrame& frame);

// From now on `forget` hears of every code object that ends, before its memory is used again. Once a process, after
// learn_python_frames().
void tell_of_ended_code(void (*forget)(void* code));

}  // namespace gpustrata::capture
