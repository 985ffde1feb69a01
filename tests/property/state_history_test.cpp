// Two implementations: the allocator runs random requests, and every state it had is compared with the one
// that replay finds again from the trace and the final state alone, also when the trace has lost its
// beginning.
#include "engine/replay/state_history.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"
#include "engine/replay/memory_at.h"
#include "engine/replay/state_sketch.h"
#include "tests/unit/numbers.h"

namespace gpustrata::replay {
namespace {

using alloc::BlockId;
using alloc::MemoryState;
using model::BlockState;

struct Shown {
  bool sizes = true;  // also of blocks and free memory between them
};

std::string block_text(uint64_t address, int64_t size, int64_t requested, char state, Shown shown) {
  if (!shown.sizes) return state == '-' ? "" : fmt::format(" {}{:x}/{}", state, address, requested);
  return fmt::format(" {}{:x}+{}/{}", state, address, size, state == '-' ? 0 : requested);
}

// Mapped runs as segments, as a snapshot lists them.
template <typename OnSegment, typename OnBlock>
void walk(const MemoryState& state, OnSegment&& on_segment, OnBlock&& on_block) {
  for (const alloc::SegmentId id : state.segments()) {
    bool inside = false;
    for (BlockId i = state.segment(id).first; !i.is_none(); i = state.block(i).next) {
      const alloc::Block& block = state.block(i);
      if (!block.mapped) {
        inside = false;
        continue;
      }
      if (!inside) {
        int64_t size = 0;
        for (BlockId j = i; !j.is_none() && state.block(j).mapped; j = state.block(j).next)
          size += state.block(j).size;
        on_segment(state.segment(id), block.address, size);
        inside = true;
      }
      on_block(block);
    }
  }
}

std::string picture(const MemoryState& state, Shown shown) {
  std::string text;
  walk(
      state,
      [&](const alloc::Segment& segment, uint64_t address, int64_t size) {
        text += fmt::format("\n{:x}+{} @{} ({},{}):", address, size, segment.stream, segment.pool.graph_id,
                            segment.pool.user_id);
      },
      [&](const alloc::Block& block) {
        text += block_text(block.address, block.size, block.requested_size,
                           "AP-"[static_cast<int>(block.state)], shown);
      });
  return text;
}

std::string picture(const model::Recording& recording, const StateHistory& history, const MemoryAt& memory,
                    Shown shown) {
  std::string text;
  for (const SegmentAt& segment : memory.segments()) {
    const auto row = static_cast<size_t>(segment.row);
    const model::Pool& pool = recording.pools[history.range_pool[row].index()];
    text += fmt::format("\n{:x}+{} @{} ({},{}):", segment.address, segment.size,
                        recording.streams[history.range_stream[row].index()], pool.graph_id, pool.user_id);
    for (const BlockAt& block : memory.blocks_of(segment))
      text += block_text(block.address, block.size, block.requested_size,
                         "AP-"[static_cast<int>(block.state)], shown);
  }
  for (const BlockAt& block : memory.outside()) text += fmt::format("\noutside {:x}", block.address);
  return text;
}

class Recorder final : public trace::EventSink {
 public:
  void on_event(const trace::TraceEvent& event) override { events.push_back(event); }
  std::vector<trace::TraceEvent> events;
};

struct Setting {
  const char* name;
  const char* conf;
  const char* json;  // as a snapshot has it
};
constexpr Setting kSettings[] = {
    {"Default", "", "{}"},
    {"Expandable", "expandable_segments:True", R"({"expandable_segments":true})"},
    {"Rounding", "roundup_power2_divisions:4",
     R"({"roundup_power2_divisions":{"1":4,"2":4,"4":4,"8":4,"16":4,"32":4,"64":4,"128":4,"256":4,"512":4,"1024":4,)"
     R"("2048":4,"4096":4,"8192":4,"16384":4,"32768":4}})"},
    {"NoSplit", "max_split_size_mb:24", R"({"max_split_size":25165824})"},
};

class Script {
 public:
  Script(const Setting& setting, uint64_t seed) : random_(seed), setting_(setting) {
    EXPECT_TRUE(alloc::apply_settings(config_, setting.conf).has_value());
    allocator_ = std::make_unique<alloc::DeviceAllocator>(device_, 0, config_, &recorder_, budget_);
  }

  void run(int steps) {
    note();
    for (int i = 0; i < steps; ++i) {
      step();
      note();
    }
  }

