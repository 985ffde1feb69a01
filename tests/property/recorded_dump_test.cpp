// Random work on simulated devices, dumped and read: the file has the allocators' state, and its events lead
// there from nothing, or, if the ring lost the beginning, can be taken back without a contradiction.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/unit/io/recorded_run.h"
#include "tests/unit/numbers.h"

namespace gpustrata::tests {
namespace {

using trace::Action;

// Ranges of bytes that are there, by start. Neighbours stay apart unless they are of one expandable segment,
// which nothing here needs to know: only the set of bytes is compared.
class Bytes {
 public:
  void add(uint64_t start, uint64_t size) {
    for (uint64_t at = start; at < start + size; at += kUnit) ASSERT_TRUE(units_.emplace(at, 0).second) << at;
  }
  void remove(uint64_t start, uint64_t size) {
    for (uint64_t at = start; at < start + size; at += kUnit) ASSERT_EQ(units_.erase(at), 1U) << at;
  }
  [[nodiscard]] bool has(uint64_t address) const { return units_.contains(address / kUnit * kUnit); }
  bool operator==(const Bytes&) const = default;

 private:
  static constexpr uint64_t kUnit = 2 * kMiB;  // segments and pages are multiples of it
  std::map<uint64_t, int> units_;
};

struct Live {
  int64_t requested = 0;
  bool pending = false;
  bool operator==(const Live&) const = default;
};

struct World {
  Bytes segments;
  std::map<uint64_t, Live> blocks;
};

void apply(World& world, const model::EventTable& events, size_t i) {
  const uint64_t at = events.address[i];
  const int64_t size = events.size[i];
  switch (events.action[i]) {
    case Action::segment_alloc:
    case Action::segment_map:
      return world.segments.add(at, static_cast<uint64_t>(size));
    case Action::segment_free:
    case Action::segment_unmap:
      return world.segments.remove(at, static_cast<uint64_t>(size));
    case Action::alloc:
      EXPECT_TRUE(world.segments.has(at)) << i;
      EXPECT_TRUE(world.blocks.emplace(at, Live{size, false}).second) << i;
      break;
    case Action::free_requested:
      EXPECT_EQ(world.blocks[at], (Live{size, false})) << i;
      world.blocks[at].pending = true;
      break;
    case Action::free_completed:
      EXPECT_EQ(world.blocks[at], (Live{size, true})) << i;
      world.blocks.erase(at);
      break;
    default:
      break;
  }
}

void take_back(World& world, const model::EventTable& events, size_t i) {
  const uint64_t at = events.address[i];
  const int64_t size = events.size[i];
  switch (events.action[i]) {
    case Action::segment_alloc:
    case Action::segment_map:
      return world.segments.remove(at, static_cast<uint64_t>(size));
    case Action::segment_free:
    case Action::segment_unmap:
      return world.segments.add(at, static_cast<uint64_t>(size));
    case Action::alloc:
      EXPECT_EQ(world.blocks[at], (Live{size, false})) << i;
      world.blocks.erase(at);
      break;
    case Action::free_requested:
      EXPECT_EQ(world.blocks[at], (Live{size, true})) << i;
      world.blocks[at].pending = false;
      break;
    case Action::free_completed:
      EXPECT_TRUE(world.segments.has(at)) << i;
      EXPECT_TRUE(world.blocks.emplace(at, Live{size, true}).second) << i;
      break;
    default:
      break;
  }
}

// What the file says of a device; blocks tile their segments.
World state_in(const model::Recording& rec, int device) {
  World world;
  const model::SegmentTable& s = rec.segments;
  for (size_t i = 0; i < s.size_rows(); ++i) {
    if (s.device[i] != device) continue;
    world.segments.add(s.address[i], static_cast<uint64_t>(s.total_size[i]));
    uint64_t next = s.address[i];
    int64_t allocated = 0, active = 0, requested = 0;
    for (int32_t row = s.blocks[i].first; row < s.blocks[i].end(); ++row) {
      const auto k = static_cast<size_t>(row);
      EXPECT_EQ(rec.blocks.address[k], next);
      next += static_cast<uint64_t>(rec.blocks.size[k]);
      if (rec.blocks.state[k] == model::BlockState::inactive) continue;
      const bool pending = rec.blocks.state[k] == model::BlockState::active_pending_free;
      world.blocks[rec.blocks.address[k]] = {rec.blocks.requested_size[k], pending};
      if (!pending) allocated += rec.blocks.size[k];
      active += rec.blocks.size[k];
      requested += rec.blocks.requested_size[k];
    }
    EXPECT_EQ(next, s.address[i] + static_cast<uint64_t>(s.total_size[i]));
    EXPECT_EQ(s.allocated_size[i], allocated);
    EXPECT_EQ(s.active_size[i], active);
    EXPECT_EQ(s.requested_size[i], requested);
  }
  return world;
}

// Live blocks as the allocator has them, with their stacks as numbers.
std::map<uint64_t, std::tuple<int64_t, int64_t, bool, std::string>> live_of(const alloc::MemoryState& state,
                                                                            const trace::Recorder& recorder) {
  std::map<uint64_t, std::tuple<int64_t, int64_t, bool, std::string>> live;
  for (const alloc::SegmentId segment : state.segments()) {
    for (alloc::BlockId id = state.segment(segment).first; !id.is_none(); id = state.block(id).next) {
      const alloc::Block& block = state.block(id);
      if (!block.is_active()) continue;
      std::string stack;
      for (const FrameId frame : recorder.stacks().frames_of(block.stack)) {
        stack += std::string(recorder.strings().view(recorder.frames()[frame].name)) + "@model.py:1 ";
      }
      if (!stack.empty()) stack.pop_back();
      live[block.address] = {block.size, block.requested_size,
                             block.state == alloc::BlockState::active_pending_free, stack};
    }
  }
  return live;
}

class RandomWork {
 public:
  RandomWork(RecordedRun& run, uint32_t seed) : run_(run), random_(seed) {
    for (const char* name : {"forward", "backward", "optimizer", "eval"}) {
      stacks_.push_back(run.stack({name, "train", "main"}));
      stacks_.push_back(run.stack({name, "main"}));
    }
  }
  void step() {
    const size_t device = random_() % run_.allocators.size();
    alloc::DeviceAllocator& allocator = run_.allocator(device);
    std::vector<uint64_t>& held = held_[device];
    const StackId stack = random_() % 10 == 0 ? StackId() : stacks_[random_() % stacks_.size()];
    switch (random_() % 32) {
      case 0:
        return allocator.empty_cache({}, {stack, {}});
      case 1:
        return run_.memories[device]->finish(static_cast<int64_t>(random_() % 3));
      case 2:
        run_.recorder.set_user_metadata(random_() % 2 == 0 ? "" : "phase " + std::to_string(random_() % 5));
        return;
      case 3:
        return run_.recorder.begin_region("step", static_cast<int32_t>(device));
      case 4:
        if (!held.empty())
          (void)allocator.record_stream(held[random_() % held.size()],
                                        1 + static_cast<int64_t>(random_() % 2));
        return;
      default:
        break;
    }
    if (held.empty() || random_() % 100 < 55) {
      const int64_t scale = int64_t{1} << (random_() % 27);
      const auto address = allocator.malloc(1 + static_cast<int64_t>(random_()) % scale,
                                            static_cast<int64_t>(random_() % 3), {stack, {}});
      if (address)
        held.push_back(*address);
      else
        EXPECT_EQ(address.error().code, ErrorCode::out_of_memory);
    } else {
      std::swap(held[random_() % held.size()], held.back());
      EXPECT_TRUE(allocator.free(held.back(), {stack, {}}));
      held.pop_back();
    }
  }

