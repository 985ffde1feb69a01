// Allocations of a snapshot given the ops of a trace of the same run. Both made by hand: a tick is a microsecond.
#include "engine/replay/attached_ops.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/replay/hand_spans.h"

namespace gpustrata::replay {
namespace {

using trace::Action;

class Snapshot {
 public:
  void alloc(int64_t time) { add(Action::alloc, time); }
  void add(Action action, int64_t time) {
    (void)recording.events.append({.action = action, .address = next_++, .size = 1, .time = time});
  }
  void finish() {
    model::Part& part = recording.parts.emplace_back();
    model::DeviceTrace device;
    device.events = {0, static_cast<int32_t>(recording.events.size_rows())};
    part.traces.push_back(device);
  }
  // Names of frames, innermost first; "-" = no stack.
  [[nodiscard]] std::string stack(size_t event) const {
    const StackId stack = recording.events.stack[event];
    if (stack.is_none()) return "-";
    std::string names;
    for (const FrameId frame : recording.stacks.frames_of(stack))
      names += (names.empty() ? "" : " ") + std::string(recording.strings.view(recording.frames[frame].name));
    return names;
  }

  Budget budget{int64_t{1} << 26};
  model::Recording recording{budget};

 private:
  uint64_t next_ = 1 << 20;
};

// a [0, 100) holds b [10, 20); c [15, 30) begins in b and ends after it: while both run the one that began last counts.
TEST(AttachedOps, TheOpThatStartedLastCounts) {
  HandSpans trace;
  trace.op(0, 100, 0, model::SpanKind::op, "a");
  trace.op(10, 10, 0, model::SpanKind::op, "b");
  trace.op(15, 15, 0, model::SpanKind::op, "c");
  trace.finish();
  Snapshot snapshot;
  for (const int64_t time : {5, 12, 17, 25, 50}) snapshot.alloc(time);
  snapshot.add(Action::free_completed, 60);
  snapshot.finish();
  const auto found = attach_ops(snapshot.recording, trace.recording(), {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->allocations, 5);
  EXPECT_EQ(found->by_time, 5);
  EXPECT_EQ(snapshot.stack(0), "a");
  EXPECT_EQ(snapshot.stack(1), "b a");
  EXPECT_EQ(snapshot.stack(2), "c b a");
  EXPECT_EQ(snapshot.stack(3),
            "c b a");  // b is over, but what began inside of it says that it was called there
  EXPECT_EQ(snapshot.stack(4), "a");
  EXPECT_EQ(snapshot.stack(5), "-");  // a free
}

TEST(AttachedOps, WhatCannotBeToldIsCounted) {
  HandSpans trace;
  trace.op(10, 10, 0, model::SpanKind::op, "a");
  trace.op(15, 10, 1, model::SpanKind::op, "b");
  trace.op(40, 10, 0, model::SpanKind::op, "c");
  trace.finish();
  Snapshot snapshot;
  for (const int64_t time : {0, 17, 30, 60}) snapshot.alloc(time);
  snapshot.alloc(model::kNoTime);
  snapshot.finish();
  const auto found = attach_ops(snapshot.recording, trace.recording(), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->by_time, 0);
  EXPECT_EQ(found->outside, 2);
  EXPECT_EQ(found->on_several_threads, 1);
  EXPECT_EQ(found->in_no_op, 1);
  EXPECT_EQ(found->without_time, 1);
  EXPECT_EQ(found->first_op_ns, 10'000);
  EXPECT_EQ(found->last_op_ns, 50'000);
  EXPECT_EQ(snapshot.stack(1), "-");
}

TEST(AttachedOps, AnOffsetMovesTheSnapshotAndMayBeHostile) {
  HandSpans trace;
  trace.op(10, 10, 0, model::SpanKind::op, "a");
  trace.finish();
  for (const int64_t offset : {int64_t{0}, int64_t{1015}, INT64_MIN, INT64_MAX}) {
    Snapshot snapshot;
    snapshot.alloc(-1000);
    snapshot.alloc(INT64_MAX);
    snapshot.finish();
    const auto found = attach_ops(snapshot.recording, trace.recording(), {offset, false});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->by_time, offset == 1015 ? 1 : 0);
    EXPECT_EQ(snapshot.stack(0), offset == 1015 ? "a" : "-");
  }
}

TEST(AttachedOps, OpsAloneReplaceAllOtherStacks) {
  HandSpans trace;
  trace.op(10, 10, 0, model::SpanKind::op, "a");
  trace.finish();
  Snapshot snapshot;
  snapshot.alloc(12);
  snapshot.alloc(30);
  model::Recording& rec = snapshot.recording;
  const FrameId frame = rec.frames.intern({rec.strings.intern("step"), rec.strings.intern("train.py"), 3});
  for (const size_t event : {0, 1}) rec.events.stack[event] = rec.stacks.intern(std::vector{frame});
  snapshot.finish();
  ASSERT_TRUE(attach_ops(rec, trace.recording(), {0, true}));
  EXPECT_EQ(snapshot.stack(0), "a");
  EXPECT_EQ(snapshot.stack(1), "-");
}

TEST(AttachedOps, WithoutOpsOrAllocationsItIsRefused) {
  HandSpans trace, empty;
  trace.op(10, 10, 0, model::SpanKind::op, "a");
  trace.finish();
  empty.finish();
  Snapshot snapshot;
  snapshot.alloc(12);
  snapshot.finish();
  EXPECT_FALSE(attach_ops(snapshot.recording, empty.recording(), {}));
  Snapshot nothing;
  nothing.finish();
  EXPECT_FALSE(attach_ops(nothing.recording, trace.recording(), {}));
}

}  // namespace
}  // namespace gpustrata::replay
