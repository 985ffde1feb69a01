#include "engine/analysis/stacks/frame_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {
namespace {

// Lines as "name" or "name x N", hidden ones in parentheses.
std::vector<std::string> lines_of(Story& story, StackId stack) {
  std::vector<std::string> lines;
  for (const FrameLine& line : frame_lines(story.recording, stack)) {
    std::string text(story.recording.strings.view(story.recording.frames[line.frame].name));
    if (line.repeats > 1) text += " x " + std::to_string(line.repeats);
    lines.push_back(line.hidden ? "(" + text + ")" : text);
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(FrameFilter, HidesTheInterpreterAndTheDispatcher) {
  for (const char* name :
       {"torch::unwind::unwind()", "torch::CapturedTraceback::gather(bool)", "gather_with_cpp", "_start",
        "__libc_start_main_impl", "_PyEval_EvalFrameDefault", "PyObject_Call", "_PyFunction_Vectorcall"}) {
    EXPECT_TRUE(is_hidden(name, "x.cpp")) << name;
  }
  for (const char* file : {"aten/src/ATen/core/boxing/impl/boxing.h", "build/RegisterCUDA.cpp/Register",
                           "a/RedispatchFunctions.h", "Python/pythonrun.c", "./Modules/main.c",
                           "Objects/call.c", "Objects/methodobject.c", "Include/internal/pycore_ceval.h",
                           "Python/ceval.c", "Include/cpython/abstract.h"}) {
    EXPECT_TRUE(is_hidden("f", file)) << file;
  }
}

TEST(FrameFilter, ShowsTheProgram) {
  EXPECT_FALSE(is_hidden("forward", "model.py"));
  EXPECT_FALSE(is_hidden("at::native::empty_cuda", "??"));
  EXPECT_FALSE(is_hidden("start", "Register.py"));  // the rule is "/Register"
  EXPECT_FALSE(is_hidden("ceval.c", "PyEval_"));    // functions and files are not mixed up
}

TEST(FrameFilter, ALineIsFileLineAndName) {
  Story story;
  EXPECT_EQ(frame_text(story.recording, story.frame("forward", "/a/model.py", 12)), "/a/model.py:12:forward");
}

TEST(FrameFilter, AnUnknownLineIsZero) {
  Story story;
  EXPECT_EQ(frame_text(story.recording, story.frame("f", "??", -1)), "??:0:f");
}

TEST(FrameFilter, OneOrTwoEqualLinesStayAsTheyAre) {
  Story story;
  EXPECT_EQ(lines_of(story, story.stack({"a", "b", "b", "c"})), (Lines{"a", "b", "b", "c"}));
}

TEST(FrameFilter, ThreeEqualLinesAreOneWithACount) {
  Story story;
  EXPECT_EQ(lines_of(story, story.stack({"b", "b", "b", "c", "c", "c", "c", "b"})),
            (Lines{"b x 3", "c x 4", "b"}));
}

TEST(FrameFilter, HiddenFramesBetweenDoNotInterruptARepetition) {
  Story story;
  EXPECT_EQ(lines_of(story, story.stack({"_start", "b", "PyObject_1", "b", "PyObject_2", "b", "c"})),
            (Lines{"(_start)", "b x 3", "(PyObject_1)", "(PyObject_2)", "c"}));
}

TEST(FrameFilter, HiddenFramesAreNeverCollapsed) {
  Story story;
  EXPECT_EQ(lines_of(story, story.stack({"_start", "_start", "_start"})),
            (Lines{"(_start)", "(_start)", "(_start)"}));
}

TEST(FrameFilter, UnknownLinesInTwoFormsAreEqual) {
  Story story;
  const std::vector<FrameId> frames{story.frame("f", "??", 0), story.frame("f", "??", -1),
                                    story.frame("f", "??", 0)};
  EXPECT_EQ(lines_of(story, story.recording.stacks.intern(frames)), Lines{"f x 3"});
}

TEST(FrameFilter, EmptyAndAbsentStacksHaveNoLines) {
  Story story;
  EXPECT_TRUE(lines_of(story, story.stack({})).empty());
  EXPECT_TRUE(lines_of(story, {}).empty());
}

TEST(FrameFilter, FxLinesNameOnlyTheFieldsThatExist) {
  Story story;
  const trace::Frame plain{story.text("f"), story.text("gen.py"), 3, -1};
  const FrameId full =
      story.recording.frames.intern(plain, {story.text("call_function"), story.text("add_1"),
                                            story.text("aten.add"), story.text("File m.py\n  y = a\n")});
  EXPECT_EQ(fx_lines(story.recording, full), (Lines{">> FX: node=add_1, op=call_function, target=aten.add",
                                                    ">> Original Model Code:", "File m.py", "  y = a"}));
  const FrameId name_only = story.recording.frames.intern(plain, {{}, story.text("add_1"), {}, {}});
  EXPECT_EQ(fx_lines(story.recording, name_only), Lines{">> FX: node=add_1"});
  EXPECT_TRUE(fx_lines(story.recording, story.recording.frames.intern(plain)).empty());
}

}  // namespace
}  // namespace gpustrata::analysis
