// Which ops and threads a Chrome trace of some parts has.
#include "engine/answers/exports/exported_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/model/recording.h"
#include "tests/unit/answers/collected.h"

namespace gpustrata::answers {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// An archive of two traces and of one that tells of no ops, each with a thread of its own.
class ExportedSpans : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const int32_t trace : {0, 1}) {
      const std::string number = std::to_string(trace);
      ASSERT_TRUE(recording.threads.append({.name = recording.strings.intern("thread " + number)}));
      ASSERT_TRUE(recording.spans.append(
          {.name = recording.strings.intern("op " + number), .thread = trace, .start = 10, .duration = 5}));
      // The host and the device of a trace.
      for (int part = 0; part < 2; ++part) add_part({trace, 1});
    }
    ASSERT_TRUE(recording.threads.append({.name = recording.strings.intern("idle")}));
    add_part({});
  }
  void add_part(model::RowRange spans) {
    model::Part& part = recording.parts.emplace_back();
    part.kind = model::PartKind::trace;
    part.spans = spans;
  }
  [[nodiscard]] std::string exported(size_t part) const {
    return collected([&](TextOut& out) { EXPECT_TRUE(export_trace(out, recording, part)); });
  }

  Budget budget{int64_t{1} << 24};
  model::Recording recording{budget};
};

[[nodiscard]] size_t times_in(const std::string& text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST_F(ExportedSpans, PartsOfATraceShareTheirs) {
  const std::string all = exported(kAllParts);
  for (const char* name : {"\"op 0\"", "\"op 1\"", "\"thread 0\"", "\"thread 1\""})
    EXPECT_EQ(times_in(all, name), 1U) << name;
}

TEST_F(ExportedSpans, AreThoseOfTheWantedPart) {
  EXPECT_THAT(exported(3), AllOf(HasSubstr("\"op 1\""), HasSubstr("\"thread 1\""), Not(HasSubstr("\"op 0\"")),
                                 Not(HasSubstr("\"thread 0\""))));
}

TEST_F(ExportedSpans, ThreadsWithoutAnyAreNotNamed) {
  EXPECT_THAT(exported(4), Not(HasSubstr("thread_name")));
  EXPECT_THAT(exported(kAllParts), Not(HasSubstr("idle")));
}

}  // namespace
}  // namespace gpustrata::answers