 private:
  RecordedRun& run_;
  std::mt19937 random_;
  std::vector<StackId> stacks_;
  std::map<size_t, std::vector<uint64_t>> held_;
};

void check_dump(RecordedRun& run, bool whole) {
  const auto file = read_bytes(run.dump());
  ASSERT_TRUE(file->status);
  const model::Recording& rec = file->recording;
  for (size_t i = 0; i < static_cast<size_t>(model::Diag::kCount); ++i) {
    EXPECT_EQ(file->count(static_cast<model::Diag>(i)), 0) << kind_of(static_cast<model::Diag>(i)).name;
  }
  for (size_t device = 0; device < run.allocators.size(); ++device) {
    const World state = state_in(rec, static_cast<int>(device));
    std::map<uint64_t, std::tuple<int64_t, int64_t, bool, std::string>> live;
    for (size_t i = 0; i < rec.segments.size_rows(); ++i) {
      if (rec.segments.device[i] != static_cast<int32_t>(device)) continue;
      for (int32_t row = rec.segments.blocks[i].first; row < rec.segments.blocks[i].end(); ++row) {
        const auto k = static_cast<size_t>(row);
        if (rec.blocks.state[k] == model::BlockState::inactive) continue;
        live[rec.blocks.address[k]] = {rec.blocks.size[k], rec.blocks.requested_size[k],
                                       rec.blocks.state[k] == model::BlockState::active_pending_free,
                                       file->stack(rec.blocks.stack[k])};
      }
    }
    EXPECT_EQ(live, live_of(run.allocator(device).state(), run.recorder));

    const model::RowRange range = rec.parts[0].events_of(static_cast<int32_t>(device));
    World replayed;
    if (whole) {
      for (int32_t row = range.first; row < range.end(); ++row)
        apply(replayed, rec.events, static_cast<size_t>(row));
      EXPECT_EQ(replayed.blocks, state.blocks);
      EXPECT_TRUE(replayed.segments == state.segments);
    }
    World undone = state;
    for (int32_t row = range.end(); row-- > range.first;)
      take_back(undone, rec.events, static_cast<size_t>(row));
    if (whole) {
      EXPECT_TRUE(undone.blocks.empty());
      EXPECT_TRUE(undone.segments == Bytes());
    }
  }
}

TEST(RecordedDumpProperty, RandomWorkDumpedAndRead) {
  const std::string settings[] = {"",
                                  "expandable_segments:True",
                                  "max_split_size_mb:64",
                                  "roundup_power2_divisions:4",
                                  "garbage_collection_threshold:0.6,per_process_memory_fraction:0.5",
                                  "expandable_segments:True,large_segment_size_mb:32"};
  for (uint32_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    RecordedRun run(1 + static_cast<int>(seed % 2), 1024 * kMiB, settings[seed % std::size(settings)]);
    trace::RecordOptions options;
    const bool whole = seed % 4 != 3;
    if (!whole) options.max_entries = 100 + seed;
    run.record(options);
    RandomWork work(run, seed);
    for (int step = 1; step <= 600; ++step) {
      work.step();
      if (step % 150 == 0) check_dump(run, whole);
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gpustrata::tests
