// Parts of answers whose length a file decides: cut, and with a count of what was left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/analysis/device/device_index.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// Real texts and lists are far below.
inline constexpr size_t kLongestText = size_t{64} << 10;  // of which an answer has one
inline constexpr size_t kLongestInList = size_t{4} << 10;
inline constexpr size_t kListBytes = size_t{1} << 20;

// Says when a list of the answer is full and counts what does not go in any more.
class Room {
 public:
  explicit Room(const JsonWriter& json) : json_(json), end_(json.size() + kListBytes) {}
  [[nodiscard]] bool for_one_more() {
    const bool fits = entries_ < analysis::kMostInList && json_.size() < end_;
    entries_ += fits ? 1 : 0;
    left_out_ += fits ? 0 : 1;
    return fits;
  }
  // Others that were not even offered.
  void leave_out(int64_t more) { left_out_ += more; }
  [[nodiscard]] int64_t left_out() const { return left_out_; }

 private:
  const JsonWriter& json_;
  size_t end_;
  int32_t entries_ = 0;
  int64_t left_out_ = 0;
};

// "… 17 more"
[[nodiscard]] std::string more_text(int64_t count);
[[nodiscard]] std::string in_list(std::string_view text);
[[nodiscard]] std::optional<std::string> or_none(std::string text);  // none if it is empty
// The same of a text of the recording, none for none.
[[nodiscard]] std::optional<std::string> text_or_none(const model::Recording& recording, StringId text);

}  // namespace gpustrata::answers
