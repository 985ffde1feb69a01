// What a view of the allocator's states tells: structs that session/state_view.h fills and answers/details/state_info.h
// writes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/report/summary.h"
#include "engine/base/ids.h"

namespace gpustrata::analysis {

struct StateInfo {
  int32_t events = 0;
  int32_t blocks = 0;  // lives of blocks
  int32_t ranges = 0;
  int32_t peak_event = -1;
  int64_t oom_events = 0, snapshot_events = 0, annotate_events = 0;  // how many there are
  std::vector<Finding> findings;  // what undoing the events repaired (replay/state_history.h)
};

// A block and the segment around it, in pixels of the zoomed layout.
struct StatePlace {
  double x = 0, y = 0, width = 0, height = 0;  // of the segment
  double block_x = 0, block_width = 0;
};

// Rows of the address map.
struct RegionList {
  struct Row {
    int32_t row = 0;
    uint64_t address = 0;
    uint32_t version = 0;
    int64_t size = 0;
    StreamId stream;
    PoolId pool;
    bool expandable = false;
    int32_t pieces = 0;
  };
  int32_t count = 0;  // of all
  std::vector<Row> rows;
};

}  // namespace gpustrata::analysis
