#include "engine/serve/journal_head.h"

#include <unistd.h>

#include <array>

#include "engine/io/journal/format.h"

namespace gpustrata::serve {

namespace {

namespace journal = io::journal;

// All numbers that are read lie before the reason.
constexpr size_t kBeginning = journal::kReasonAt;

}  // namespace

std::optional<JournalHead> journal_head(std::span<const std::byte> beginning) {
  if (beginning.size() < kBeginning) return std::nullopt;
  const auto header = journal::load<journal::Header>(beginning);
  if (std::string_view(header.magic, sizeof header.magic) != journal::kMagic ||
      header.version != journal::kVersion || header.check != journal::check_of(header))
    return std::nullopt;
  JournalHead head;
  head.started_us = header.started_us;
  head.process = static_cast<int64_t>(header.process);
  head.position = journal::load<int64_t>(beginning, journal::kHeadAt);
  head.is_closed = journal::load<uint64_t>(beginning, journal::kClosedAt) == 1;
  const auto events = journal::load<int64_t>(beginning, journal::kEventsAt);
  if (events > 0 || head.position == 0) head.events = events;
  return head;
}

std::optional<JournalHead> journal_head(int descriptor) {
  std::array<std::byte, kBeginning> beginning{};
  const ssize_t count = pread(descriptor, beginning.data(), beginning.size(), 0);
  return journal_head(std::span(beginning).first(count > 0 ? static_cast<size_t>(count) : 0));
}

answers::ServedJournal journal_of(const JournalHead& head) {
  answers::ServedJournal journal;
  journal.state = head.is_closed ? answers::JournalState::closed : answers::JournalState::written;
  journal.process = head.process;
  journal.started_us = head.started_us;
  journal.position = head.position;
  journal.events = head.events;
  return journal;
}

}  // namespace gpustrata::serve
