// The state after any event: one undo with checkpoints, against undoing everything from the end for each
// question, as the official viewer does.
//
//   state_bench [MILLIONS=1]     events of a made-up training run; answers are checked before times are
//   printed
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <random>
#include <vector>

#include "engine/replay/memory_at.h"
#include "engine/replay/state_layout.h"

namespace {

using namespace gpustrata;
// Processor time: the same on a busy machine.
struct Clock {
  static std::clock_t now() { return std::clock(); }
};
double ms_since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) * (1e3 / CLOCKS_PER_SEC);
}

constexpr uint64_t kBase = 0x7f0000000000;
constexpr int64_t kSlot = int64_t{2} << 20;
constexpr uint64_t kSlots = 20000;

// Blocks of up to 1 MiB in slots of 2 MiB that are one segment each; about half of them are in use.
bool make_events(model::Recording& recording, int64_t count) {
  std::mt19937_64 random(1);
  std::vector<int64_t> live(kSlots, 0);  // requested size, 0 = free
  model::EventTable& events = recording.events;
  bool ok = true;
  const auto add = [&](trace::Action action, uint64_t address, int64_t size) {
    ok = ok && events.action.push_back(action) && events.address.push_back(address) &&
         events.size.push_back(size) && events.time.push_back(model::kNoTime) && events.stack.push_back({}) &&
         events.context.push_back({}) && events.metadata.push_back({}) &&
         events.stream.push_back(recording.stream_of(0)) && events.pool.push_back({});
  };
  while (static_cast<int64_t>(events.size_rows()) < count) {
    const uint64_t slot = random() % kSlots;
    const uint64_t address = kBase + slot * static_cast<uint64_t>(kSlot);
    if (live[slot] == 0) {
      live[slot] = static_cast<int64_t>(1 + random() % (1 << 20));
      add(trace::Action::alloc, address, live[slot]);
    } else {
      add(trace::Action::free_requested, address, live[slot]);
      add(trace::Action::free_completed, address, live[slot]);
      live[slot] = 0;
    }
  }
  model::SegmentTable& segments = recording.segments;
  model::BlockTable& blocks = recording.blocks;
  for (uint64_t slot = 0; slot < kSlots; ++slot) {
    const uint64_t address = kBase + slot * static_cast<uint64_t>(kSlot);
    const int32_t first = static_cast<int32_t>(blocks.size_rows());
    if (live[slot] > 0) {
      ok = ok && blocks.address.push_back(address) && blocks.size.push_back((live[slot] + 511) / 512 * 512) &&
           blocks.requested_size.push_back(live[slot]) &&
           blocks.state.push_back(model::BlockState::active_allocated) && blocks.stack.push_back({}) &&
           blocks.metadata.push_back({}) && blocks.history.push_back({});
    }
    ok = ok && segments.device.push_back(0) && segments.address.push_back(address) &&
         segments.total_size.push_back(kSlot) && segments.allocated_size.push_back(0) &&
         segments.active_size.push_back(0) && segments.requested_size.push_back(0) &&
         segments.stream.push_back(recording.stream_of(0)) && segments.pool.push_back({}) &&
         segments.type.push_back(model::SegmentType::small) &&
         segments.expandable.push_back(model::Tristate::no) && segments.stack.push_back({}) &&
         segments.metadata.push_back({}) &&
         segments.blocks.push_back({first, static_cast<int32_t>(blocks.size_rows()) - first});
  }
  recording.parts.emplace_back();
  recording.parts[0].segments = {0, static_cast<int32_t>(kSlots)};
  recording.parts[0].traces = {{0, {0, static_cast<int32_t>(events.size_rows())}}};
  return ok;
}

// The reference: everything is undone for each question.
std::map<uint64_t, int64_t> undo_all(const model::Recording& recording, int32_t event) {
  std::map<uint64_t, int64_t> live;
  for (size_t i = 0; i < recording.blocks.size_rows(); ++i)
    live[recording.blocks.address[i]] = recording.blocks.requested_size[i];
  const model::EventTable& events = recording.events;
  for (auto i = static_cast<int32_t>(events.size_rows()) - 1; i > event; --i) {
    const auto row = static_cast<size_t>(i);
    if (events.action[row] == trace::Action::alloc) live.erase(events.address[row]);
    if (events.action[row] == trace::Action::free_completed) live[events.address[row]] = events.size[row];
  }
  return live;
}

}  // namespace

