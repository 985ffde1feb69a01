// Values of JSON text, put together bottom-up: a container is handed to the schema as soon as it is complete,
// as the pickle machine does it. No tree of objects exists; what is unfinished lies in one array.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/string_pool.h"
#include "engine/io/pickle/machine.h"
#include "engine/model/diagnostics.h"

namespace memstrata::io::json {

class ValueBuilder {
 public:
  using Value = pickle::Value;
  using Tag = pickle::Tag;

  ValueBuilder(StringPool& strings, Budget& budget, model::Diagnostics& diagnostics, pickle::Schema& schema)
      : strings_(strings), diagnostics_(diagnostics), schema_(schema), items_(budget) {}

  // All of these return false once memory was refused; then nothing more is taken.
  [[nodiscard]] bool open(bool is_dict, int64_t offset);
  [[nodiscard]] bool key(std::string_view text);
  [[nodiscard]] bool add_text(std::string_view text, int64_t offset);
  [[nodiscard]] bool add(Value value);
  // The innermost container is complete; `partial`: the input ended or is damaged inside of it.
  [[nodiscard]] bool close(bool partial);

  [[nodiscard]] size_t depth() const { return opens_.size(); }
  [[nodiscard]] bool in_dict() const { return !opens_.empty() && opens_.back().is_dict; }
  // The outermost value once all is closed.
  [[nodiscard]] const Value& result() const { return result_; }

  // For telling what else it may be: the profiler's trace, its memory timeline.
  [[nodiscard]] bool has_trace_events() const { return has_trace_events_; }
  [[nodiscard]] bool is_list_of_quadruples() const { return is_list_of_quadruples_; }

 private:
  struct Open {
    int64_t offset = 0;  // of its bracket
    size_t first = 0;    // of its members in items_
    Value key;           // of the member that comes next
    bool is_dict = false;
    bool cut = false;  // members were left out
  };
  [[nodiscard]] bool holds_address() const;

  StringPool& strings_;
  model::Diagnostics& diagnostics_;
  pickle::Schema& schema_;
  Column<Value> items_;
  std::vector<Open> opens_;  // at most kMaxJsonWalked + kMaxJsonDepth
  Value result_{Tag::none, 0, 0};
  bool has_trace_events_ = false;
  bool is_list_of_quadruples_ = false;
};

}  // namespace memstrata::io::json
