// What the command's exit codes mean; stated in engine/cli/README.md.
#pragma once

namespace gpustrata::cli {

inline constexpr int kSuccess = 0;  // also for a damaged file of which something was read
inline constexpr int kWrongUsage = 1;
inline constexpr int kFailed = 2;  // a file could not be read (the others were printed) or written

inline constexpr int kBroken = 3;     // `check`: a rule is broken
inline constexpr int kUnchecked = 4;  // `check`: none is, but the file does not show that all are kept

}  // namespace gpustrata::cli
