#include "engine/analysis/memory_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "engine/analysis/block_details.h"
#include "engine/analysis/bounded_json.h"
#include "engine/analysis/pool_id.h"
#include "engine/base/units.h"
#include "engine/replay/links.h"

namespace memstrata::analysis {

using replay::BlockAt;
using replay::SegmentAt;
using trace::Action;

namespace {

constexpr int64_t kPage = int64_t{20} << 20, kSmallPage = int64_t{2} << 20;
constexpr int64_t kLongestBar = 400;  // characters; longer segments have larger pages

struct SegmentStats {
  const SegmentAt* segment;
  int64_t allocated = 0, pending = 0, requested = 0, rounding = 0, free = 0;
  std::string bar;
};

[[nodiscard]] std::string bar_of(const replay::MemoryAt& memory, const SegmentAt& segment) {
  int64_t page = segment.size >= kPage ? kPage : kSmallPage;
  page *= (segment.size / page + kLongestBar) / kLongestBar;
  const auto pages = static_cast<size_t>((segment.size + page - 1) / page);
  std::vector<int64_t> used(pages, 0), blocks(pages, 0);
  std::vector<char> letters(pages, ' ');
  int32_t number = 0;
  for (const BlockAt& block : memory.blocks_of(segment)) {
    if (block.state != model::BlockState::active_allocated) continue;
    const char letter = static_cast<char>('a' + number++ % 26);
    const auto from = static_cast<int64_t>(block.address - segment.address), until = from + block.size;
    for (int64_t p = from / page; p * page < until; ++p) {
      const auto i = static_cast<size_t>(p);
      used[i] += std::min(until, (p + 1) * page) - std::max(from, p * page);
      ++blocks[i];
      letters[i] = letter;
    }
  }
  std::string bar;
  for (size_t i = 0; i < pages; ++i) {
    const int64_t whole = std::min(page, segment.size - static_cast<int64_t>(i) * page);
    bar += blocks[i] <= 1     ? letters[i]
           : used[i] == whole ? '*'
                              : static_cast<char>('0' + used[i] / (whole / 10 + 1));
  }
  return bar;
}

[[nodiscard]] std::vector<SegmentStats> all_stats(const replay::MemoryAt& memory) {
  std::vector<SegmentStats> all;
  for (const SegmentAt& segment : memory.segments()) {
    SegmentStats stats;
    stats.segment = &segment;
    for (const BlockAt& block : memory.blocks_of(segment)) {
      if (block.row < 0) {
        stats.free += block.size;
        continue;
      }
      const bool pending = block.state == model::BlockState::active_pending_free;
      (pending ? stats.pending : stats.allocated) += block.size;
      if (pending) continue;
      stats.requested += std::min(block.requested_size, block.size);
      stats.rounding += block.size - std::min(block.requested_size, block.size);
    }
    stats.bar = bar_of(memory, segment);
    all.push_back(std::move(stats));
  }
  std::stable_sort(all.begin(), all.end(), [](const SegmentStats& a, const SegmentStats& b) {
    if (a.segment->size != b.segment->size) return a.segment->size < b.segment->size;
    return a.allocated + a.pending < b.allocated + b.pending;
  });
  return all;
}

[[nodiscard]] SegmentStats sum_of(const std::vector<SegmentStats>& all) {
  SegmentStats sum{nullptr, 0, 0, 0, 0, 0, {}};
  for (const SegmentStats& one : all) {
    sum.allocated += one.allocated;
    sum.pending += one.pending;
    sum.requested += one.requested;
    sum.rounding += one.rounding;
    sum.free += one.free;
  }
  return sum;
}

[[nodiscard]] std::string segment_title(const EventContext& context, const SegmentAt& segment) {
  return segment_name(segment.address, context.history.range_version[static_cast<size_t>(segment.row)]);
}

// Names of lives by order of appearance.
class Names {
 public:
  Names(char letter, int32_t count) : letter_(letter), numbers_(static_cast<size_t>(count), -1) {}
  [[nodiscard]] std::string operator()(int32_t row, uint64_t address) {
    if (row < 0) return fmt::format("MEM[{:#x}]", address);
    int32_t& number = numbers_[static_cast<size_t>(row)];
    if (number < 0) number = next_++;
    return fmt::format("{}{}", letter_, number);
  }

