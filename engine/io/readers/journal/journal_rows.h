// Chunks of a journal, in order, to rows of a Recording: one part, a snapshot of the last moment.
#pragma once

#include <map>
#include <vector>

#include "engine/io/journal/event_columns.h"
#include "engine/io/journal/running_state.h"
#include "engine/io/readers/journal/journal_layout.h"
#include "engine/io/readers/journal/journal_names.h"

namespace gpustrata::io::journal {

class Rows {
 public:
  explicit Rows(model::Recording& recording) : recording_(recording), names_(recording) {}

  // Adds a part. False: the budget refuses.
  [[nodiscard]] bool add_part(const Layout& layout);

 private:
  struct Batch {
    EventColumns columns;
    uint64_t chunk = 0;  // its place in the layout
    int64_t offset = 0;
  };
  struct Place {
    uint32_t batch = 0, row = 0;
  };

  [[nodiscard]] bool read_names(const Layout& layout);
  [[nodiscard]] bool read_batches(const Layout& layout);
  [[nodiscard]] bool sort_by_device(model::Part& part);
  [[nodiscard]] bool add_events(model::Part& part);
  [[nodiscard]] bool add_event(const EventRecord& event, int64_t offset);
  [[nodiscard]] bool add_mark(const EventRecord& event, int64_t offset);
  [[nodiscard]] bool find_state(const Layout& layout);
  [[nodiscard]] bool add_segments(model::Part& part);
  [[nodiscard]] bool add_segment(int32_t number, const RunningState::Device& device,
                                 const SegmentRecord& segment);
  [[nodiscard]] bool add_block(const BlockRecord& block, model::BlockState state);
  [[nodiscard]] bool add_facts(model::Part& part, const Layout& layout);
  [[nodiscard]] bool add_extra(std::string_view key, StringId value);

  model::Recording& recording_;
  Names names_;
  RunningState state_{recording_.budget};
  Column<Batch> batches_{recording_.budget};
  Column<Place> order_{recording_.budget};  // of events by device, where there are several
  std::map<uint16_t, uint64_t> counts_;     // events of each device
  std::map<uint16_t, uint64_t> before_;     // that are no longer in the file
  StackId empty_;
  bool hides_event_pools_ = false;
  int32_t host_ = -1;  // number of the host among the devices
};

}  // namespace gpustrata::io::journal
