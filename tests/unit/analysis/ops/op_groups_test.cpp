// What stands around the ops of one row.
#include "engine/analysis/ops/op_groups.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/replay/hand_spans.h"

namespace gpustrata::analysis {
namespace {

// "op < the one around it < ...", of a span.
[[nodiscard]] std::string path_of(const model::Recording& recording, const OpGroups& groups, int32_t span) {
  const int32_t group = groups.of(span);
  std::string path(recording.strings.view(groups.name(group)));
  for (const StringId name : groups.around(group, 9)) path.append(" < ").append(recording.strings.view(name));
  return path;
}

TEST(OpGroups, TheOutermostOpIsAroundAllOthers) {
  replay::HandSpans made;
  made.op(0, 100, 0, model::SpanKind::op, "train");
  made.op(10, 50, 0, model::SpanKind::op, "linear");
  made.op(20, 10, 0, model::SpanKind::op, "addmm");
  made.finish();
  OpGroups groups(made.recording(), OpBy::path);
  ASSERT_TRUE(groups.build(made.recording().parts[0].spans));
  EXPECT_EQ(path_of(made.recording(), groups, 0), "train");
  EXPECT_EQ(path_of(made.recording(), groups, 1), "linear < train");
  EXPECT_EQ(path_of(made.recording(), groups, 2), "addmm < linear < train");
}

}  // namespace
}  // namespace gpustrata::analysis
