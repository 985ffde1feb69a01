// What grew between two recordings: the answer of `gpustrata compare`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "engine/analysis/compare/carried_stacks.h"
#include "engine/analysis/compare/compare.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// All stacks of devices at a moment, the ones that grew most up to 64 MiB of text, and how many that leaves out.
class AllParts {
 public:
  struct Side {
    const model::Recording& recording;
    int32_t device;
    const analysis::CarriedStacks& stacks;
  };
  void add(const Side& before, const Side& after, const analysis::ComparedParts& parts);

 private:
  friend void describe_parts(Members& m, const AllParts& parts);
  JsonWriter entries_;
  int64_t left_out_ = 0;
  analysis::BeforeAfter bytes_;
};
// In text a line, beside a table of another moment.
void peaks_to_text(TextOut& out, int32_t device, const analysis::BeforeAfter& peaks);

// Device after device, so that only one is held.
using AddComparison = std::function<void(const analysis::DeviceComparison&)>;
struct ComparisonLine {
  std::string_view before, after, at;  // the files and the moment, as they were asked for
  bool damaged;                        // one of the files: Diagnostics::incomplete()
  std::function<void(const AddComparison&)> devices;
  std::string_view parts_at;
  const AllParts& parts;                             // of these devices
  std::span<const int32_t> only_before, only_after;  // devices that only one of the files has
};
void describe(Members& m, const ComparisonLine& line);
void only_devices_to_text(TextOut& out, std::span<const int32_t> only_before,
                          std::span<const int32_t> only_after);

[[nodiscard]] std::string to_text(const analysis::Obstacle& obstacle);

// The recording and the group that a row is named by: before, if that has it.
struct NamedBy {
  const model::Recording& recording;
  const analysis::TopGroup& group;
};
[[nodiscard]] NamedBy named_by(const analysis::DeviceComparison& comparison,
                               const analysis::ComparedPart& row);

void describe(Members& m, const analysis::DeviceComparison& comparison);

// Both sides, what grew, a table of groups, the segments that only one has.
void to_text(TextOut& out, const analysis::DeviceComparison& comparison, size_t columns, size_t rows);

}  // namespace gpustrata::answers
