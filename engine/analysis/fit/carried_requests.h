// The requests of one recording, carried to the session of another one to be fitted there: what a fit asks of a rehearsal, and
// nothing else. They are found where the file is (find_carried_requests) and told, in parts, where the fit is made (ToldRequests).
//
// Numbers are places in the lists here. Addresses, times and settings are not carried: those of the last recording of a fit count,
// which is the one that is asked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/analysis/what_if/what_if.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/simulate/request_log.h"

namespace gpustrata::analysis {

// Larger ones are not exact as numbers of JavaScript.
inline constexpr int64_t kLargestCarried = int64_t{1} << 53;

struct CarriedRequests {
  explicit CarriedRequests(Budget& budget) : frames(budget), nodes(budget), rows(budget) {}

  struct Frame {
    int32_t name = 0, file = 0;  // texts
    int32_t line = 0;            // 0 = not known
  };
  struct Node {
    int32_t frame = 0;
    int32_t caller = -1;  // a lower number; -1 = outermost
  };
  static constexpr int32_t kNoStack = -1, kEmptyStack = -2;
  struct Row {  // as in RequestLog
    simulate::Request request = simulate::Request::snapshot;
    int64_t size = 0;
    int32_t stream = 0;  // 0 = the default one, others in the order in which they appear
    int32_t subject = -1;
    int32_t stack = kNoStack;  // the node of its innermost frame
  };
  // The same with every part.
  struct About {
    int64_t rows = 0;     // in all parts
    int64_t present = 0;  // of them, as in RecordedRequests
    int64_t peak_reserved = 0;
    int64_t ooms = 0;
    int32_t first_oom_event = -1;
    bool exact = false;  // Fidelity
    bool at_failure = false;
    bool is_open = false;  // as in Ending
    bool is_cut = false;
  };

  std::vector<std::string> texts;  // at most kLongestName bytes each
  Column<Frame> frames;
  Column<Node> nodes;
  std::vector<trace::PoolKey> pools;
  Column<Row> rows;
  About about;
};

// O(rows + nodes). Error: wrong_usage (a size beyond kLargestCarried), limit_exceeded.
[[nodiscard]] Result<CarriedRequests> find_carried_requests(const Rehearsal& rehearsal, Budget& budget);

// What was told, as a rehearsal with its own recording. Never moves.
class ToldRequests {
 public:
  // Error: limit_exceeded.
  [[nodiscard]] static Result<std::unique_ptr<ToldRequests>> make(const CarriedRequests::About& about,
                                                                  Budget& budget);
  ToldRequests(const ToldRequests&) = delete;
  ToldRequests& operator=(const ToldRequests&) = delete;
  ~ToldRequests();

  // Behind what was told before. Error: wrong_usage (numbers that are not there, requests that no recording has), limit_exceeded;
  // then what was told is of no use.
  [[nodiscard]] Status add(const CarriedRequests& part);
  // All rows are there.
  [[nodiscard]] bool is_whole() const;
  [[nodiscard]] const Rehearsal& rehearsal() const { return *rehearsal_; }

 private:
  ToldRequests(const CarriedRequests::About& about, Budget& budget);
  [[nodiscard]] Status add_row(const CarriedRequests::Row& row);
  [[nodiscard]] Result<StackId> stack_of(int32_t node);

  CarriedRequests::About about_;
  model::Recording recording_;
  std::unique_ptr<replay::Device> device_;
  std::unique_ptr<Rehearsal> rehearsal_;
  Column<StringId> texts_;
  Column<FrameId> frames_;
  Column<CarriedRequests::Node> nodes_;
  Column<StackId> stack_of_node_;  // none = not asked for yet
  Column<uint8_t> is_freed_;       // by row
};

}  // namespace gpustrata::analysis
