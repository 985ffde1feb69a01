// What is sent back for a request.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "engine/base/budget.h"
#include "engine/base/column.h"

namespace gpustrata::serve {

// Charged until it is sent: whoever reads slowly takes the memory of all.
struct Reply {
  explicit Reply(Budget& budget) : body(budget) {}

  unsigned status = 200;
  std::string_view type = "text/plain; charset=utf-8";
  std::string_view lasting;  // what is sent, if it stays where it is as long as the server
  Column<char> body;         // what is sent, if not
  bool is_packed = false;    // with gzip
  bool is_gone = false;      // nobody waits for it

  // False: the budget refuses, it stays empty.
  [[nodiscard]] bool set(std::span<const std::byte> bytes);
  // As it is, if packing does not make it smaller, or there is no memory for it.
  void pack(Budget& budget);
};

// Of a text that stays.
[[nodiscard]] Reply text_reply(unsigned status, std::string_view text, Budget& budget);
// Status 503 if the budget refuses.
[[nodiscard]] Reply json_reply(unsigned status, std::string_view json, Budget& budget);

}  // namespace gpustrata::serve
