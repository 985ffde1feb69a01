// Frames as lines of text: what is shown, what is hidden, what repeats.
//
// The rules are those of PyTorch's own viewer, so that both show the same stack: a line is file:line:name;
// frames of the interpreter and of the dispatcher are hidden; of 3 or more equal visible lines in a row one
// is shown with a count, 1 or 2 stay as they are. Of hostile files only the first kLongestName bytes of a
// name and the innermost kMostFrames frames of a stack are looked at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

inline constexpr size_t kLongestName = 4096;
inline constexpr size_t kMostFrames = 10'000;
inline constexpr size_t kMostFxLines = 100;

// The function or file belongs to the machinery below the program; either is enough.
[[nodiscard]] bool is_hidden_function(std::string_view function);
[[nodiscard]] bool is_hidden_file(std::string_view file);
[[nodiscard]] bool is_hidden(std::string_view function, std::string_view file);

// is_hidden() of the frames of a recording, each looked at once.
class HiddenFrames {
 public:
  explicit HiddenFrames(const model::Recording& recording) : recording_(recording) {}
  // False = no memory.
  [[nodiscard]] bool prepare() { return hidden_.resize(recording_.frames.size(), kNotYet); }
  [[nodiscard]] bool operator()(FrameId frame);

 private:
  static constexpr uint8_t kNotYet = 2;
  const model::Recording& recording_;
  Column<uint8_t> hidden_{recording_.budget};
};

// file:line:name; an unknown line is 0. Bytes as in the file, which may not be UTF-8; a name or
// file longer than kLongestName is cut.
[[nodiscard]] std::string frame_text(const model::Recording& recording, FrameId frame);

// Lines that an FX graph dump adds below a frame; mostly none, at most kMostFxLines + 2.
[[nodiscard]] std::vector<std::string> fx_lines(const model::Recording& recording, FrameId frame);

struct FrameLine {
  FrameId frame;
  int32_t repeats = 1;  // 1 or >= 3
  bool hidden = false;
};

// Innermost first. Hidden frames between equal visible ones do not interrupt a repetition; they follow its
// line.
[[nodiscard]] std::vector<FrameLine> frame_lines(const model::Recording& recording, StackId stack);
// The same for many stacks.
[[nodiscard]] std::vector<FrameLine> frame_lines(const model::Recording& recording, StackId stack,
                                                 HiddenFrames& hidden);

}  // namespace gpustrata::analysis
