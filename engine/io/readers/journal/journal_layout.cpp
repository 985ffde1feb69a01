#include "engine/io/readers/journal/journal_layout.h"

#include <algorithm>
#include <utility>

#include "engine/base/memory_refused.h"
#include "engine/io/journal/chunker.h"

namespace gpustrata::io::journal {

namespace {

struct Region {
  explicit Region(Budget& budget) : chunks(budget) {}
  Column<Chunk> chunks;
  uint64_t generation = 0;  // 0 = nothing of it can be read
  uint64_t from = 0, to = 0;
  enum class End : uint8_t { clean, cut, damaged } end = End::clean;
  uint64_t end_offset = 0;
  const char* why = "";
};

[[nodiscard]] bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{}; });
}

// False: the budget refuses.
[[nodiscard]] bool read_region(std::span<const std::byte> file, uint64_t at, uint64_t size, Region& region) {
  const uint64_t limit = at + size;
  const auto stop = [&](Region::End end, const char* why) {
    region.end = end;
    region.end_offset = at;
    region.why = why;
    return true;
  };
  while (limit - at >= sizeof(ChunkHead)) {
    if (at >= file.size() || file.size() - at < sizeof(ChunkHead))
      return stop(Region::End::cut, "the file ends before a chunk");
    const auto head = load<ChunkHead>(file, at);
    if (is_zero(bytes_at(file, at, sizeof head))) return stop(Region::End::clean, "");
    if (head.mark != kChunkMark) return stop(Region::End::damaged, "no chunk begins here");
    if (head.bytes % kAligned != 0 || head.bytes > limit - at - sizeof head)
      return stop(Region::End::damaged, "a chunk is longer than its region");
    if (head.bytes > file.size() - at - sizeof head)
      return stop(Region::End::cut, "the file ends inside of a chunk");
    const std::span<const std::byte> content = bytes_at(file, at + sizeof head, head.bytes);
    if (head.check != check_of(head, content))
      return stop(Region::End::damaged, "the checksum of a chunk does not fit");
    const bool first = region.chunks.empty();
    if (!first && head.generation != region.generation)
      return stop(Region::End::damaged, "a chunk of an earlier time lies here");
    if (head.to < head.from || (!first && head.from != region.to))
      return stop(Region::End::damaged, "a chunk before it is missing");
    if (first) {
      region.generation = head.generation;
      region.from = head.from;
    }
    region.to = head.to;
    if (!region.chunks.push_back({head, at, content})) return false;
    at += sizeof head + head.bytes;
  }
  return stop(Region::End::clean, "");
}

class Laying {
 public:
  Laying(std::span<const std::byte> file, const Header& header, Budget& budget, Layout& layout)
      : file_(file), header_(header), budget_(budget), layout_(layout) {}

  [[nodiscard]] bool run() {
    const uint64_t first = kHeaderBytes + header_.ring_bytes;
    if (!read_region(file_, first, header_.region_bytes, one_)) return false;
    if (file_.size() > first + header_.region_bytes || one_.generation == 0) {
      if (!read_region(file_, first + header_.region_bytes, header_.region_bytes, other_)) return false;
    }
    const bool in_order = other_.generation > one_.generation;
    const Region& newest = in_order ? other_ : one_;
    const Region& before = in_order ? one_ : other_;
    if (before.generation != 0) {
      const bool leads_up = before.generation + 1 == newest.generation && before.to == newest.from;
      if (leads_up) {
        if (!layout_.chunks.append(before.chunks.span())) return false;
      } else {
        lose(before);
      }
    }
    return layout_.chunks.append(newest.chunks.span()) && read_ring(newest);
  }

 private:
  void lose(const Region& region) {
    if (layout_.first_loss >= 0) return;
    layout_.first_loss = static_cast<int64_t>(region.end_offset);
    layout_.damaged = region.end == Region::End::damaged;
    layout_.loss = region.why;
  }
  void lose(uint64_t offset, bool damaged, std::string why) {
    if (layout_.first_loss >= 0) return;
    layout_.first_loss = static_cast<int64_t>(offset);
    layout_.damaged = damaged;
    layout_.loss = std::move(why);
  }

