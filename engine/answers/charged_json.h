// JSON text that grows with the input, charged to a Budget while it is written.
#pragma once

#include "engine/base/charge.h"
#include "engine/base/json_writer.h"
#include "engine/base/status.h"

namespace memstrata::answers {

class ChargedJson {
 public:
  ChargedJson(const JsonWriter& json, Budget& budget)
      : json_(json), charge_(budget), counted_(json.text().size()) {}

  // After each row: what was written since the last time is charged, twice because the text grows by
  // doubling. Error: limit_exceeded.
  [[nodiscard]] Status check() {
    const size_t now = json_.text().size();
    if (now > counted_ && !charge_.more(2 * static_cast<int64_t>(now - counted_)))
      return fail(ErrorCode::limit_exceeded, -1, "The answer does not fit into memory.");
    counted_ = now;
    return {};
  }

 private:
  const JsonWriter& json_;
  Charge charge_;
  size_t counted_;
};

}  // namespace memstrata::answers
