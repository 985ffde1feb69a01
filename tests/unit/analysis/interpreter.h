// A program as a recorder sees it: calls with their current lines, what they ask for and give back.
#pragma once

#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {

// The calls that are under way, each at a line; memory with the stack of now.
class Interpreter {
 public:
  // `random` gives numbers of [0, n).
  explicit Interpreter(std::function<int32_t(int32_t)> random = {}, bool compiled_frames = false)
      : random_(std::move(random)), compiled_(compiled_frames) {}

  class Call {
   public:
    Call(Interpreter& program, std::string_view function, std::string_view file) : program_(program) {
      program_.calls_.push_back({function, file, 1});
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() { program_.calls_.pop_back(); }

   private:
    Interpreter& program_;
  };

  void at(int32_t line) { calls_.back().line = line; }
  uint64_t take(int64_t size) { return take(size, stack()); }
  // Of a thread of autograd's, which has no Python frames.
  uint64_t take_in_backward(int64_t size) {
    return take(size, story.recording.stacks.intern(std::vector<FrameId>{}));
  }
  uint64_t take(int64_t size, StackId stack) {
    next_ += uint64_t{1} << 32;
    story.alloc(next_, size);
    story.recording.events.stack.back() = stack;
    sizes_[next_] = size;
    return next_;
  }
  void give(uint64_t address) {
    story.complete(address, sizes_[address]);
    sizes_.erase(address);
  }
  void give(std::vector<uint64_t>& all) {
    for (const uint64_t one : all) give(one);
    all.clear();
  }
  void use(int64_t size) { give(take(size)); }

  // Innermost first; with compiled frames in between, of which those that nobody is shown are others at every call.
  [[nodiscard]] StackId stack() {
    std::vector<FrameId> frames;
    if (compiled_) {
      frames.push_back(story.frame("at::empty_cuda", "EmptyTensor.cpp", 9));
      if (random_(2) == 0) frames.push_back(story.frame("call", "aten/core/boxing/impl.h", 3));
    }
    for (size_t i = calls_.size(); i-- > 0;) {
      frames.push_back(story.frame(calls_[i].function, calls_[i].file, calls_[i].line));
      if (!compiled_) continue;
      frames.push_back(story.frame(random_(3) == 0 ? "PyObject_Vectorcall" : "PyObject_Call", "??", 0));
    }
    return story.recording.stacks.intern(frames);
  }

  Story story;

 private:
  struct Frame {
    std::string_view function, file;
    int32_t line;
  };
  std::function<int32_t(int32_t)> random_;
  bool compiled_;
  std::vector<Frame> calls_;
  std::map<uint64_t, int64_t> sizes_;
  uint64_t next_ = uint64_t{1} << 40;
};

}  // namespace gpustrata::analysis
