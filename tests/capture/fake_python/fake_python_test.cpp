// What a Python interpreter can do to a thread while its stack is read. This program exports the functions of
// one, so that the library finds them; the interpreter's end unwinds a thread out of them, here by an
// exception.
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "capture/gpustrata.h"

namespace {

enum class Where { nowhere, lock, frame };
Where g_throws = Where::nowhere;
int g_locks = 0;  // held

void maybe_throw(Where here) {
  if (g_throws == here) throw std::runtime_error("the interpreter ends");
}

// A frame, a code object and a text need an address only.
int g_frame, g_code, g_text;

}  // namespace

extern "C" {
// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier)
int Py_IsInitialized() { return 1; }
int _Py_IsFinalizing() { return 0; }
void* PyGILState_GetThisThreadState() { return &g_locks; }
int PyGILState_Ensure() {
  maybe_throw(Where::lock);
  ++g_locks;
  return 0;
}
void PyGILState_Release(int) { --g_locks; }
void* PyInterpreterState_Get() { return &g_locks; }
void* PyInterpreterState_Main() { return &g_locks; }
void* PyEval_GetFrame() {
  maybe_throw(Where::frame);
  return &g_frame;
}
void* PyFrame_GetBack(void*) { return nullptr; }
void* PyFrame_GetCode(void*) { return &g_code; }
int PyFrame_GetLasti(void*) { return 0; }
int PyFrame_GetLineNumber(void*) { return 7; }
int PyCode_Addr2Line(void*, int) { return 7; }
void* PyObject_GetAttrString(void*, const char*) { return &g_text; }
const char* PyUnicode_AsUTF8AndSize(void*, std::ptrdiff_t* length) {
  constexpr std::string_view kText = "the_function_of_the_test";
  *length = kText.size();
  return kText.data();
}
void Py_IncRef(void*) {}
void Py_DecRef(void*) {}
void PyErr_Clear() {}
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
}

namespace {

[[nodiscard]] std::string snapshot() {
  char* bytes = nullptr;
  size_t size = 0;
  EXPECT_EQ(gpustrata_snapshot(&bytes, &size), GPUSTRATA_OK) << gpustrata_last_error();
  const std::string text(bytes, size);
  gpustrata_free_bytes(bytes);
  return text;
}

class AfterAThrow : public testing::TestWithParam<Where> {};

TEST_P(AfterAThrow, StacksAreRecordedAgain) {
  ASSERT_EQ(gpustrata_use_simulated_device(size_t{1} << 30), GPUSTRATA_OK) << gpustrata_last_error();
  gpustrata_history history;
  gpustrata_default_history(&history);
  history.stacks = "python";
  ASSERT_EQ(gpustrata_record_memory_history(&history), GPUSTRATA_OK) << gpustrata_last_error();
  void* block = nullptr;
  g_throws = GetParam();
  EXPECT_EQ(gpustrata_malloc(&block, 1000, 0, nullptr), GPUSTRATA_NO_MEMORY);
  EXPECT_STREQ(gpustrata_last_error(), "the interpreter ends");
  EXPECT_EQ(g_locks, 0);
  EXPECT_EQ(snapshot().find("the_function_of_the_test"), std::string::npos);

  g_throws = Where::nowhere;
  ASSERT_EQ(gpustrata_malloc(&block, 1000, 0, nullptr), GPUSTRATA_OK) << gpustrata_last_error();
  EXPECT_NE(snapshot().find("the_function_of_the_test"), std::string::npos);
  EXPECT_EQ(g_locks, 0);
}

INSTANTIATE_TEST_SUITE_P(Python, AfterAThrow, testing::Values(Where::lock, Where::frame));

}  // namespace
