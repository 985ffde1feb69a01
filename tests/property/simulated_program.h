// Random training and serving programs as a recorder sees them: calls with their current lines, what they ask for and give
// back. What such a program leaks is known, because it is planted.
#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "tests/property/random.h"
#include "tests/unit/analysis/interpreter.h"

namespace gpustrata::analysis {

enum class Planted : uint8_t {
  nothing,
  in_step,        // a line of the loop
  in_microbatch,  // a line of the loop of microbatches
  in_layer,       // below one module
  in_evaluation,
  in_local,     // as in_step; freed when the function returns
  in_backward,  // by a thread of autograd's
  in_request,   // what a generation made last
};

// What was planted: growths of steps, and what is alive of them when the last one ends.
struct Truth {
  int32_t steps = 0;
  int32_t growths = 0;
  int64_t bytes = 0;
  bool says_steps = true;  // its own lines tell the number of steps
};

class SimulatedProgram {
 public:
  SimulatedProgram(uint64_t seed, bool leaks)
      : random_(seed), run_([this](int32_t n) { return random_.below(n); }, random_.one_in(2)) {
    serves_ = random_.one_in(5);
    steps_ = 12 + random_.below(20);
    every_ = random_.one_in(2) ? 2 + random_.below(2) : 0;
    if (leaks) choose_leak();
    truth_.steps = steps_;
    main();
  }

  [[nodiscard]] Story& story() { return run_.story; }
  [[nodiscard]] const Truth& truth() const { return truth_; }
  [[nodiscard]] Planted planted() const { return planted_; }

 private:
  using Call = Interpreter::Call;
  static constexpr std::string_view kProgram = "/home/me/fit.py", kModel = "/home/me/model.py",
                                    kModule = "/site-packages/torch/nn/modules/module.py",
                                    kAutograd = "/site-packages/torch/autograd/__init__.py",
                                    kOptimizer = "/site-packages/torch/optim/adamw.py";

  void choose_leak() {
    std::vector<Planted> kinds = {Planted::in_step, Planted::in_local};
    if (serves_) {
      kinds.push_back(Planted::in_request);
    } else {
      kinds.insert(kinds.end(), {Planted::in_microbatch, Planted::in_layer, Planted::in_backward});
    }
    if (every_ > 0) kinds.push_back(Planted::in_evaluation);
    planted_ = kinds[static_cast<size_t>(random_.below(static_cast<int32_t>(kinds.size())))];
    leak_size_ = random_.size(6, 16);
    leak_from_ = random_.below(steps_ / 4);
  }

  [[nodiscard]] bool leaks_now(Planted kind) const { return planted_ == kind && step_ >= leak_from_; }
  // A block that is kept, with the stack of now.
  void keep(std::vector<uint64_t>& list) {
    list.push_back(run_.take(leak_size_));
    count_kept();
  }
  void count_kept() {
    truth_.bytes += leak_size_;
    if (grown_at_ != step_) ++truth_.growths;
    grown_at_ = step_;
  }

  void main() {
    const Call module(run_, "<module>", kProgram);
    run_.at(90);
    const Call main(run_, "main", kProgram);
    run_.at(10);
    {
      const Call init(run_, "__init__", kModel);
      for (int32_t i = 0; i < layers_; ++i) {
        run_.at(5);
        run_.take(widths_);
        run_.at(6);
        run_.take(widths_ * 4);
      }
    }
    run_.at(12);
    switch (random_.below(3)) {
      case 0:
        return loop(kProgram);
      case 1: {
        const Call fit(run_, "fit", "/home/me/trainer.py");
        return loop("/home/me/trainer.py");
      }
      default: {
        const Call fit(run_, "fit", "/home/me/trainer.py");
        run_.at(30);
        if (random_.one_in(2)) run_.take(512);
        run_.at(33);
        const Call inner(run_, "run_epoch", "/home/me/trainer.py");
        return loop("/home/me/trainer.py");
      }
    }
  }

  // The loop itself: lines 40 to 60 of the function that is called now.
  void loop(std::string_view file) {
    std::vector<uint64_t> local, global;
    std::deque<uint64_t> window;
    const size_t longest = random_.one_in(2) ? static_cast<size_t>(1 + random_.below(3)) : 0;
    const int32_t fills = random_.one_in(2) ? 1 + random_.below(steps_ / 2 - 3) : 0;
    const int32_t cut = random_.one_in(6) ? 2 : 0;  // the run ends within its last step
    uint64_t batch = 0;
    for (step_ = 0; step_ < steps_; ++step_) {
      run_.at(41);
      const uint64_t next = run_.take(widths_ + random_.below(100));
      if (batch != 0) run_.give(batch);
      batch = next;
      if (serves_) {
        run_.at(44);
        request(file, global);
      } else {
        run_.at(44);
        train(file, global);
      }
      if (cut != 0 && step_ == steps_ - 1) break;
      if (leaks_now(Planted::in_step)) {
        run_.at(46);
        keep(global);
      }
      if (leaks_now(Planted::in_local)) {
        run_.at(47);
        keep(local);
      }
      if (step_ < fills) {
        run_.at(49);
        run_.take(4096);
      }
      if (longest > 0) {
        run_.at(51);
        window.push_back(run_.take(3000));
        if (window.size() > longest) {
          run_.give(window.front());
          window.pop_front();
        }
      }
      if (every_ > 0 && step_ % every_ == every_ - 1) {
        run_.at(55);
        evaluate(file, global);
      }
    }
    run_.give(local);
    if (cut != 0) return;
    run_.at(70);
    run_.use(1000);
  }