  [[nodiscard]] bool read_ring(const Region& newest) {
    const uint64_t start = newest.to;
    const auto head = load<uint64_t>(file_, kHeadAt), tail = load<uint64_t>(file_, kTailAt);
    if (head <= start) return true;  // below: chunks were written while the header was read
    // While the writer is at a record, the oldest bytes are being written over; not those it has made no chunk of yet.
    const uint64_t whole = start >= tail ? header_.ring_bytes
                                         : header_.ring_bytes - std::min(header_.ring_bytes, kLongestRecord);
    if (head - start > whole || start % kAligned != 0) {
      if (newest.end == Region::End::clean) {
        lose(file_.size(), false, "the chunks that follow are not in the file");
      } else {
        lose(newest);
      }
      return true;
    }
    for (uint64_t at = start; at < head;) {
      const uint64_t place = at % header_.ring_bytes;
      const uint64_t count = std::min(head - at, header_.ring_bytes - place);
      const uint64_t there = file_.size() - kHeaderBytes;
      const uint64_t present = place < there ? std::min(count, there - place) : 0;
      if (!layout_.ring.append(bytes_at(file_, kHeaderBytes + place, present))) return false;
      if (present < count) {
        lose(file_.size(), false, "the file ends inside of the ring");
        break;
      }
      at += count;
    }
    return make_chunks(start, newest.generation);
  }

  // What was left in the ring becomes chunks as the writer would have made them.
  [[nodiscard]] bool make_chunks(uint64_t start, uint64_t generation) {
    Chunker chunker(budget_);
    size_t taken = 0;
    if (!chunker.take(layout_.ring.span(), start, generation, layout_.ring_chunks, taken)) return false;
    const uint64_t at = kHeaderBytes + (start + taken) % header_.ring_bytes;
    if (taken < layout_.ring.size()) lose(at, true, "the ring holds what cannot be a record");
    const std::span<const std::byte> made = layout_.ring_chunks.span();
    for (size_t offset = 0; offset < made.size();) {
      const auto head = load<ChunkHead>(made, offset);
      // Their place is where the ring's bytes are.
      if (!layout_.chunks.push_back({head, kHeaderBytes + head.from % header_.ring_bytes,
                                     bytes_at(made, offset + sizeof head, head.bytes)}))
        return false;
      offset += sizeof head + static_cast<size_t>(head.bytes);
    }
    return true;
  }

  std::span<const std::byte> file_;
  const Header& header_;
  Budget& budget_;
  Layout& layout_;
  Region one_{budget_}, other_{budget_};
};

}  // namespace

Result<Header> read_header(std::span<const std::byte> file) {
  if (file.size() < kHeaderBytes)
    return fail(ErrorCode::truncated, static_cast<int64_t>(file.size()),
                "the file ends inside of the journal's header of {} bytes; copy it again", kHeaderBytes);
  const auto header = load<Header>(file);
  if (header.version != kVersion)
    return fail(
        ErrorCode::unsupported, offsetof(Header, version),
        "this is version {} of the journal's format, and version {} is read here; open it with the gpustrata that wrote it",
        header.version, kVersion);
  constexpr uint64_t kMost = uint64_t{1} << 48;
  if (header.check != check_of(header) || header.header_bytes != kHeaderBytes ||
      header.ring_bytes % kAligned != 0 || header.region_bytes % kAligned != 0 || header.ring_bytes == 0 ||
      header.ring_bytes > kMost || header.region_bytes > kMost)
    return fail(ErrorCode::invalid_format, offsetof(Header, ring_bytes),
                "the journal's header is damaged; copy the file again");
  return header;
}

Status lay_out(std::span<const std::byte> file, const Header& header, Budget& budget, Layout& layout) {
  layout.closed = load<uint64_t>(file, kClosedAt) == 1;
  layout.lost_events = load<int64_t>(file, kLostEventsAt);
  layout.lost_stacks = load<int64_t>(file, kLostStacksAt);
  const std::string_view reason(reinterpret_cast<const char*>(file.data() + kReasonAt), kReasonBytes);
  layout.reason = reason.substr(0, reason.find('\0'));
  Laying laying(file, header, budget, layout);
  if (!laying.run()) return file_refused(budget);
  return {};
}

}  // namespace gpustrata::io::journal
