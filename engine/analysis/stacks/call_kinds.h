// What a stack's calls are for, told by the names of functions and files: a backward pass, a loss, attention. For answers that say
// what a program computes; what asked for memory is own_frame.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

// In the engine of autograd, or in what calls it.
[[nodiscard]] bool is_backward(std::string_view function);

enum CallKind : uint16_t {
  kCallsBackward = 1,
  kCallsOptimizer = 2,
  kCallsInit = 4,               // something is made: "__init__"
  kCallsForward = 8,            // of a module
  kCallsCheckpoint = 16,        // of activations, or of weights
  kCallsTraining = 32,          // "train_step": the word, not "from_pretrained"
  kCallsCrossEntropy = 64,      // forwards or backwards; not the binary one
  kCallsFusedLoss = 128,        // a loss that never has all logits at once
  kCallsSoftmax = 256,          // not its logarithm
  kCallsAttention = 512,        //
  kCallsFusedAttention = 1024,  // that never has all scores at once
};
[[nodiscard]] uint16_t call_kind_of(std::string_view function, std::string_view file);

// Of whole stacks: what any of their frames is.
class CallKinds {
 public:
  explicit CallKinds(const model::Recording& recording);
  // O(frames + nodes of the stack table). False = no memory.
  [[nodiscard]] bool find();
  [[nodiscard]] uint16_t of(StackId stack) const;

 private:
  const model::Recording& recording_;
  Column<uint16_t> of_node_{recording_.budget};
};

}  // namespace gpustrata::analysis