  void train(std::string_view file, std::vector<uint64_t>& global) {
    const Call step(run_, "training_step", file);
    for (int32_t i = 0; i < micro_; ++i) {
      run_.at(82);
      std::vector<uint64_t> made;
      forward(made, &global);
      run_.at(83);
      made.push_back(run_.take(2));
      run_.at(85);
      backward(made);
      if (leaks_now(Planted::in_microbatch)) {
        run_.at(87);
        keep(global);
      }
    }
    run_.at(89);
    const Call optimizer(run_, "step", kOptimizer);
    for (int32_t i = 0; i < layers_; ++i) {
      run_.at(20);
      if (step_ == 0) run_.take(widths_ * 8);
      run_.at(26);
      run_.use(widths_ * 8);
    }
    run_.give(gradients_);
  }

  void forward(std::vector<uint64_t>& made, std::vector<uint64_t>* kept) {
    const Call call(run_, "_call_impl", kModule);
    run_.at(1750);
    const Call model(run_, "forward", kModel);
    for (int32_t i = 0; i < layers_; ++i) {
      run_.at(15);
      const Call inner(run_, "_call_impl", kModule);
      run_.at(1750);
      const Call layer(run_, "forward", kModel);
      run_.at(22);
      made.push_back(run_.take(widths_ * 16));
      run_.at(23);
      run_.use(widths_ * 32);
      if (i == layers_ / 2 && kept != nullptr && leaks_now(Planted::in_layer)) {
        run_.at(24);
        keep(*kept);
      }
      run_.at(25);
      made.push_back(run_.take(widths_ * 16));
    }
  }

  void backward(std::vector<uint64_t>& made) {
    {
      const Call call(run_, "backward", kAutograd);
      run_.at(353);
      run_.use(2);
    }
    for (size_t i = made.size(); i-- > 0;) {
      if (gradients_.size() < static_cast<size_t>(layers_))
        gradients_.push_back(run_.take_in_backward(widths_));
      run_.give(run_.take_in_backward(widths_ * 16));
      run_.give(made[i]);
      made.pop_back();
    }
    if (!leaks_now(Planted::in_backward)) return;
    const StackId hook = run_.story.recording.stacks.intern(
        std::vector<FrameId>{run_.story.frame("hook", kProgram, 99),
                             run_.story.frame("backward", "/site-packages/torch/autograd/function.py", 311)});
    run_.take(leak_size_, hook);
    count_kept();
  }

  void request(std::string_view file, std::vector<uint64_t>& global) {
    const Call generate(run_, "generate", file);
    std::vector<uint64_t> keys;
    run_.at(81);
    for (int32_t i = 0; i < layers_; ++i) keys.push_back(run_.take(widths_));
    const int32_t tokens = 5 + random_.below(4);
    for (int32_t token = 0; token < tokens; ++token) {
      for (int32_t i = 0; i < layers_; ++i) {
        run_.at(85);
        const uint64_t longer = run_.take(widths_ + token * 64);
        run_.give(keys[static_cast<size_t>(i)]);
        keys[static_cast<size_t>(i)] = longer;
      }
      run_.at(88);
      run_.use(widths_ * 8);
    }
    if (leaks_now(Planted::in_request)) {
      run_.at(92);
      keep(global);
    }
    run_.give(keys);
  }

  void evaluate(std::string_view file, std::vector<uint64_t>& global) {
    const Call call(run_, "evaluate", file);
    for (int32_t i = 0; i < 2; ++i) {
      run_.at(95);
      std::vector<uint64_t> made;
      forward(made, nullptr);
      run_.give(made);
      if (i == 0 && leaks_now(Planted::in_evaluation)) {
        run_.at(97);
        keep(global);
      }
    }
  }

  Random random_;
  Interpreter run_;
  Truth truth_;
  Planted planted_ = Planted::nothing;
  bool serves_ = false;
  int32_t steps_ = 0, every_ = 0, step_ = 0, leak_from_ = 0, grown_at_ = -1;
  int32_t layers_ = 2 + random_.below(6), micro_ = 1 + random_.below(3);
  int64_t widths_ = 1000 + random_.below(5000), leak_size_ = 0;
  std::vector<uint64_t> gradients_;
};

}  // namespace gpustrata::analysis
