// Who asked for the memory of a moment, by whole stacks, small enough to travel to another recording; and the calls of both
// as one tree, a difference (session/README.md, "Two files").
//
// They hold texts and numbers, nothing of the recording they are of. Frames are one where their texts are: the function, the
// file, and by line the line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/analysis/calls/call_tree.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

struct CarriedCalls {
  explicit CarriedCalls(Budget& budget) : frames(budget), nodes(budget) {}

  struct Frame {
    int32_t name = 0, file = 0;  // numbers of `texts`
    int32_t line = 0;
  };
  struct Node {
    int32_t frame = 0;    // number of `frames`
    int32_t caller = -1;  // a lower number of `nodes`, -1 = outermost
    double weight = 0;    // of the stacks whose innermost call it is
    int64_t blocks = 0;
  };

  std::vector<std::string> texts;  // at most kLongestName bytes each
  Column<Frame> frames;
  Column<Node> nodes;
  double without = 0;  // of blocks without a stack
  int64_t without_blocks = 0;
  double rest = 0;  // of the stacks with the least weight, which are not among the nodes
  int64_t rest_blocks = 0;
};

// What a question can carry (base/json_value.h): four numbers a node, three a frame, and the texts.
inline constexpr size_t kMostCarriedCalls = 60'000;

// The stacks with the most weight, until `most` numbers and texts are told. `asked` is of a moment or a range, no difference.
// O(bands + nodes of the stack table + nodes log nodes). Error: limit_exceeded.
[[nodiscard]] Result<CarriedCalls> find_carried_calls(const BandsAsked& of, const WeightsAsked& asked,
                                                      size_t most);

// Calls after less calls before. The tree's keys are frames of `both`, which has the frames and stacks of the two and
// nothing else. What `before.rest` holds is in no node.
struct TwoCalls {
  std::unique_ptr<model::Recording> both;
  CallTree tree;
};
// Of `asked` counts what is told of frames, not of weights. O(nodes * depth). Error: limit_exceeded.
[[nodiscard]] Result<TwoCalls> compare_calls(const CarriedCalls& before, const CarriedCalls& after,
                                             const TreeAsked& asked, Budget& budget);

}  // namespace gpustrata::analysis
