// What the header of a journal (engine/io/journal) says of how far it is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/answers/clients/served.h"

namespace gpustrata::serve {

struct JournalHead {
  int64_t started_us = 0;  // tells one run from another that writes a file of the same name
  int64_t process = 0;
  int64_t position = 0;           // behind the last record
  std::optional<int64_t> events;  // told so far; none = its writer did not count them
  bool is_closed = false;         // by the program: nothing follows
  bool operator==(const JournalHead&) const = default;
};

// Of a file by its first bytes, or of an open one; none = it is no journal, or its header is damaged.
[[nodiscard]] std::optional<JournalHead> journal_head(std::span<const std::byte> beginning);
[[nodiscard]] std::optional<JournalHead> journal_head(int descriptor);

// As it is told; without a name, written unless it is closed.
[[nodiscard]] answers::ServedJournal journal_of(const JournalHead& head);

}  // namespace gpustrata::serve