  // The trace from event `lost` on, with the state as it is now.
  void dump(model::Recording& recording, size_t lost) const {
    recording.parts.emplace_back();
    model::Part& part = recording.parts.back();
    part.settings_json = recording.strings.intern(setting_.json);
    bool ok = true;
    auto& events = recording.events;
    for (size_t i = lost; i < recorder_.events.size(); ++i) {
      const trace::TraceEvent& event = recorder_.events[i];
      ok &= events.action.push_back(event.action) && events.address.push_back(event.address) &&
            events.size.push_back(event.size) && events.time.push_back(model::kNoTime) &&
            events.stack.push_back({}) && events.context.push_back({}) && events.metadata.push_back({}) &&
            events.stream.push_back(recording.stream_of(event.stream)) &&
            events.pool.push_back(recording.pool_of(event.pool));
    }
    part.traces = {{0, {0, static_cast<int32_t>(recorder_.events.size() - lost)}}};
    auto& segments = recording.segments;
    walk(
        allocator_->state(),
        [&](const alloc::Segment& segment, uint64_t address, int64_t size) {
          const model::RowRange rows{static_cast<int32_t>(recording.blocks.size_rows()), 0};
          ok &= segments.device.push_back(0) && segments.address.push_back(address) &&
                segments.total_size.push_back(size) && segments.allocated_size.push_back(0) &&
                segments.active_size.push_back(0) && segments.requested_size.push_back(0) &&
                segments.stream.push_back(recording.stream_of(segment.stream)) &&
                segments.pool.push_back(recording.pool_of(segment.pool)) &&
                segments.type.push_back(model::SegmentType::unknown) &&
                segments.expandable.push_back(segment.expandable ? model::Tristate::yes
                                                                 : model::Tristate::no) &&
                segments.stack.push_back({}) && segments.metadata.push_back({}) &&
                segments.blocks.push_back(rows);
        },
        [&](const alloc::Block& block) {
          constexpr BlockState kStates[] = {BlockState::active_allocated, BlockState::active_pending_free,
                                            BlockState::inactive};
          auto& blocks = recording.blocks;
          ok &= blocks.address.push_back(block.address) && blocks.size.push_back(block.size) &&
                blocks.requested_size.push_back(block.requested_size) &&
                blocks.state.push_back(kStates[static_cast<int>(block.state)]) &&
                blocks.stack.push_back({}) && blocks.metadata.push_back({}) && blocks.history.push_back({});
          ++segments.blocks.back().count;
        });
    part.segments = {0, static_cast<int32_t>(segments.size_rows())};
    ASSERT_TRUE(ok);
  }

  // What the allocator had after each step, and after how many events.
  struct Noted {
    size_t events;
    std::string exact, without_sizes;
  };
  [[nodiscard]] const std::vector<Noted>& noted() const { return noted_; }
  [[nodiscard]] size_t event_count() const { return recorder_.events.size(); }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  void note() {
    noted_.push_back({recorder_.events.size(), picture(allocator_->state(), {true}),
                      picture(allocator_->state(), {false})});
  }
  int64_t random_size() {
    switch (below(4)) {
      case 0:
        return static_cast<int64_t>(1 + below(4096));
      case 1:
        return static_cast<int64_t>(1 + below(1 << 20));
      case 2:
        return static_cast<int64_t>(kMiB + static_cast<int64_t>(below(9 << 20)));
      default:
        return static_cast<int64_t>(10 * kMiB + static_cast<int64_t>(below(30 << 20)));
    }
  }
  void step() {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: {
        const auto address = allocator_->malloc(random_size(), static_cast<int64_t>(below(2)));
        if (address) live_.push_back(*address);
        return;
      }
      case 5:
        if (!live_.empty()) (void)allocator_->record_stream(live_[below(live_.size())], 7);
        return;
      case 6:
        device_.finish(7);
        return;
      case 7:
        if (below(4) == 0) allocator_->empty_cache();
        return;
      case 8:
        if (pool_open_) {
          EXPECT_TRUE(allocator_->end_allocate_to_pool({0, 1}).has_value());
        } else {
          EXPECT_TRUE(allocator_->begin_allocate_to_pool({0, 1}).has_value());
        }
        pool_open_ = !pool_open_;
        return;
      default:
        if (live_.empty()) return;
        const size_t i = below(live_.size());
        EXPECT_TRUE(allocator_->free(live_[i]).has_value());
        live_[i] = live_.back();
        live_.pop_back();
    }
  }

