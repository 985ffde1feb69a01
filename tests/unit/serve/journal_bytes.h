// The beginning of a journal, with an empty ring.
#pragma once

#include <cstring>
#include <string>

#include "engine/io/journal/format.h"

namespace gpustrata::serve {

struct JournalBytes {
  int64_t process = 0x7fffffff;  // there is none of this number
  int64_t started_us = 5000;
  uint64_t head = 0, events = 0, closed = 0;

  [[nodiscard]] std::string text() const {
    namespace journal = io::journal;
    constexpr uint64_t kRing = 4096;
    journal::Header header{};
    journal::kMagic.copy(header.magic, sizeof header.magic);
    header.version = journal::kVersion;
    header.header_bytes = journal::kHeaderBytes;
    header.ring_bytes = header.region_bytes = kRing;
    header.process = static_cast<uint64_t>(process);
    header.started_us = started_us;
    header.check = journal::check_of(header);
    std::string text(journal::kHeaderBytes + kRing, '\0');
    const auto put = [&](uint64_t at, const void* value, size_t bytes) {
      std::memcpy(text.data() + at, value, bytes);
    };
    put(0, &header, sizeof header);
    put(journal::kHeadAt, &head, sizeof head);
    put(journal::kEventsAt, &events, sizeof events);
    put(journal::kClosedAt, &closed, sizeof closed);
    return text;
  }
};

}  // namespace gpustrata::serve
