#include "engine/answers/findings/fragmentation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/analysis/details/memory_after.h"
#include "engine/answers/findings/out_of_memory.h"
#include "engine/answers/live/top.h"
#include "engine/answers/report/report_findings.h"
#include "engine/answers/stacks/who.h"
#include "engine/base/units.h"
#include "engine/replay/links.h"

namespace gpustrata::answers {

namespace {

[[nodiscard]] double rounded_share(double share) { return std::round(share * 10'000) / 10'000; }

[[nodiscard]] std::string fragmentation_text(const analysis::Fragmentation& found) {
  if (found.reserved == 0) return "Nothing is reserved then.";
  if (found.cached == 0) return fmt::format("All of the {} reserved are in use.", size_text(found.reserved));
  const std::string all =
      fmt::format("{} of {} reserved are cached, the largest free piece is {}. ", size_text(found.cached),
                  size_text(found.reserved), size_text(found.largest_free));
  const std::string in_pools =
      found.private_bytes == 0
          ? std::string()
          : fmt::format("{} lies in private pools and goes back only when these are let go",
                        size_text(found.private_bytes));
  if (found.held_back > 0)
    return fmt::format("{}{} in {} could not go back to the device, because something lives beside them.{}",
                       all, size_text(found.held_back), counted(found.pinned_segments, "segment"),
                       in_pools.empty() ? in_pools : fmt::format(" {}.", in_pools));
  if (in_pools.empty()) return all + "All of it could go back to the device.";
  return fmt::format("{}{}{}.", all, in_pools,
                     found.private_bytes < found.cached ? "; the rest could go back to the device" : "");
}

}  // namespace

void describe_numbers(Members& m, const analysis::EventContext& context,
                      const analysis::Fragmentation& found) {
  m.count("event", found.event);
  m.bytes("reserved_bytes", found.reserved);
  m.bytes("allocated_bytes", found.allocated);
  m.bytes("pending_bytes", found.pending);
  m.bytes("cached_bytes", found.cached);
  m.bytes("largest_free_bytes", found.largest_free);
  m.bytes({"held_back_bytes", "Free, and cannot go back to the device."}, found.held_back);
  m.share({"share", "0 to 1, of what is reserved."}, rounded_share(found.share()));
  m.count("pinned_segments", found.pinned_segments);
  m.list("pins", found.pins, [&](const analysis::Pin& pin) {
    m.is({"Pin", "A segment whose free memory something live holds back."});
    m.address("segment", pin.segment);
    m.bytes("segment_bytes", pin.segment_bytes);
    m.bytes("free_bytes", pin.free_bytes);
    m.bytes("held_back_bytes", pin.held_back_bytes);
    m.count("blocks", pin.blocks);
    m.bytes("pinned_bytes", pin.pinned_bytes);
    m.flag("expandable", pin.expandable);
    describe_who_and_stack(m, context.recording, m.found([&] {
      return analysis::stack_of_block(context, pin.largest_block).stack;
    }));
    m.count({"since_event", "When the oldest block came; -1 = before the first event."},
            [&] { return context.history.born_of(pin.oldest_block); });
    m.segment_row("row", pin.range);
    m.rank({"rank", "Of the largest block; -1 = the timeline does not show it."}, [&] {
      return replay::rank_of_block(context.recording, context.history, context.lifetimes, pin.largest_block);
    });
  });
}

void describe(Members& m, const analysis::EventContext& context, const analysis::Fragmentation& fragmentation,
              std::span<const analysis::FreePlace> places) {
  const size_t shown = std::min(places.size(), analysis::kMostFreePlaces);
  m.is({"Fragmentation", "After an event."});
  m.text("text", [&] { return fragmentation_text(fragmentation); });
  describe_numbers(m, context, fragmentation);
  m.list("places", places.first(shown), [&](const analysis::FreePlace& place) {
    m.is({"FreePlace", "Free memory of a pool and stream."});
    describe_place(m, context.recording, place);
  });
  m.count("places_left_out", places.size() - shown);
}

}  // namespace gpustrata::answers