  Budget budget_{int64_t{1} << 30};
  std::mt19937_64 random_;
  const Setting& setting_;
  alloc::SimulatedDevice device_{512 * kMiB};
  alloc::Config config_;
  Recorder recorder_;
  std::unique_ptr<alloc::DeviceAllocator> allocator_;
  std::vector<uint64_t> live_;
  std::vector<Noted> noted_;
  bool pool_open_ = false;
};

class StateOfAllocator : public testing::TestWithParam<std::tuple<size_t, uint64_t>> {};

TEST_P(StateOfAllocator, IsFoundAgainAfterEveryStep) {
  const auto& [setting, seed] = GetParam();
  Script script(kSettings[setting], seed);
  script.run(400);
  Budget budget(int64_t{1} << 30);
  model::Recording recording(budget);
  script.dump(recording, 0);
  const auto history = undo_to_start(recording, recording.parts[0], 0);
  ASSERT_TRUE(history.has_value());
  EXPECT_FALSE(history->diagnostics.any());
  MemoryAt memory(*history, budget);
  for (const Script::Noted& noted : script.noted()) {
    ASSERT_TRUE(memory.go_to(static_cast<int32_t>(noted.events) - 1));
    ASSERT_EQ(picture(recording, *history, memory, {true}), noted.exact)
        << "after event " << noted.events - 1;
  }
  // Any order of questions gives the same answers as walking.
  std::mt19937_64 random(seed);
  for (int i = 0; i < 40; ++i) {
    const Script::Noted& noted = script.noted()[random() % script.noted().size()];
    ASSERT_TRUE(memory.go_to(static_cast<int32_t>(noted.events) - 1));
    ASSERT_EQ(picture(recording, *history, memory, {true}), noted.exact);
  }
}

TEST_P(StateOfAllocator, IsSketchedWithoutUndoingEverything) {
  const auto& [setting, seed] = GetParam();
  Script script(kSettings[setting], seed + 2000);
  script.run(400);
  Budget budget(int64_t{1} << 30);
  model::Recording recording(budget);
  script.dump(recording, 0);
  const auto device = Device::open(recording, recording.parts[0], 0);
  ASSERT_TRUE(device.has_value());
  size_t exact = 0;
  for (const Script::Noted& noted : script.noted()) {
    const auto sketch = sketch_state(**device, static_cast<int32_t>(noted.events) - 1);
    ASSERT_TRUE(sketch.has_value());
    MemoryAt memory(sketch->history, budget);
    ASSERT_TRUE(memory.go_to(-1));
    ASSERT_EQ(picture(recording, sketch->history, memory, {false}), noted.without_sizes)
        << "after event " << noted.events - 1;
    exact += picture(recording, sketch->history, memory, {true}) == noted.exact;
  }
  // Only blocks that were not split are drawn too small.
  EXPECT_GT(exact, script.noted().size() / 3);
}

TEST_P(StateOfAllocator, IsFoundAgainWhenTheBeginningIsLost) {
  const auto& [setting, seed] = GetParam();
  Script script(kSettings[setting], seed + 1000);
  script.run(400);
  const size_t lost = script.event_count() / 2;
  Budget budget(int64_t{1} << 30);
  model::Recording recording(budget);
  script.dump(recording, lost);
  const auto history = undo_to_start(recording, recording.parts[0], 0);
  ASSERT_TRUE(history.has_value());
  EXPECT_FALSE(history->diagnostics.any());
  MemoryAt memory(*history, budget);
  size_t compared = 0;
  for (const Script::Noted& noted : script.noted()) {
    if (noted.events < lost) continue;
    ASSERT_TRUE(memory.go_to(static_cast<int32_t>(noted.events - lost) - 1));
    ASSERT_EQ(picture(recording, *history, memory, {false}), noted.without_sizes);
    ++compared;
  }
  EXPECT_GT(compared, 50U);
}

INSTANTIATE_TEST_SUITE_P(Random, StateOfAllocator,
                         testing::Combine(testing::Range<size_t>(0, std::size(kSettings)),
                                          testing::Range<uint64_t>(0, 6)),
                         [](const auto& one) {
                           return fmt::format("{}{}", kSettings[std::get<0>(one.param)].name,
                                              std::get<1>(one.param));
                         });

}  // namespace
}  // namespace gpustrata::replay
