#include "engine/answers/live/never_freed.h"

#include <fmt/core.h>

#include <string>

#include "engine/answers/stacks/who.h"

namespace gpustrata::answers {

void describe(Members& m, const model::Recording& recording, const NeverFreed& never) {
  const analysis::Top& found = m.of(never.found);
  const std::string since = never.from < 0 ? std::string() : fmt::format(" born>={}", never.from);
  const std::string terms = fmt::format("freed:never born<={}{}", found.event, since);
  m.is({"NeverFreed", "Allocated in a stretch and never freed; rows and other add up."});
  m.bytes("bytes", found.bytes);
  m.count("blocks", found.blocks);
  m.text({"filter", "Means all of them."}, terms);
  m.list("rows", found.groups, [&](const analysis::TopGroup& group) {
    m.text("who", [&] { return who_or_none(recording, group.who); });
    m.bytes("bytes", group.bytes);
    m.count("blocks", group.blocks);
    m.rank({"rank", "Of the largest block."}, group.largest);
    m.text("filter", [&] { return filter_text(recording, group.who, terms); });
  });
  m.object("other", [&] {
    m.bytes("bytes", found.other_bytes);
    m.count("blocks", found.other_blocks);
    m.count("rows", found.other_groups());
  });
}

}  // namespace gpustrata::answers
