// Which chunks of a journal are read, in which order: two regions, then what was left in the ring.
//
// The newest region is read whole. The one before it is, too, if it leads up to the newest without a gap; otherwise what it
// holds is left out, because a history with a hole says things that did not happen. The ring goes on where the last chunk ends,
// as far as it still holds what came then.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/io/journal/format.h"

namespace gpustrata::io::journal {

struct Chunk {
  ChunkHead head{};
  uint64_t offset = 0;  // in the file
  std::span<const std::byte> content;
};

struct Layout {
  explicit Layout(Budget& budget) : chunks(budget), ring(budget), ring_chunks(budget) {}

  Column<Chunk> chunks;  // in order of time
  // What the file lacks or spoils; first_loss < 0: nothing.
  int64_t first_loss = -1;
  bool damaged = false;  // else cut off
  std::string loss;
  bool closed = false;
  int64_t lost_events = 0, lost_stacks = 0;  // that the writer had no room for
  std::string reason;                        // why the writer stopped; "" = it did not

  Column<std::byte> ring, ring_chunks;  // records of the ring in order, chunks that were made of them
};

// The header, checked. An error names the byte and what to do.
[[nodiscard]] Result<Header> read_header(std::span<const std::byte> file);
// Error: limit_exceeded. `layout` refers to `file`.
[[nodiscard]] Status lay_out(std::span<const std::byte> file, const Header& header, Budget& budget,
                             Layout& layout);

}  // namespace gpustrata::io::journal
