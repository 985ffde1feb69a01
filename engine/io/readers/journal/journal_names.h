// What a journal calls by numbers: texts, frames, stacks; and the facts about its run.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/column.h"
#include "engine/io/journal/records.h"
#include "engine/model/recording.h"

namespace gpustrata::io::journal {

class Names {
 public:
  explicit Names(model::Recording& recording) : recording_(recording) {}

  // Of any kind; others than names are passed over. A name that refers to nothing is counted at `offset`. False: the budget
  // refuses.
  [[nodiscard]] bool add(const Records::Record& record, int64_t offset);

  // None for -1; what is not there is counted.
  [[nodiscard]] StringId text(int32_t id, int64_t offset) { return known(texts_, id, offset); }
  [[nodiscard]] StackId stack(int32_t id, int64_t offset) { return known(stacks_, id, offset); }

  struct Fact {
    StringId key, value;
  };
  [[nodiscard]] std::span<const Fact> facts() const { return facts_.span(); }
  // The last one of this key; "" = none.
  [[nodiscard]] StringId fact(std::string_view key) const;

 private:
  template <typename Id>
  [[nodiscard]] Id known(const Column<Id>& ids, int32_t id, int64_t offset) {
    if (id == -1) return {};
    if (id >= 0 && static_cast<size_t>(id) < ids.size()) return ids[id];
    recording_.diagnostics.add(model::Diag::integer_out_of_range, offset, "a name that was not told");
    return {};
  }
  // A number that was told already gets the new meaning, the next one is added, others are counted.
  template <typename Id>
  [[nodiscard]] bool set(Column<Id>& ids, int32_t id, Id meaning, int64_t offset);
  [[nodiscard]] bool add_frame(const FrameRecord& frame, int64_t offset);
  [[nodiscard]] bool add_stack(const Records::Record& record, int64_t offset);
  [[nodiscard]] bool odd(int64_t offset);

  model::Recording& recording_;
  Column<StringId> texts_{recording_.budget};
  Column<FrameId> frames_{recording_.budget};
  Column<StackId> stacks_{recording_.budget};
  Column<Fact> facts_{recording_.budget};
  Column<FrameId> list_{recording_.budget};  // of the stack at hand
};

}  // namespace gpustrata::io::journal
