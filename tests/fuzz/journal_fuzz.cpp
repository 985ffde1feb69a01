// Journals. What a fuzzer changes no longer fits its checksum: half of the inputs get theirs anew, so that what lies behind the
// checks is read, too.
#include "engine/io/journal/format.h"
#include "engine/io/readers/journal/journal.h"
#include "tests/fuzz/read_input.h"

namespace {

using namespace gpustrata::io::journal;

// Of the header and of each chunk as long as one follows the other.
void set_checks(std::span<std::byte> file) {
  if (file.size() < kHeaderBytes) return;
  auto header = load<Header>(file);
  header.check = check_of(header);
  std::memcpy(file.data(), &header, sizeof header);
  for (int region = 0; region < 2; ++region) {
    const uint64_t ring = header.ring_bytes, regions = header.region_bytes * static_cast<uint64_t>(region);
    if (ring > file.size() || regions > file.size()) return;
    for (uint64_t at = kHeaderBytes + ring + regions;
         at < file.size() && file.size() - at >= sizeof(ChunkHead);) {
      auto head = load<ChunkHead>(file, at);
      if (head.mark != kChunkMark || head.bytes > file.size() - at - sizeof head) break;
      head.check = check_of(head, file.subspan(at + sizeof head, head.bytes));
      std::memcpy(file.data() + at, &head, sizeof head);
      at += sizeof head + head.bytes;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpustrata;
  if (size < 2) return 0;
  std::vector<std::byte> file(reinterpret_cast<const std::byte*>(data),
                              reinterpret_cast<const std::byte*>(data) + size);
  // The first byte is fuzz_reader's, the second says whether checks are set.
  if (data[1] % 2 == 0) set_checks(std::span(file).subspan(2));
  file[1] = file[0];
  return tests::fuzz_kind(reinterpret_cast<const uint8_t*>(file.data()) + 1, size - 1, io::journal_reader);
}
