#include "engine/analysis/stacks/runtime_frames.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "engine/analysis/stacks/own_frame.h"
#include "tests/unit/files.h"

namespace gpustrata::analysis {
namespace {

// Of every snapshot in ../shared/data, each symbol once for each kind of file; sorted by hand into what is of CPython or of
// the C runtime, and what is of PyTorch and others (which is not in the list).
TEST(RuntimeFrames, FramesOfRealFilesAreOfTheInterpreterOrTheCRuntime) {
  std::istringstream lines(tests::file_bytes(tests::test_path("data/frames_of_runtimes.tsv")));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos);
    EXPECT_EQ(origin_of(line.substr(0, tab), line.substr(tab + 1)), Origin::interpreter) << line;
  }
  EXPECT_EQ(count, 289);
}

TEST(RuntimeFrames, PyTorchAndOtherLibrariesAreNot) {
  EXPECT_FALSE(is_of_runtime("THPVariable_clear(THPVariable*)", "python_variable.cpp"));
  EXPECT_FALSE(is_of_runtime("THPEngine_run_backward(_object*, _object*, _object*)", "??"));
  EXPECT_FALSE(is_of_runtime("dynamo__custom_eval_frame", ""));
  EXPECT_FALSE(is_of_runtime("__Pyx_PyObject_Call(_object*, _object*, _object*)", "_raylet.cpp"));
  EXPECT_FALSE(is_of_runtime("PyTorchStreamReader::getRecord(std::string const&)", "??"));
  EXPECT_FALSE(is_of_runtime("at::native::clone(at::Tensor const&)", "??"));
  EXPECT_FALSE(is_of_runtime("cublasLtMatmul", "??"));
  EXPECT_FALSE(is_of_runtime("??", "??"));
}

TEST(RuntimeFrames, ProgramsWithSuchNamesAreTheirOwn) {
  EXPECT_FALSE(is_of_runtime("main", "/home/a/train.py"));
  EXPECT_FALSE(is_of_runtime("run_mod", "/home/a/my-Python-3.11/Modules/models.py"));
  EXPECT_FALSE(is_of_runtime("step", "/src/Modules/engine.c"));  // no folder of CPython above it
  EXPECT_FALSE(is_of_runtime("Pyramid", "??"));
  EXPECT_FALSE(is_of_runtime("clone", "/src/model.cpp"));
}

}  // namespace
}  // namespace gpustrata::analysis
