// The rows of a memory timeline, from numbers to series; see memory_timeline.h.
#pragma once

#include <array>
#include <optional>

#include "engine/io/encodings/json/number_lists.h"
#include "engine/io/readers/series/memory_timeline.h"

namespace gpustrata::io {

class MemoryTimelineRows final : public json::NumberLists::Receiver {
 public:
  explicit MemoryTimelineRows(model::Recording& recording);

  [[nodiscard]] bool open_list(int depth) override;
  [[nodiscard]] bool close_list(int depth, int64_t offset) override;
  [[nodiscard]] bool item(int depth, const values::Value& value, int64_t offset) override;

  [[nodiscard]] bool has_rows() const { return !raw_.empty() || rows_ > 0; }
  // Adds the part. False: memory was refused, which is counted; what found room is there.
  [[nodiscard]] bool publish();

 private:
  static constexpr size_t kCategories = kTimelineCategories.size();

  enum class Form : uint8_t { unknown, raw, plotted };
  // A row of the raw form.
  struct Change {
    int64_t time;  // kNoTime: before
    int64_t bytes;
    uint8_t category;
    uint8_t action;  // 0 = none that is known
  };
  // Numbers of the list at work.
  struct Row {
    std::array<values::Value, kCategories + 1> items{};
    size_t count = 0;
  };

  [[nodiscard]] bool add_time(const values::Value& value, int64_t offset);
  [[nodiscard]] bool add_change(int64_t offset);
  [[nodiscard]] bool add_levels(int64_t offset);
  [[nodiscard]] std::optional<int64_t> number(const values::Value& value, int64_t offset, bool is_size);
  [[nodiscard]] bool publish_raw();
  [[nodiscard]] bool publish_plotted();
  [[nodiscard]] bool name_texts();
  [[nodiscard]] bool add_series(StringId name, int32_t first, size_t count);

  model::Recording& recording_;
  Form form_ = Form::unknown;
  int lists_ = 0;  // in the outermost one, ended
  Row row_;
  Row first_;                                  // the beginning of the first list, while the form is unknown
  Column<int64_t> times_{recording_.budget};   // plotted: of each row, kNoTime = left out
  Column<int64_t> levels_{recording_.budget};  // kCategories for each row, kNoValue = the row is left out
  size_t rows_ = 0;
  int64_t bad_time_ = -1;  // where the first one is
  Column<Change> raw_{recording_.budget};
  StringId total_;
  std::array<StringId, kCategories> categories_{};
  std::array<StringId, 5> actions_{};
};

}  // namespace gpustrata::io
