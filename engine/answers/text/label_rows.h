// Numbers of a file with what they are called, one below the other:
// "    peak              71.2 GiB  76,450,234,368 bytes  after event 57"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/answers/text/text_out.h"

namespace gpustrata::answers {

class LabelRows {
 public:
  void size(std::string_view label, int64_t bytes, std::string_view remark = {});
  void text(std::string_view label, std::string_view what);
  void list(std::string_view label, std::vector<std::string> pieces);
  // Lines of at most `columns`, as far as words allow.
  void write(TextOut& out, size_t columns) const;

 private:
  struct Row {
    std::string label, size, exact;
    std::vector<std::string> remark;  // one piece at least
  };
  std::vector<Row> rows_;
};

}  // namespace gpustrata::answers