int main(int argc, char** argv) {
  const double millions = argc > 1 ? std::atof(argv[1]) : 1;
  Budget budget(int64_t{8} << 30);
  model::Recording recording(budget);
  if (!make_events(recording, static_cast<int64_t>(millions * 1e6))) return 1;
  const auto count = static_cast<int32_t>(recording.events.size_rows());

  const int64_t before = budget.used();
  auto start = Clock::now();
  const auto history = replay::undo_to_start(recording, recording.parts[0], 0);
  const double opening = ms_since(start);
  if (!history) return 1;
  const int64_t held = budget.used() - before;

  // The same in slices, as a page does it: how long somebody waits who asks something else meanwhile.
  std::vector<double> slices;
  {
    replay::StateBuilder builder(recording, recording.parts[0], 0);
    for (bool is_done = false; !is_done;) {
      start = Clock::now();
      const auto done = builder.step(replay::StateBuilder::kSlice);
      slices.push_back(ms_since(start));
      if (!done) return 1;
      is_done = *done;
    }
  }

  replay::MemoryAt memory(*history, budget);
  std::mt19937_64 random(2);
  std::vector<double> jumps, steps, layouts;
  double reference = 0;
  constexpr int kReferences = 3;
  for (int i = 0; i < 200; ++i) {
    const auto event = static_cast<int32_t>(random() % static_cast<uint64_t>(count));
    start = Clock::now();
    if (!memory.go_to(event)) return 1;
    jumps.push_back(ms_since(start));
    if (i < kReferences) {
      start = Clock::now();
      const auto expected = undo_all(recording, event);
      reference += ms_since(start) / kReferences;
      size_t found = 0;
      for (const replay::BlockAt& block : memory.blocks()) {
        if (block.row < 0) continue;
        const auto one = expected.find(block.address);
        if (one == expected.end() || one->second != block.requested_size) return 1;
        ++found;
      }
      if (found != expected.size() || !history->blocks.count()) {
        fmt::print("wrong: {} blocks instead of {} after event {}\n", found, expected.size(), event);
        return 1;
      }
    }
    start = Clock::now();
    if (!memory.go_to(event > 0 ? event - 1 : event + 1)) return 1;
    steps.push_back(ms_since(start));
    replay::StateLayout layout(budget);
    start = Clock::now();
    if (!layout.pack(memory) || layout.rects(memory, {1200, 800, 1, 0, 0}).x.empty()) return 1;
    layouts.push_back(ms_since(start));
  }
  const auto worst = [](std::vector<double>& times) { return *std::max_element(times.begin(), times.end()); };
  const auto middle = [](std::vector<double>& times) {
    std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
  };
  fmt::print("{} events, {} lives of blocks, {} segments\n", count, history->blocks.count(), kSlots);
  fmt::print("undo once, with checkpoints   {:9.1f} ms, {:.1f} bytes an event\n", opening,
             static_cast<double>(held) / count);
  double in_slices = 0;
  for (const double slice : slices) in_slices += slice;
  fmt::print("the same in {:5} slices      {:9.1f} ms, a slice {:.1f} ms (median), {:.1f} ms (worst)\n",
             slices.size(), in_slices, middle(slices), worst(slices));
  fmt::print("state after any event         {:9.3f} ms (median), {:.3f} ms (worst of 200)\n", middle(jumps),
             worst(jumps));
  fmt::print("one event on                  {:9.3f} ms (median), {:.3f} ms (worst)\n", middle(steps),
             worst(steps));
  fmt::print("its rectangles, 1200 x 800    {:9.3f} ms (median), {:.3f} ms (worst)\n", middle(layouts),
             worst(layouts));
  fmt::print("reference: undo all each time {:9.1f} ms, {:.0f} times as long\n", reference,
             reference / middle(jumps));
  return 0;
}
