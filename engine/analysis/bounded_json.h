// Parts of JSON answers whose length a file decides: cut, and with a count of what was left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/ids.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace memstrata::analysis {

// Real texts and lists are far below.
inline constexpr size_t kLongestText = size_t{64} << 10;  // of which an answer has one
inline constexpr size_t kLongestInList = size_t{4} << 10;
inline constexpr int32_t kMostInList = 1000;
inline constexpr size_t kListBytes = size_t{1} << 20;

// Says when a list of the answer is full and counts what does not go in any more.
class Room {
 public:
  explicit Room(const JsonWriter& json) : json_(json), end_(json.text().size() + kListBytes) {}
  [[nodiscard]] bool for_one_more() {
    const bool fits = entries_ < kMostInList && json_.text().size() < end_;
    entries_ += fits ? 1 : 0;
    left_out_ += fits ? 0 : 1;
    return fits;
  }
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

// The lines of a stack as an array [{"text","name","file","line","repeats","hidden","fx":[line,...]}],
// innermost first (see frame_filter.h); empty for none. Returns how many frames were left out.
int64_t write_frames(JsonWriter& json, const model::Recording& recording, StackId stack);

}  // namespace memstrata::analysis