 private:
  char letter_;
  std::vector<int32_t> numbers_;
  int32_t next_ = 0;
};

}  // namespace

std::string stats_text(const EventContext& context, const replay::MemoryAt& memory) {
  std::string out =
      fmt::format("Device {}, {}\n", context.history.rows.device,
                  memory.event() < 0 ? std::string("before the first event")
                                     : fmt::format("after event {}", count_text(memory.event())));
  const std::vector<SegmentStats> all = all_stats(memory);
  for (const SegmentStats& one : all) {
    const auto row = static_cast<size_t>(one.segment->row);
    const int32_t stream = context.streams[context.history.range_stream[row]];
    out += fmt::format("[{}] {}, {} free, {} lost to rounding{}{}\n", one.bar, size_text(one.segment->size),
                       size_text(one.free), size_text(one.rounding),
                       one.pending > 0 ? fmt::format(", {} pending", size_text(one.pending)) : "",
                       stream != 0 ? fmt::format(", stream {}", stream) : "");
  }
  const SegmentStats sum = sum_of(all);
  out += fmt::format(
      "segments: {}\nreserved: {}\nallocated: {}\n  requested: {}\n  lost to rounding: {}\npending: {}\nfree: {} in {} "
      "blocks, the largest {}\n",
      count_text(static_cast<int64_t>(all.size())), exact_size_text(memory.totals().reserved),
      exact_size_text(sum.allocated), exact_size_text(sum.requested), exact_size_text(sum.rounding),
      exact_size_text(sum.pending), exact_size_text(sum.free), count_text(memory.totals().free_blocks),
      exact_size_text(memory.totals().largest_free));
  if (!memory.outside().empty())
    out += fmt::format("blocks without a segment: {}\n",
                       count_text(static_cast<int64_t>(memory.outside().size())));
  out +=
      "A character is a page of 20 MiB (2 MiB in segments below 20 MiB, larger in very large ones): a letter = one "
      "block,\n0-9 = several blocks and its filled tenths, * = several that fill it, space = free.\n";
  return out;
}

std::string stats_json(const EventContext& context, const replay::MemoryAt& memory) {
  const std::vector<SegmentStats> all = all_stats(memory);
  const SegmentStats sum = sum_of(all);
  const auto write = [](JsonWriter& json, const SegmentStats& one) {
    json.member("allocated", one.allocated);
    json.member("pending", one.pending);
    json.member("requested", one.requested);
    json.member("rounding", one.rounding);
    json.member("free", one.free);
  };
  JsonWriter json;
  json.begin_object();
  json.member("device", context.history.rows.device);
  json.member("event", memory.event());
  json.member("reserved", memory.totals().reserved);
  write(json, sum);
  json.member("free_blocks", memory.totals().free_blocks);
  json.member("largest_free", memory.totals().largest_free);
  json.key("segments");
  json.begin_array();
  for (const SegmentStats& one : all) {
    const auto row = static_cast<size_t>(one.segment->row);
    json.begin_object();
    json.member("address", fmt::format("{:#x}", one.segment->address));
    json.member("name", segment_title(context, *one.segment));
    json.member("size", one.segment->size);
    write(json, one);
    json.member("stream", context.streams[context.history.range_stream[row]]);
    json.key("pool");
    write_pool(json, context.recording, context.history.range_pool[row]);
    json.member("bar", one.bar);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return std::move(json).text();
}

std::string trace_text(const EventContext& context, int32_t first, int32_t most) {
  const replay::StateHistory& history = context.history;
  const model::EventTable& events = context.recording.events;
  Names blocks('b', history.blocks.count()), segments('s', history.ranges.count());
  // Ranges that exist after the event, for the offset of a block in its segment.
  Column<int32_t> pieces(context.recording.budget);
  int32_t at = -2;
  const auto range_around = [&](uint64_t address, int32_t event) {
    const bool moved =
        at == -2 ? history.ranges.live_after(event, pieces)
                 : history.ranges.changes_between(at, event) == 0 || history.ranges.move(pieces, at, event);
    at = moved ? event : -2;
    if (!moved) return -1;
    const auto* above = std::upper_bound(pieces.begin(), pieces.end(), address, [&](uint64_t a, int32_t row) {
      return a < history.ranges.address[static_cast<size_t>(row)];
    });
    if (above == pieces.begin()) return -1;
    return address <= history.ranges.last_byte(*(above - 1)) ? *(above - 1) : -1;
  };
  std::string out =
      fmt::format("Device {} ({} events)\n", history.rows.device, count_text(history.event_count()));
  const int32_t end = first + std::min(most, history.event_count() - first);
  for (int32_t event = first; event < end; ++event) {
    const auto row = static_cast<size_t>(history.rows.events.first + event);
    const int32_t target = history.row_of_event[static_cast<size_t>(event)];
    const uint64_t address = events.address[row];
    const std::string size = size_text(events.size[row]);
    switch (events.action[row]) {
      case Action::alloc: {
        const int32_t range = range_around(address, event);
        const std::string name = blocks(target, address);
        out += range < 0 ? fmt::format("{} = MEM[{:#x}:{}]", name, address, size)
                         : fmt::format("{} = {}[{:#x}:{}]", name,
                                       segments(range, history.ranges.address[static_cast<size_t>(range)]),
                                       address - history.ranges.address[static_cast<size_t>(range)], size);
        break;
      }
      case Action::free_requested:
        out += fmt::format("del {}  # {}", blocks(target, address), size);
        break;
      case Action::free_completed:
        out += fmt::format("# free completed for {}  {}", blocks(target, address), size);
        break;
      case Action::free:
        out += fmt::format("del {}  # {}, completed", blocks(target, address), size);
        break;
      case Action::segment_alloc:
        out += fmt::format("{} = cudaMalloc({:#x}, {})", segments(target, address), address, size);
        break;
      case Action::segment_free:
        out += fmt::format("cudaFree({})  # {}", segments(target, address), size);
        break;
      case Action::segment_map:
        out += fmt::format("{} = cuMemMap({:#x}, {})", segments(target, address), address, size);
        break;
      case Action::segment_unmap:
        out += fmt::format("cuMemUnmap({})  # {}", segments(target, address), size);
        break;
      case Action::oom:
        out +=
            fmt::format("raise OutOfMemoryError  # {} requested, {} free on the device", size,
                        size_text(static_cast<int64_t>(std::min(address, static_cast<uint64_t>(INT64_MAX)))));
        break;
      default:
        out += fmt::format("# {}  {:#x} {} {}", in_list(context.recording.action_name(events.action[row])),
                           address, size, in_list(context.recording.strings.view(events.metadata[row])));
    }
    out += "\n";
  }
  return out;
}

}  // namespace memstrata::analysis
