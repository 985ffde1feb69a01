// What memory is for, where nobody wrote it down: the rules, as text that a user can replace.
//
// A line is a category, how sure the rule is (0 to 1), and conditions that must all hold; the first line that fits a
// block decides, "unknown" is what no line fits. '#' begins a remark. Conditions:
//   frame:A|B          a frame of the block's stack has A or B in its "file:function" (as the file has it)
//   label:A            the program, or the profiler, called the block A (`user_metadata`, `category`); case is ignored
//   older              it exists before the first event, or before the first step
//   kept               it is never freed in the recording, or only on the way out of a failure that ends it
//   outlives_step      it is kept, or alive when a later step begins
//   in_backward        autograd's engine, or a function `backward`, asked for it
//   outlives_backward  it is alive after the last allocation of the backward pass in which it was made, unless a failure cut that off;
//                      if it was made before the recording, after the first pass or the first allocations outside of one
//   until_backward     it was made outside of a backward pass and is alive when the next one begins
//   of_gradient        it exists before the first event and is kept, and when an optimizer steps there is a gradient of its size,
//                      made after the first forward pass and no workspace of a library: of so many gradients of a size so many
//                      older blocks are parameters. Which ones is not known: the first, by rank, are taken
//   beyond_gradients   it is one of the two next to each of these, where PyTorch's Adam steps and makes nothing of the size that
//                      stays
//   throughout         there is no backward pass, and it is made before any module's forward asks for memory, and alive after the
//                      last of these; before the recording, only if it is not of the size of cuBLAS's workspace, and nothing in that
//                      trains: no optimizer, no function named for training, no failed request before a backward pass at its end
//   in_module          a module's forward (nn.Module.__call__) asked for it
//   freed              it is not kept
//   recorded           it was made in the recording
//   freed_in_optimizer it is freed in an optimizer's frames (torch/optim/, /optimizers/), but not in zero_grad
//   freed_in_zero_grad it is freed in a function `zero_grad`
//   freed_in_later_backward  it was made outside of a backward pass and is freed in a later one; if it was made in the recording,
//                      before the second that begins after it is enough
// and of profiler's traces (trace_lives.h), where `in_backward` and `outlives_backward` mean the records of backward nodes:
//   before             it exists before the first event
//   in_one_op          it is freed in the outermost op that it was made in
//   in_optimizer       it was made in an Optimizer.step
//   freed_in_optimizer, outlives_optimizer: and it is freed before that ends, or not
//   freed_in_backward  it was made in a backward pass and is freed before that ends
//   freed_in_later_backward  it was made outside of backward passes and Optimizer.step, and is freed in a later pass
//   freed_in_zero_grad it is freed in an Optimizer.zero_grad
//   before_backward    it was made before the first backward pass, or there is none
//   from_host          it was made in aten::to or aten::copy_ which calls a copy of the runtime's, and in no module
// What a remark behind a rule says is told of its blocks in the rule's place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/model/part.h"

namespace gpustrata::analysis {

inline constexpr std::string_view kCategoryRules = R"(
# category       sure  conditions
parameter        1.0   label:parameter
gradient         1.0   label:gradient
optimizer_state  1.0   label:optimizer_state
optimizer_state  1.0   label:optimizer
activation       1.0   label:activation
temporary        1.0   label:temporary
temporary        1.0   label:autograd_detail
workspace        1.0   label:workspace
communication    1.0   label:communication
input            1.0   label:input

workspace        0.9   frame:Workspace|workspace
communication    0.8   frame:ncclComm|ProcessGroupNCCL|:all_gather|:all_reduce|:reduce_scatter|:_all_gather|:_reduce_scatter|:foreach_all_gather|:foreach_reduce
optimizer_state  0.9   frame:torch/optim/|/optimizers/ outlives_step
temporary        0.9   frame:torch/optim/|/optimizers/
gradient         0.9   frame:AccumulateGrad outlives_backward
gradient         0.9   frame:AccumulateGrad kept
gradient         0.7   in_backward outlives_backward
gradient         0.8   freed_in_zero_grad
temporary        0.8   in_backward freed
parameter        0.9   frame:modules/module.py:_apply|:load_state_dict|:_load_from_state_dict|:from_pretrained|:reset_parameters|:init_weights|:_init_weights kept
input            0.8   frame:dataloader.py|:collate|:default_collate|:pin_memory|:get_batch|:next_batch|:load_batch
optimizer_state  0.7   older until_backward freed_in_optimizer
activation       0.8   freed_in_later_backward
activation       0.6   in_module kept
parameter        0.7   of_gradient
optimizer_state  0.6   beyond_gradients
parameter        0.6   older recorded kept
parameter        0.5   throughout
temporary        0.7   in_module freed
temporary        0.5   recorded freed
)";

