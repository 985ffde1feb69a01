// The short names of frames: the end of the file's path, or all of a path that is shorter.
#include "engine/answers/stacks/frame_label.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis/story.h"

namespace gpustrata::answers {
namespace {

using analysis::FrameKey;

TEST(FrameLabel, OfAFileAreTheLastTwoPartsOfItsPath) {
  analysis::Story story;
  const auto label = [&](std::string_view path) {
    return frame_label(story.recording, FrameKey::file, story.frame("f", path, 7));
  };
  EXPECT_EQ(label("/home/me/run/train.py"), "run/train.py");
  EXPECT_EQ(label("run/train.py"), "run/train.py");
  EXPECT_EQ(label("C:\\run\\train.py"), "run\\train.py");
  EXPECT_EQ(label(""), "no file");
}

TEST(FrameLabel, OfAFunctionIsItsNameAndTheNameOfTheFile) {
  analysis::Story story;
  EXPECT_EQ(frame_label(story.recording, FrameKey::function, story.frame("forward", "/home/me/model.py", 7)),
            "forward model.py");
  EXPECT_EQ(frame_label(story.recording, FrameKey::function, story.frame("at::empty", "??", 0)), "at::empty");
}

}  // namespace
}  // namespace gpustrata::answers
