// What grew between two recordings: the answer of `gpustrata compare`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/analysis/compare/carried_stacks.h"
#include "engine/analysis/compare/compare.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// Device after device, so that only one is held. The shape of the JSON is in engine/cli/README.md.
class ComparisonAnswer {
 public:
  enum class Form : uint8_t { json, text };
  // `columns`, `rows`: of the text; at most so many segments are listed.
  ComparisonAnswer(TextOut& out, Form form, size_t columns, size_t rows);

  // The files and the moment, as they were asked for.
  void begin(std::string_view before, std::string_view after, std::string_view at);
  void add(const analysis::DeviceComparison& comparison);
  // All stacks of a device at `at`: in JSON the ones that grew most, up to 64 MiB of text, and how many that leaves out, in
  // text a line if `is_beside`, as the table is of another moment.
  struct CarriedSide {
    const model::Recording& recording;
    int32_t device;
    const analysis::CarriedStacks& stacks;
  };
  void add_parts(const CarriedSide& before, const CarriedSide& after, const analysis::ComparedParts& parts,
                 std::string_view at, bool is_beside);
  // Devices that only one of the files has.
  void end(std::span<const int32_t> only_before, std::span<const int32_t> only_after);

 private:
  TextOut& out_;
  std::optional<JsonWriter> json_;  // none: text
  JsonWriter parts_;                // entries of the array
  int64_t parts_left_out_ = 0;
  std::string parts_at_;
  analysis::BeforeAfter parts_bytes_;
  size_t columns_, rows_;
};

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
