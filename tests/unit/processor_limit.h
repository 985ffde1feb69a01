// Tests named for what work costs: with a limit of processor time, which another program's work does not use up.
#pragma once

namespace gpustrata::tests {

// Ends the program with a failure when its scope takes longer. The input must be such that the work takes a twentieth of
// the limit, and many times the limit if it grew with the square; the test says how large that square is.
class ProcessorLimit {
 public:
  explicit ProcessorLimit(int seconds = 5);  // ten times as many with a sanitizer
  ~ProcessorLimit();
  ProcessorLimit(const ProcessorLimit&) = delete;
  ProcessorLimit& operator=(const ProcessorLimit&) = delete;
};

}  // namespace gpustrata::tests
