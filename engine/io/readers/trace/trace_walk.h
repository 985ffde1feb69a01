// Text of a trace in chunks -> its events, one after the other, and what stands around them. Nothing is held but the
// event at hand. The result does not depend on the chunks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/io/encodings/json/walker.h"
#include "engine/io/readers/trace/trace_rows.h"
#include "engine/model/diagnostics.h"
#include "engine/model/part.h"

namespace gpustrata::io::traces {

// The longest event that is read; longer ones are left out.
inline constexpr size_t kLongestEvent = size_t{1} << 20;

class Walk {
 public:
  enum class Halt : uint8_t { none, complete, ended, damaged, out_of_budget };

  Walk(Rows& rows, model::Diagnostics& diagnostics) : rows_(rows), diagnostics_(diagnostics) {}

  // Reads what can be read of `text`, `offset` being its place, and tells how many bytes that was. The others, at
  // most kLongestEvent, come again in front of the next ones. `last`: no more text comes.
  [[nodiscard]] size_t walk(std::string_view text, int64_t offset, bool last);

  [[nodiscard]] Halt halt() const { return halt_; }
  [[nodiscard]] int64_t halt_offset() const { return halt_offset_; }
  [[nodiscard]] std::string_view halt_text() const { return halt_text_; }
  [[nodiscard]] bool found_events() const { return found_events_; }
  [[nodiscard]] const model::Clock& clock() const { return clock_; }
  [[nodiscard]] const model::Launch& launch() const { return launch_; }

 private:
  enum class At : uint8_t { start, members, events, lost_event, lost_member, skipping };

  // One thing further. False: more text is needed, or it is over.
  [[nodiscard]] bool step();
  [[nodiscard]] bool start();
  [[nodiscard]] bool member();
  [[nodiscard]] bool event();
  [[nodiscard]] bool find_next_event();
  [[nodiscard]] bool find_known_member();
  [[nodiscard]] bool skip_value();
  // The event at at_ cannot be read as it is; `tried` bytes of it were looked at.
  [[nodiscard]] bool repair_event(size_t tried, bool is_cut);
  [[nodiscard]] bool take(const Event& event, size_t end);
  [[nodiscard]] bool is_too_long() const { return text_.size() - at_ >= kLongestEvent; }
  [[nodiscard]] bool halt_at(Halt halt, std::string_view text);
  [[nodiscard]] int64_t place() const { return offset_ + static_cast<int64_t>(at_); }
  [[nodiscard]] bool end_list();

  Rows& rows_;
  model::Diagnostics& diagnostics_;
  std::string_view text_;
  size_t at_ = 0;
  size_t kept_ = 0;           // bytes before at_ that are looked back at
  int64_t failed_bytes_ = 0;  // looked at in vain
  int64_t offset_ = 0;
  bool last_ = false;
  At state_ = At::start;
  json::ValueEnd skipped_;
  bool separates_ = false;  // a comma may come: something stands before it
  int64_t commas_ = 0;      // in front of at_
  bool is_list_ = false;    // the outermost value is the list of events
  bool found_events_ = false;
  model::Clock clock_{1, 0};
  model::Launch launch_;
  Halt halt_ = Halt::none;
  int64_t halt_offset_ = -1;
  std::string_view halt_text_;
};

}  // namespace gpustrata::io::traces
