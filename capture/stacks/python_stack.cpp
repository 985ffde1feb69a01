#include "capture/stacks/python_stack.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <thread>

namespace gpustrata::capture {

namespace {

// PyObject and the like stay unknown here.
using Object = void;

// CPython's stable names. What a version lacks is null: PyFrame_GetLasti came with 3.11, PyFrame_GetBack and
// PyFrame_GetCode with 3.9; before that there are no Python frames.
struct PythonApi {
  int (*is_initialized)();
  int (*is_finalizing)();
  Object* (*this_thread_state)();
  int (*ensure)();
  void (*release)(int state);
  void* (*this_interpreter)();
  void* (*main_interpreter)();
  Object* (*current_frame)();
  Object* (*frame_back)(Object* frame);
  Object* (*frame_code)(Object* frame);
  int (*frame_instruction)(Object* frame);
  int (*frame_line)(Object* frame);
  int (*code_line)(Object* code, int instruction);
  Object* (*get_attribute)(Object* object, const char* name);
  const char* (*text)(Object* unicode, std::ptrdiff_t* length);
  void (*increment)(Object* object);
  void (*decrement)(Object* object);
  void (*clear_error)();
  bool usable = false;
};

std::atomic<bool> g_stopped{false};
std::atomic<int> g_waiting{0};  // threads between the question below and the interpreter's lock
struct Waiting {
  Waiting() { ++g_waiting; }
  ~Waiting() { --g_waiting; }  // also when the thread is unwound from there
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

template <typename Function>
void find(Function*& function, const char* name, const char* older_name = nullptr) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  if (function == nullptr && older_name != nullptr)
    function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, older_name));
}

[[nodiscard]] PythonApi find_api() {
  PythonApi api{};
  find(api.is_initialized, "Py_IsInitialized");
  if (api.is_initialized == nullptr) return api;
  find(api.is_finalizing, "Py_IsFinalizing", "_Py_IsFinalizing");
  find(api.this_thread_state, "PyGILState_GetThisThreadState");
  find(api.ensure, "PyGILState_Ensure");
  find(api.release, "PyGILState_Release");
  find(api.this_interpreter, "PyInterpreterState_Get");
  find(api.main_interpreter, "PyInterpreterState_Main");
  find(api.current_frame, "PyEval_GetFrame");
  find(api.frame_back, "PyFrame_GetBack");
  find(api.frame_code, "PyFrame_GetCode");
  find(api.frame_instruction, "PyFrame_GetLasti");
  find(api.frame_line, "PyFrame_GetLineNumber");
  find(api.code_line, "PyCode_Addr2Line");
  find(api.get_attribute, "PyObject_GetAttrString");
  find(api.text, "PyUnicode_AsUTF8AndSize");
  find(api.increment, "Py_IncRef");
  find(api.decrement, "Py_DecRef");
  find(api.clear_error, "PyErr_Clear");
  api.usable = api.is_finalizing != nullptr && api.this_thread_state != nullptr && api.ensure != nullptr &&
               api.release != nullptr && api.this_interpreter != nullptr && api.main_interpreter != nullptr &&
               api.current_frame != nullptr && api.frame_back != nullptr && api.frame_code != nullptr &&
               api.frame_line != nullptr && api.code_line != nullptr && api.get_attribute != nullptr &&
               api.text != nullptr && api.increment != nullptr && api.decrement != nullptr &&
               api.clear_error != nullptr;
  return api;
}

[[nodiscard]] const PythonApi& api() {
  static const PythonApi found = find_api();
  return found;
}

// What follows runs under a held PythonLock only, so the functions are there.
// NOLINTBEGIN(clang-analyzer-core.CallAndMessage)

// A text attribute of a code object; lives as long as that.
[[nodiscard]] std::string_view attribute(Object* code, const char* name) {
  Object* const value = api().get_attribute(code, name);
  std::string_view text = "??";
  std::ptrdiff_t length = 0;
  if (const char* bytes = value == nullptr ? nullptr : api().text(value, &length); bytes != nullptr) {
    text = {bytes, static_cast<size_t>(length)};
  } else {
    api().clear_error();
  }
  // The code object keeps its name.
  if (value != nullptr) api().decrement(value);
  return text;
}

}  // namespace

bool has_python() { return api().usable && api().is_initialized() != 0 && api().is_finalizing() == 0; }

PythonLock::PythonLock() {
  // A thread without a state would get one here, and an ending interpreter would stop the thread for ever.
  if (!has_python() || api().this_thread_state() == nullptr) return;
  const Waiting waiting;
  if (g_stopped) return;
  state_ = api().ensure();
  // Objects of a subinterpreter end with it, and from Python 3.12 on it may have a lock of its own.
  held_ = api().this_interpreter() == api().main_interpreter();
  if (!held_) api().release(state_);
}

void stop_python_stacks() {
  g_stopped = true;
  for (int i = 0; i < 10000 && g_waiting > 0; ++i)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

PythonLock::~PythonLock() {
  if (held_) api().release(state_);
}

size_t gather_python_stack(std::span<PythonFrame> frames) {
  const PythonApi& python = api();
  size_t count = 0;
  Object* frame = python.current_frame();
  if (frame != nullptr) python.increment(frame);
  while (frame != nullptr && count < frames.size()) {
    Object* const code = python.frame_code(frame);
    // -1: no instruction was run yet.
    const int64_t instruction = python.frame_instruction != nullptr
                                    ? std::max<int64_t>(python.frame_instruction(frame), 0)
                                    : -int64_t{python.frame_line(frame)};
    frames[count++] = {code, instruction};
    // The frame holds its code, and the interpreter the frame.
    python.decrement(code);
    Object* const back = python.frame_back(frame);
    python.decrement(frame);
    frame = back;
  }
  if (frame != nullptr) python.decrement(frame);
  return count;
}

PythonFrameText name_python_frame(const PythonFrame& frame) {
  PythonFrameText text;
  text.name = attribute(frame.code, "co_name");
  text.filename = attribute(frame.code, "co_filename");
  const int64_t line = frame.instruction < 0
                           ? -frame.instruction
                           : api().code_line(frame.code, static_cast<int>(frame.instruction));
  text.line = static_cast<int32_t>(std::clamp<int64_t>(line, 0, std::numeric_limits<int32_t>::max()));
  return text;
}

void keep_python_code(void* code) { api().increment(code); }

// NOLINTEND(clang-analyzer-core.CallAndMessage)

}  // namespace gpustrata::capture
