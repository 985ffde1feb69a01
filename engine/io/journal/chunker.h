// Records become chunks: names of their own, events in columns, states where they stand among the events.
//
// Used by the writer for what the program put into the ring, and by the reader for what was left there. Names are kept as they
// came, because each region of the file begins with all of them. Memory is charged to the budget; a refusal ends everything.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/column.h"
#include "engine/io/journal/running_state.h"

namespace gpustrata::io::journal {

class Chunker {
 public:
  explicit Chunker(Budget& budget)
      : state_(budget),
        all_names_(budget),
        names_(budget),
        events_(budget),
        told_(budget),
        text_ids_(budget) {}

  // Chunks of whole records that begin at position `from`; appended to `out`. False: the budget refuses. Stops at what cannot
  // be a record; `taken` = bytes before it.
  [[nodiscard]] bool take(std::span<const std::byte> records, uint64_t from, uint64_t generation,
                          Column<std::byte>& out, size_t& taken);
  // What `take` makes of them at most.
  [[nodiscard]] uint64_t most_bytes(std::span<const std::byte> records) const;

  // What a region begins with: all names, and the state of each device that is known, as of `position`.
  [[nodiscard]] bool begin_region(uint64_t position, uint64_t generation, Column<std::byte>& out) const;

  // The states alone, as where the journal is closed.
  [[nodiscard]] bool write_states(uint64_t position, uint64_t generation, Column<std::byte>& out) const;

  [[nodiscard]] const RunningState& state() const { return state_; }

 private:
  [[nodiscard]] bool add(const Records::Record& record);
  [[nodiscard]] bool flush(uint64_t from, uint64_t to, uint64_t generation, Column<std::byte>& out);
  [[nodiscard]] bool take_state();
  void note_fact(const Records::Record& record);

  RunningState state_;
  Column<std::byte> all_names_, names_;  // records: since the beginning, since the last flush
  Column<EventRecord> events_;           // since the last flush
  Column<std::byte> told_;               // records of a state that has begun and not ended
  Column<uint64_t> text_ids_;            // place in all_names_ of each text
};

// Appends a chunk; its content is what `write(out)` appends. False: refused.
template <typename Write>
[[nodiscard]] bool append_chunk(Column<std::byte>& out, ChunkKind kind, uint64_t generation, uint64_t from,
                                uint64_t to, Write&& write) {
  const size_t at = out.size();
  if (!out.resize(at + sizeof(ChunkHead), std::byte{}) || !write(out)) return false;
  const std::span<const std::byte> content(out.data() + at + sizeof(ChunkHead),
                                           out.size() - at - sizeof(ChunkHead));
  ChunkHead head{kChunkMark, kind, content.size(), generation, from, to, 0};
  head.check = check_of(head, content);
  std::memcpy(out.data() + at, &head, sizeof head);
  return true;
}

}  // namespace gpustrata::io::journal
