// Comma separated values on their way from chunks of bytes to records: fields in quotes (RFC 4180) may hold commas, line
// ends and doubled quotes; lines end with \n or \r\n. Resumable at any byte.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/diagnostics.h"

namespace gpustrata::io::csv {

class Records {
 public:
  // Of a record more is left out and counted.
  static constexpr size_t kMostFields = 256;
  static constexpr size_t kLongestRecord = size_t{1} << 20;  // bytes of all fields

  // Gets each record that is not empty, and where it begins. False: nothing more is wanted.
  using Take = std::function<bool(const std::vector<std::string>& fields, int64_t offset)>;

  Records(model::Diagnostics& diagnostics, Take take) : diagnostics_(diagnostics), take_(std::move(take)) {}

  void read(std::string_view text, int64_t offset);
  // No more text. False: it ends inside of quotes; that record is not handed on.
  [[nodiscard]] bool end();
  [[nodiscard]] bool is_stopped() const { return stopped_; }

 private:
  void step(char c, int64_t offset);
  void end_field();
  void end_record();

  model::Diagnostics& diagnostics_;
  Take take_;
  std::vector<std::string> fields_;
  std::string field_;
  size_t bytes_ = 0;    // of the record's fields
  int64_t begin_ = -1;  // of the record
  bool in_quotes_ = false;
  bool was_quote_ = false;  // inside of quotes: the last byte was one
  bool is_cut_ = false;
  bool stopped_ = false;
};

}  // namespace gpustrata::io::csv
