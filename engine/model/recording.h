// Recording: everything known of one input file, whichever system wrote it.
//
// Readers append rows; views and analyses only read. tables.h says what the rows are, part.h which of them
// belong together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/hash.h"
#include "engine/base/string_pool.h"
#include "engine/model/diagnostics.h"
#include "engine/model/part.h"
#include "engine/model/tables.h"
#include "engine/trace/stack_table.h"
#include "engine/trace/trace_event.h"

namespace gpustrata::model {

using Pool = trace::PoolKey;

struct Recording {
  explicit Recording(Budget& budget);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  [[nodiscard]] std::string_view action_name(trace::Action action) const;
  // Rows of `extras` that belong to the row; O(log n) once sealed.
  [[nodiscard]] RowRange extras_of(Owner owner, int32_t row) const;
  // None is -1 in `value`. Adds on first sight; when 32767 are used up: the last one, and a diagnostic.
  [[nodiscard]] StreamId stream_of(int64_t handle);
  [[nodiscard]] PoolId pool_of(Pool pool);
  // Called once by the reader: sorts the side tables, limits the devices that are listed, finds what each
  // part is able to show, checks that columns have equal length.
  void seal();

  // What is there now. A part that is added after seal() is sealed alone, so that all others stay what they were; it is
  // taken away again, with the texts that came with it, by going back. Neither is for parts with side tables (`extras`).
  struct Mark {
    std::vector<size_t> rows;  // by table
    size_t parts = 0;
    StringPool::Mark strings;
    Diagnostics diagnostics;
  };
  [[nodiscard]] Mark mark() const;
  void seal_last_part();
  void back_to(const Mark& mark);

  Budget& budget;
  StringPool strings;
  trace::FrameTable frames{budget};
  trace::StackTable stacks{budget};
  std::vector<int64_t> streams;  // raw handles; index 0 is handle 0
  std::vector<Pool> pools;       // index 0 is (0, 0)
  std::vector<StringId> unknown_actions;
  EventTable events{budget};
  BlockTable blocks{budget};
  HistoryTable history{budget};
  SegmentTable segments{budget};
  AnnotationTable annotations{budget};
  SeriesTable series{budget};
  PointTable points{budget};
  ExtraTable extras{budget};
  SpanTable spans{budget};
  ThreadTable threads{budget};
  RecordTable records{budget};
  std::vector<Part> parts;
  std::vector<Column<uint8_t>> fleets;  // of parts that are fleets: the text of each, as the file has it
  Diagnostics diagnostics;
  int64_t input_bytes = 0;
  std::string format = "pickle";  // "json in gzip": what the snapshots were found in, innermost first

 private:
  struct Mixed {
    size_t operator()(int64_t handle) const {
      return static_cast<size_t>(mix_hash(static_cast<uint64_t>(handle)));
    }
    size_t operator()(const Pool& pool) const {
      return static_cast<size_t>(
          mix_hash(mix_hash(static_cast<uint64_t>(pool.graph_id)) + static_cast<uint64_t>(pool.user_id)));
    }
  };
  template <typename Self, typename Function>
  static void each_table(Self& self, const Function& function);
  [[nodiscard]] int64_t rows_to_look_at() const;
  void limit_devices();
  void find_capabilities();

  std::unordered_map<int64_t, int16_t, Mixed> stream_ids_;  // of `streams`; at most 32768 entries
  std::unordered_map<Pool, int16_t, Mixed> pool_ids_;
};

}  // namespace gpustrata::model