// Of a profiler's trace, which knows neither parameters nor the inputs of ops: by when a block lives. Not what PyTorch's own
// memory timeline calls so.
inline constexpr std::string_view kLifetimeRules = R"(
# category         sure  conditions
preexisting        0.9   before  # there before the first event
temporary          0.9   in_one_op  # allocated and freed in one outermost op
optimizer_state    0.8   in_optimizer outlives_optimizer kept  # allocated in an Optimizer.step, alive after it and at the end
optimizer_scratch  0.9   freed_in_optimizer  # allocated and freed in the same Optimizer.step
gradient           0.8   in_backward outlives_backward freed_in_zero_grad  # allocated in a backward pass, freed by zero_grad
gradient           0.6   in_backward outlives_backward kept  # allocated in a backward pass, alive after it and at the end
backward_scratch   0.8   freed_in_backward  # allocated in a backward pass, freed before it ends
activation         0.8   freed_in_later_backward  # allocated outside of backward and optimizer, freed in a later backward pass
persistent         0.6   before_backward kept  # allocated before the first backward pass, alive at the end
input              0.6   from_host  # allocated in aten::to or aten::copy_ that copies, in no module
other              0.3   # no rule fits
)";

enum Condition : uint32_t {
  kOlder = 1,
  kKept = 2,
  kOutlivesStep = 4,
  kInBackward = 8,
  kOutlivesBackward = 16,
  kUntilBackward = 32,
  kInModule = 64,
  kFreed = 128,
  kBeforeRecording = 256,
  kInOneOp = 512,
  kInOptimizer = 1024,
  kFreedInOptimizer = 2048,
  kOutlivesOptimizer = 4096,
  kFreedInBackward = 8192,
  kFreedInLaterBackward = 16384,
  kFreedInZeroGrad = 32768,
  kBeforeBackward = 65536,
  kFromHost = 131072,
  kThroughout = 262144,
  kBeyondGradients = 524288,
  kOfGradient = 1048576,
  kRecorded = 2097152,
};

struct CategoryRule {
  int32_t category = 0;  // index of CategoryRules::names
  double sure = 0;
  uint32_t conditions = 0;  // all of them
  int32_t frames = -1;      // index of CategoryRules::frames, -1 = any
  std::string label;        // small letters; empty = any
  std::string says;         // the remark behind it; empty = none
  int32_t line = 0;         // in the text, from 1
};

struct CategoryRules {
  static constexpr size_t kMostRules = 200, kMostFrameSets = 32, kMostCategories = 32;

  std::vector<std::string> names;                // names[0] is "unknown"
  std::vector<CategoryRule> rules;               // in order
  std::vector<std::vector<std::string>> frames;  // alternatives
  bool by_lifetime = false;                      // they are kLifetimeRules

  // What the remarks of a category's rules say, with "; or " between them; empty = nothing.
  [[nodiscard]] std::string says(int32_t category) const;
};

// Error: invalid_format, naming the line and what is wrong with it.
[[nodiscard]] Result<CategoryRules> parse_category_rules(std::string_view text);

// The engine's own text for what a part tells.
[[nodiscard]] inline std::string_view category_rules_of(const model::Part& part) {
  return part.kind == model::PartKind::trace && part.spans.count > 0 ? kLifetimeRules : kCategoryRules;
}

}  // namespace gpustrata::analysis
