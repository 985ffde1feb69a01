#include "engine/answers/calls/carried_calls.h"

namespace gpustrata::answers {

using analysis::CarriedCalls;

void describe(Members& m, const CarriedCalls& calls) {
  const auto of_frames = [&](Name name, const auto& of) { m.values(As::count, name, calls.frames, of); };
  const auto of_nodes = [&](Name name, const auto& of) { m.values(As::number, name, calls.nodes, of); };
  m.is({"CallFacts", "The calls of a moment, for another recording to compare with."});
  m.texts("texts", calls.texts);
  of_frames({"names", "Numbers of texts, as `files`."},
            [](const CarriedCalls::Frame& frame) { return frame.name; });
  of_frames("files", [](const CarriedCalls::Frame& frame) { return frame.file; });
  of_frames("lines", [](const CarriedCalls::Frame& frame) { return frame.line; });
  of_nodes({"frames", "Of each node, as the next three."},
           [](const CarriedCalls::Node& node) { return node.frame; });
  of_nodes("callers", [](const CarriedCalls::Node& node) { return node.caller; });
  of_nodes("weights", [](const CarriedCalls::Node& node) { return node.weight; });
  of_nodes("blocks", [](const CarriedCalls::Node& node) { return node.blocks; });
  m.number("without", calls.without);
  m.number("withoutBlocks", calls.without_blocks);
  m.number("rest", calls.rest);
  m.number("restBlocks", calls.rest_blocks);
}

}  // namespace gpustrata::answers
