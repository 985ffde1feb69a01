#include "engine/answers/calls/call_facts.h"

#include <string>

namespace gpustrata::answers {

using analysis::CallFacts;

void describe(Members& m, const CallFacts& facts) {
  const auto of_frames = [&](Name name, const auto& of) { m.values(As::count, name, facts.frames, of); };
  const auto of_nodes = [&](Name name, const auto& of) { m.values(As::number, name, facts.nodes, of); };
  m.is({"CallFacts", "The calls of a moment, for another recording to compare with."});
  m.texts("texts", facts.texts);
  of_frames({"names", "Numbers of texts, as `files`."},
            [](const CallFacts::Frame& frame) { return frame.name; });
  of_frames("files", [](const CallFacts::Frame& frame) { return frame.file; });
  of_frames("lines", [](const CallFacts::Frame& frame) { return frame.line; });
  of_nodes({"frames", "Of each node, as the next three."},
           [](const CallFacts::Node& node) { return node.frame; });
  of_nodes("callers", [](const CallFacts::Node& node) { return node.caller; });
  of_nodes("weights", [](const CallFacts::Node& node) { return node.weight; });
  of_nodes("blocks", [](const CallFacts::Node& node) { return node.blocks; });
  m.number("without", facts.without);
  m.number("withoutBlocks", facts.without_blocks);
  m.number("rest", facts.rest);
  m.number("restBlocks", facts.rest_blocks);
}

}  // namespace gpustrata::answers
