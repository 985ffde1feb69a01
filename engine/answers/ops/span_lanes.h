// Lanes of ops as JSON, and one op in full.
#pragma once

#include <span>

#include "engine/analysis/ops/span_details.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"
#include "engine/replay/span_lanes.h"

namespace gpustrata::answers {

void describe(Members& m, const model::Recording& recording, const replay::SpanLanes& lanes);

// One op of a lane, or several next to each other.
struct LaneEntry {
  int32_t lane, span, count, name, lit;
  bool is_annotation;
  double from, to;
};
struct ShownLanes {
  const model::Recording& recording;
  std::span<const StringId> names;
  std::span<const LaneEntry> entries;
};
void describe(Members& m, const ShownLanes& lanes);

// What ran, of its innermost op.
void describe(Members& m, const model::Recording& recording, const replay::SpanLanes& lanes, int32_t span);

// Of a snapshot and of a trace of one run.
struct ShownAllocation {
  int32_t event;
  double time_us, address;
};
struct Allocations {
  int32_t next;
  std::span<const ShownAllocation> all;
};
void describe(Members& m, const Allocations& allocations);
struct AllocationOps {
  std::span<const int32_t> nodes;
};
void describe(Members& m, const AllocationOps& ops);
struct ShownOpPath {
  StringId name;
  int32_t parent;
  bool is_op;
};
struct ShownOpPaths {
  const model::Recording& recording;
  std::span<const ShownOpPath> nodes;
};
void describe(Members& m, const ShownOpPaths& paths);

struct ShownSpan {
  const model::Recording& recording;
  const model::Part& part;
  const replay::SpanAxis& axis;
  const analysis::SpanDetails& details;
};
void describe(Members& m, const ShownSpan& shown);

}  // namespace gpustrata::answers
