// What scripts of the reference cases cannot say: errors, hooks, own allocators, checkpoints, stacks.
#include "engine/alloc/device_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/alloc/simulated_device.h"
#include "tests/unit/alloc/invariants.h"

namespace gpustrata::alloc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::Action;

constexpr PoolKey kPool{0, 1};

struct Events final : trace::EventSink {
  void on_event(const trace::TraceEvent& event) override { list.push_back(event); }
  [[nodiscard]] std::vector<Action> actions() const {
    std::vector<Action> actions;
    for (const trace::TraceEvent& event : list) actions.push_back(event.action);
    return actions;
  }
  std::vector<trace::TraceEvent> list;
};

// Streams of a captured graph: a terminal per stream; edges say what follows what.
class CapturingDevice : public DeviceMemory {
 public:
  explicit CapturingDevice(int64_t bytes) : memory(bytes) {}
  [[nodiscard]] DeviceMemoryInfo info() override { return memory.info(); }
  [[nodiscard]] DeviceResult<uint64_t> allocate(int64_t bytes) override { return memory.allocate(bytes); }
  void free(uint64_t address, int64_t bytes) override { memory.free(address, bytes); }
  [[nodiscard]] DeviceResult<uint64_t> reserve(int64_t bytes) override { return memory.reserve(bytes); }
  void release(uint64_t address, int64_t bytes) override { memory.release(address, bytes); }
  [[nodiscard]] DeviceResult<void> map(uint64_t address, int64_t bytes, int64_t page) override {
    return memory.map(address, bytes, page);
  }
  void unmap(uint64_t address, int64_t bytes, int64_t page) override { memory.unmap(address, bytes, page); }
  [[nodiscard]] DeviceResult<EventHandle> record_event(int64_t stream) override {
    if (no_events) return tl::unexpected(DeviceFailure{false, "no events"});
    return memory.record_event(stream);
  }
  [[nodiscard]] bool is_finished(EventHandle event) override { return memory.is_finished(event); }
  void wait(EventHandle event) override { memory.wait(event); }
  void release_event(EventHandle event) override { memory.release_event(event); }
  void wait_for_stream(int64_t stream) override { waited.insert(stream); }
  [[nodiscard]] std::optional<std::vector<uint64_t>> capture_terminals(int64_t stream) override {
    const auto found = terminals.find(stream);
    return found == terminals.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] bool all_terminals_follow(int64_t, const std::vector<uint64_t>& nodes) override {
    return std::all_of(nodes.begin(), nodes.end(), [&](uint64_t node) { return followed.contains(node); });
  }

  SimulatedDevice memory;
  bool no_events = false;
  std::set<int64_t> waited;
  std::map<int64_t, std::vector<uint64_t>> terminals;
  std::set<uint64_t> followed;
};

class Allocator : public testing::Test {
 protected:
  DeviceAllocator& make(std::string_view settings = "", int64_t device_bytes = 1 << 30) {
    Config config;
    EXPECT_TRUE(apply_settings(config, settings).has_value());
    device = std::make_unique<SimulatedDevice>(device_bytes);
    allocator = std::make_unique<DeviceAllocator>(*device, 0, config, &events, budget);
    return *allocator;
  }
  uint64_t malloc(int64_t size, int64_t stream = 0, const Origin& origin = {}) {
    const auto address = allocator->malloc(size, stream, origin);
    EXPECT_TRUE(address.has_value()) << (address ? "" : address.error().message);
    return address ? *address : 0;
  }
  void free(uint64_t address, const Origin& origin = {}) {
    EXPECT_TRUE(allocator->free(address, origin).has_value());
  }
  // Blocks of all segments: "A512 -2096640", segments apart by "|".
  [[nodiscard]] std::string layout() const {
    std::string text;
    const MemoryState& state = allocator->state();
    for (const SegmentId id : state.segments()) {
      if (!text.empty()) text += " |";
      for (BlockId i = state.segment(id).first; !i.is_none(); i = state.block(i).next) {
        const Block& block = state.block(i);
        text += (text.empty() ? "" : " ") +
                std::string(1, block.mapped ? "AP-"[static_cast<int>(block.state)] : '.') +
                std::to_string(block.size);
      }
    }
    return text;
  }
  void TearDown() override {
    if (allocator == nullptr) return;
    EXPECT_EQ(check_invariants(allocator->state()), "");
    EXPECT_EQ(allocator->check_pools(), "");
  }

  Budget budget{int64_t{1} << 28};
  Events events;
  std::unique_ptr<SimulatedDevice> device;
  std::unique_ptr<DeviceAllocator> allocator;
};

TEST_F(Allocator, EventsCarryTheStackOfTheCallElseOfTheAllocation) {
  make();
  const StackId born(1), died(2), later(3), flush(4);
  const uint64_t a = malloc(1000, 0, {born, StringId(7)});
  const BlockId block = allocator->state().live_block_at(a);
  EXPECT_EQ(allocator->state().block(block).stack, born);
  EXPECT_EQ(allocator->state().block(block).metadata, StringId(7));
  EXPECT_EQ(allocator->state().segment_of(block).stack, born);
  free(a);  // without a stack of its own: that of the allocation
  EXPECT_TRUE(allocator->state().block(allocator->state().block_containing(a)).stack.is_none());
  const uint64_t b = malloc(1000, 0, {later, {}});
  free(b, {died, {}});
  allocator->empty_cache({}, {});
  const uint64_t c = malloc(1000, 0, {later, {}});
  free(c, {died, {}});
  allocator->empty_cache({}, {flush, {}});
  std::vector<int32_t> stacks;
  for (const trace::TraceEvent& event : events.list) stacks.push_back(event.stack.value);
  EXPECT_THAT(stacks, ElementsAre(1, 1, 1, 1,  // segment_alloc, alloc, free_requested, free_completed
                                  3, 2, 2, 1,  // alloc, both frees, segment_free: the segment's stack
                                  3, 3, 2, 2, 4));
}

TEST_F(Allocator, WrongPointersAreRefused) {
  make();
  const uint64_t a = malloc(1000);
  EXPECT_FALSE(allocator->free(a + 512).has_value());
  EXPECT_FALSE(allocator->free(0).has_value());
  (void)allocator->record_stream(a, 1);
  (void)allocator->record_stream(12345, 1);  // not ours: ignored
  free(a);                                   // now it waits for stream 1
  const Status again = allocator->free(a);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(again.error().message, HasSubstr("invalid device pointer"));
  EXPECT_FALSE(allocator->malloc(0, 0).has_value());
  EXPECT_FALSE(allocator->malloc(-5, 0).has_value());
}

TEST_F(Allocator, AnErrorOfTheDeviceIsReportedAtOnce) {
  make("", 64 << 20);
  const uint64_t a = malloc(40 << 20);
  free(a);
  device->fail_at(1, {false, "the device fell off the bus"});
  const auto failed = allocator->malloc(50 << 20, 0);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::device_error);
  EXPECT_EQ(failed.error().message, "the device fell off the bus");
  EXPECT_EQ(allocator->stats().segment.all().current, 1);  // nothing was flushed, nothing counted
  EXPECT_EQ(allocator->stats().num_ooms, 0);
  device->fail_at(1, {true, ""});  // out of memory: the flush helps
  malloc(50 << 20);
  EXPECT_EQ(allocator->stats().num_alloc_retries, 1);
}

TEST_F(Allocator, AFailedStepOfAnExpandableSegmentLeavesItsPagesCached) {
  make("expandable_segments:True");
  const uint64_t a = malloc(20 << 20);
  const uint64_t b = malloc(20 << 20);
  const uint64_t c = malloc(20 << 20);
  const uint64_t d = malloc(20 << 20);
  free(b);
  free(d);
  allocator->empty_cache();        // a . c ....
  free(c);                         // a . - ....
  device->fail_at(2, {true, ""});  // the hole is mapped, the page behind fails; then everything is flushed
  const uint64_t e = malloc(60 << 20);
  EXPECT_EQ(e, a + (20 << 20));
  EXPECT_EQ(allocator->stats().num_alloc_retries, 1);
  EXPECT_EQ(allocator->stats().reserved_bytes.all().current, 80 << 20);
}

TEST_F(Allocator, OutOfMemoryTellsObserversAndSaysWhatIsUsed) {
  make("per_process_memory_fraction:0.5", 128 << 20);
  std::vector<int64_t> seen;
  allocator->add_oom_observer([&](const OutOfMemory& oom) { seen.push_back(oom.segment_bytes); });
  ASSERT_TRUE(allocator->begin_allocate_to_pool(kPool).has_value());
  const uint64_t a = malloc(1000);
  ASSERT_TRUE(allocator->end_allocate_to_pool(kPool).has_value());
  free(a);
  malloc(30 << 20);
  const auto failed = allocator->malloc((40 << 20) - 1000, 3);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::out_of_memory);
  const OutOfMemory& oom = allocator->last_oom();
  EXPECT_EQ(oom.requested_bytes, (40 << 20) - 1000);
  EXPECT_EQ(oom.rounded_bytes, (40 << 20) - 512);
  EXPECT_EQ(oom.segment_bytes, 40 << 20);
  EXPECT_EQ(oom.allowed_bytes, 64 << 20);
  EXPECT_EQ(oom.device_free, 96 << 20);
  EXPECT_EQ(oom.private_pool_bytes, 2 << 20);
  EXPECT_EQ(oom.allocated_bytes, 32 << 20);
  EXPECT_EQ(oom.unallocated_bytes, 0);
  EXPECT_THAT(oom.text,
              HasSubstr("CUDA out of memory. Tried to allocate 40.00 MiB. GPU 0: 128.00 MiB in total"));
  EXPECT_THAT(oom.text,
              HasSubstr("64.00 MiB allowed; 32.00 MiB allocated (of it 2.00 MiB free in private pools"));
  EXPECT_THAT(seen, ElementsAre(40 << 20));
  EXPECT_EQ(events.list.back().action, Action::oom);
  EXPECT_EQ(events.list.back().address, 96U << 20);
  EXPECT_EQ(events.list.back().size, (40 << 20) - 512);
  EXPECT_EQ(events.list.back().stream, 3);
}

TEST(OomSizes, KeepAUnitUpTo1024OfIt) {
  EXPECT_EQ(oom_size_text(0), "0 bytes");
  EXPECT_EQ(oom_size_text(1024), "1024 bytes");
  EXPECT_EQ(oom_size_text(1025), "1.00 KiB");
  EXPECT_EQ(oom_size_text(1 << 20), "1024.00 KiB");
  EXPECT_EQ(oom_size_text(1 << 30), "1024.00 MiB");
  // test_out_of_memory of PyTorch: 800,000,000 GiB.
  EXPECT_EQ(oom_size_text(int64_t{800'000'000} << 30), "800000000.00 GiB");
}

TEST_F(Allocator, ALimitFlushesTheCacheBeforeARequestIsOutOfMemory) {
  make("throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5", 128 << 20);
  free(malloc(50 << 20));
  EXPECT_TRUE(allocator->malloc(60 << 20, 0).has_value());  // within 64 MiB, once the cache is empty
  EXPECT_EQ(allocator->stats().num_alloc_retries, 1);
  ASSERT_FALSE(allocator->malloc(60 << 20, 0).has_value());
  EXPECT_FALSE(allocator->last_oom().rejected);
  EXPECT_EQ(allocator->stats().num_oom_rejections, 0);
  EXPECT_EQ(allocator->stats().num_ooms, 1);
  EXPECT_EQ(events.list.back().action, Action::oom);
}

TEST_F(Allocator, ARequestBeyondTheDeviceIsRejectedBeforeItIsAsked) {
  make("throw_on_cudamalloc_oom:True", 128 << 20);
  free(malloc(50 << 20));
  ASSERT_FALSE(allocator->malloc(80 << 20, 0).has_value());  // 50 + 80 of 128 MiB
  EXPECT_TRUE(allocator->last_oom().rejected);
  EXPECT_EQ(allocator->stats().num_oom_rejections, 1);
  EXPECT_EQ(allocator->stats().num_ooms, 0);
  EXPECT_EQ(allocator->stats().num_alloc_retries, 0);
  EXPECT_EQ(allocator->stats().segment.all().current, 1);  // the cache was not flushed
}

TEST_F(Allocator, TheMemoryFractionIsALimitInBytes) {
  make("", 1000);
  EXPECT_EQ(allocator->memory_fraction(), 1.0);
  EXPECT_TRUE(allocator->set_memory_fraction(0.4999).has_value());
  EXPECT_EQ(allocator->memory_fraction(), 0.499);  // floor(499.9) of 1000
  EXPECT_FALSE(allocator->set_memory_fraction(-0.1).has_value());
  EXPECT_FALSE(allocator->set_memory_fraction(1.1).has_value());
  EXPECT_TRUE(allocator->set_memory_fraction(1).has_value());
  EXPECT_EQ(allocator->memory_fraction(), 1.0);
}

TEST_F(Allocator, BaseAllocationIsTheSegment) {
  make();
  malloc(1000);
  const uint64_t b = malloc(1000);
  const auto base = allocator->base_allocation(b + 5);
  ASSERT_TRUE(base.has_value());
  EXPECT_EQ(base->address, b - 1024);
  EXPECT_EQ(base->size, 2 << 20);
  EXPECT_FALSE(allocator->base_allocation(b + 2048).has_value());  // idle
  EXPECT_FALSE(allocator->base_allocation(5).has_value());
  ASSERT_TRUE(allocator->set_config("expandable_segments:True").has_value());
  EXPECT_FALSE(allocator->base_allocation(malloc(4 << 20)).has_value());
}

// --- Private pools -----------------------------------------------------------------------------------------

// Segments of another allocator.
struct Source final : SegmentSource {
  [[nodiscard]] uint64_t allocate(int64_t bytes, int, int64_t) override {
    if (bytes > left) return 0;
    left -= bytes;
    sizes.push_back(bytes);
    return next += uint64_t{1} << 32;
  }
  void free(uint64_t, int64_t bytes, int, int64_t) override { left += bytes; }
  int64_t left = 4 << 20;
  uint64_t next = uint64_t{1} << 40;
  std::vector<int64_t> sizes;
};

TEST_F(Allocator, APoolsOwnAllocatorIsAskedForWholeSegments) {
  // PyTorch's test_mempool_with_allocator: 1, 1, 2 segments after 1, 2, 3 tensors of 1 MiB.
  make("expandable_segments:True");
  Source source;
  ASSERT_TRUE(allocator->create_or_increment_pool(kPool, &source).has_value());
  EXPECT_EQ(allocator->pool_use_count(kPool), 1);
  ASSERT_TRUE(allocator->begin_allocate_to_pool(kPool).has_value());
  EXPECT_EQ(allocator->pool_use_count(kPool), 2);
  std::vector<uint64_t> blocks;
  for (const size_t segments : {1U, 1U, 2U}) {
    blocks.push_back(malloc(1 << 20));
    EXPECT_EQ(source.sizes.size(), segments);
  }
  blocks.push_back(malloc(1 << 20));
  EXPECT_FALSE(allocator->malloc(1 << 20, 0).has_value());  // null is out of memory
  EXPECT_EQ(device->info().free_bytes, 1 << 30);            // the device was never asked
  ASSERT_TRUE(allocator->end_allocate_to_pool(kPool).has_value());
  ASSERT_TRUE(allocator->release_pool(kPool).has_value());
  ASSERT_TRUE(allocator->release_pool(kPool).has_value());
  for (const uint64_t block : blocks) free(block);
  EXPECT_EQ(source.left, 0);
  allocator->empty_cache();
  EXPECT_EQ(source.left, 4 << 20);
  EXPECT_EQ(allocator->pool_use_count(kPool), 0);
  EXPECT_TRUE(allocator->create_or_increment_pool(kPool).has_value());  // the old one is forgotten
}

TEST_F(Allocator, RequestsOfOneStreamCanBeRouted) {
  make();
  ASSERT_TRUE(
      allocator->begin_allocate_to_pool(kPool, [](int64_t stream) { return stream == 5; }).has_value());
  malloc(512, 5);
  malloc(512, 6);
  EXPECT_EQ(events.list[0].pool, kPool);
  EXPECT_EQ(events.list[2].pool, PoolKey{});
}

TEST_F(Allocator, APoolEndsOnlyWhenItOwnsNothing) {
  // Section 24.2 of the reference: PyTorch's count of mappings falls below 0 here.
  make("expandable_segments:True");
  ASSERT_TRUE(allocator->begin_allocate_to_pool(kPool).has_value());
  const uint64_t a = malloc(60 << 20);
  free(a);
  const uint64_t x = malloc(20 << 20), y = malloc(20 << 20), z = malloc(20 << 20);
  ASSERT_TRUE(allocator->end_allocate_to_pool(kPool).has_value());
  ASSERT_TRUE(allocator->release_pool(kPool).has_value());
  free(x);
  free(z);
  allocator->empty_cache();
  EXPECT_EQ(allocator->stats().reserved_bytes.all().current, 20 << 20);
  free(y);
  allocator->empty_cache();
  EXPECT_EQ(allocator->stats().reserved_bytes.all().current, 0);
  EXPECT_EQ(allocator->state().segment_count(), 0U);
  EXPECT_TRUE(allocator->begin_allocate_to_pool(kPool).has_value());  // a new pool of the same name
}

TEST_F(Allocator, ASegmentInUseIsNeverGivenBack) {
  // Section 24.1: PyTorch frees the segment under `c` here.
  make("max_split_size_mb:40", 200 << 20);
  free(malloc(100 << 20));
  ASSERT_TRUE(allocator->set_config("expandable_segments:True,max_split_size_mb:40").has_value());
  const uint64_t b = malloc(95 << 20);
  const uint64_t c = malloc(4 << 20);
  free(b);
  (void)allocator->malloc(120 << 20, 0);
  EXPECT_FALSE(allocator->state().live_block_at(c).is_none());
  EXPECT_EQ(allocator->base_allocation(c)->size, 100 << 20);
}

TEST_F(Allocator, ACheckpointBringsTheBlocksBack) {
  make();
  ASSERT_TRUE(allocator->begin_allocate_to_pool(kPool).has_value());
  const uint64_t a = malloc(1 << 20);
  const uint64_t b = malloc(2 << 20), c = malloc(3 << 20), d = malloc(512);
  free(c);
  const auto saved = allocator->checkpoint(kPool);
  ASSERT_TRUE(saved.has_value());
  const std::string then = layout();
  EXPECT_EQ(then, "A1048576 A512 -1048064 | A2097152 -18874368");
  free(b);
  free(a);
  const uint64_t e = malloc(5 << 20);
  malloc(100);
  malloc(19 << 20);
  EXPECT_NE(layout(), then);
  ASSERT_TRUE(allocator->restore(*saved).has_value());
  // The segment that came later is idle.
  EXPECT_EQ(layout(), then + " | -20971520");
  EXPECT_EQ(allocator->stats().allocation.all().current, 3);
  EXPECT_EQ(allocator->stats().requested_bytes.all().current, (3 << 20) + 512);
  free(a);
  free(b);
  free(d);
  EXPECT_EQ(e, b);  // it lay where b is again
  EXPECT_FALSE(allocator->checkpoint({0, 9}).has_value());
}

TEST_F(Allocator, ACheckpointOfAnExpandableSegmentMayHaveGrownSince) {
  make("expandable_segments:True");
  ASSERT_TRUE(allocator->begin_allocate_to_pool(kPool).has_value());
  const uint64_t a = malloc(10 << 20);
  const uint64_t b = malloc(20 << 20);
  malloc(5 << 20);
  free(b);
  const auto saved = allocator->checkpoint(kPool);
  free(a);
  malloc(70 << 20);
  ASSERT_TRUE(allocator->restore(*saved).has_value());
  EXPECT_THAT(layout(), HasSubstr("A10485760 -20971520 A5242880 -"));
  // Not if memory is missing.
  auto missing = *saved;
  missing.segments[0].blocks[0].address += int64_t{1} << 29;
  EXPECT_FALSE(allocator->restore(missing).has_value());
}

TEST_F(Allocator, ACheckpointNeedsFinishedFrees) {
  make();
  ASSERT_TRUE(allocator->begin_allocate_to_pool(kPool).has_value());
  const uint64_t a = malloc(1 << 20);
  const auto saved = allocator->checkpoint(kPool);
  (void)allocator->record_stream(a, 3);
  EXPECT_FALSE(allocator->restore(*saved).has_value());
  free(a);
  EXPECT_FALSE(allocator->checkpoint(kPool).has_value());
}

// Stream 1 is done with the block: routing alone puts the free off by default, and does not where only captures do.
TEST_F(Allocator, WhatPutsOffFreesThatWaitForStreams) {
  for (const bool by_captures : {false, true}) {
    make();
    if (by_captures) allocator->set_defer(DeviceAllocator::Defer::while_capturing);
    const uint64_t a = malloc(3 << 20);
    (void)allocator->record_stream(a, 1);
    ASSERT_TRUE(allocator->begin_allocate_to_pool(kPool).has_value());
    free(a);
    device->finish(1);
    malloc(512);
    EXPECT_EQ(allocator->stats().active.all().current, by_captures ? 1 : 2);
    allocator->empty_cache();  // of the default pool, or nothing
    EXPECT_EQ(allocator->stats().num_sync_all_streams, by_captures ? 1 : 0);
    EXPECT_FALSE(allocator->end_capture().has_value());  // none began
  }
  // A capture does in either way.
  const uint64_t b = malloc(3 << 20);
  (void)allocator->record_stream(b, 1);
  allocator->begin_capture();
  free(b);
  device->finish(1);
  malloc(512);
  EXPECT_EQ(allocator->stats().active.all().current, 3);
  ASSERT_TRUE(allocator->end_capture().has_value());
  malloc(512);
  device->finish(1);  // the mark was set when the capture was over
  malloc(512);
  EXPECT_EQ(allocator->stats().active.all().current, 4);
}

TEST_F(Allocator, ACapturePutsOffWhatIsCapturedOnly) {
  make();
  bool captured = false;
  allocator->set_defer(DeviceAllocator::Defer::while_capturing);
  allocator->set_is_captured([&] { return captured; });
  allocator->begin_capture();
  const uint64_t a = malloc(3 << 20);
  (void)allocator->record_stream(a, 1);
  free(a);
  device->finish(1);
  EXPECT_EQ(malloc(3 << 20), a);
  // The same of a stream that is captured: the block waits until the thread uses another one again.
  (void)allocator->record_stream(a, 1);
  captured = true;
  free(a);
  device->finish(1);
  EXPECT_NE(malloc(3 << 20), a);
  captured = false;
  malloc(512);  // marks it
  device->finish(1);
  EXPECT_EQ(malloc(3 << 20), a);
  EXPECT_TRUE(allocator->end_capture().has_value());
}

TEST_F(Allocator, SaysWhatLivesInAPoolAndWhatIsCached) {
  make();
  EXPECT_FALSE(allocator->pool_allocations(kPool).has_value());
  EXPECT_EQ(allocator->largest_cached_block(), 0);
  ASSERT_TRUE(allocator->begin_allocate_to_pool(kPool).has_value());
  const uint64_t a = malloc(3 << 20);
  const uint64_t b = malloc(1000);
  ASSERT_TRUE(allocator->end_allocate_to_pool(kPool).has_value());
  malloc(512);
  EXPECT_THAT(*allocator->pool_allocations(kPool), ElementsAre(std::min(a, b), std::max(a, b)));
  EXPECT_EQ(allocator->largest_cached_block(), 17 << 20);  // of 20 MiB for a
  free(a);
  EXPECT_EQ(allocator->largest_cached_block(), 20 << 20);
  EXPECT_THAT(*allocator->pool_allocations(kPool), ElementsAre(b));
}

// --- Other streams -----------------------------------------------------------------------------------------

class Capture : public Allocator {
 protected:
  CapturingDevice& capture(std::string_view settings) {
    Config config;
    EXPECT_TRUE(apply_settings(config, settings).has_value());
    capturing = std::make_unique<CapturingDevice>(1 << 30);
    allocator = std::make_unique<DeviceAllocator>(*capturing, 0, config, &events, budget);
    return *capturing;
  }
  void TearDown() override {
    Allocator::TearDown();
    allocator.reset();
  }
  std::unique_ptr<CapturingDevice> capturing;
};

TEST_F(Capture, ABlockIsReusedWithinACaptureOnceTheGraphHasPassedItsUsers) {
  CapturingDevice& graph = capture("graph_capture_record_stream_reuse:True");
  graph.terminals = {{0, {10}}, {1, {11}}};
  ASSERT_TRUE(allocator->begin_allocate_to_pool(kPool).has_value());
  const uint64_t a = malloc(4 << 20);
  (void)allocator->record_stream(a, 1);
  free(a);
  graph.followed = {10};  // the work of stream 1 is not joined yet
  EXPECT_NE(malloc(4 << 20), a);
  graph.followed = {10, 11};
  EXPECT_NE(malloc(4 << 20, 2), a);  // another stream does not look
  EXPECT_EQ(malloc(4 << 20), a);
}

TEST_F(Capture, WithoutACapturedStreamABlockWaitsForTheEnd) {
  CapturingDevice& graph = capture("graph_capture_record_stream_reuse:True");
  graph.terminals = {{0, {10}}};  // stream 1 is not captured
  graph.followed = {10};
  ASSERT_TRUE(allocator->begin_allocate_to_pool(kPool).has_value());
  const uint64_t a = malloc(4 << 20);
  (void)allocator->record_stream(a, 1);
  free(a);
  EXPECT_NE(malloc(4 << 20), a);
  ASSERT_TRUE(allocator->end_allocate_to_pool(kPool).has_value());
  malloc(512);  // the use was recorded only during the capture: it is forgotten
  ASSERT_TRUE(allocator->begin_allocate_to_pool({0, 2}).has_value());
  EXPECT_EQ(allocator->stats().active.all().current, 2);
}

TEST_F(Capture, WithoutEventsTheStreamIsWaitedFor) {
  CapturingDevice& stuck = capture("");
  const uint64_t a = malloc(4 << 20);
  (void)allocator->record_stream(a, 7);
  stuck.no_events = true;
  free(a);
  EXPECT_TRUE(stuck.waited.contains(7));
  EXPECT_EQ(malloc(4 << 20), a);
}

TEST_F(Allocator, EventsOfTheDeviceAreReleased) {
  make();
  const uint64_t a = malloc(4 << 20);
  (void)allocator->record_stream(a, 1);
  (void)allocator->record_stream(a, 2);
  free(a);
  EXPECT_EQ(device->outstanding_events(), 2);
  device->finish(1);
  malloc(512);
  EXPECT_EQ(device->outstanding_events(), 1);
  allocator->empty_cache();
  EXPECT_EQ(device->outstanding_events(), 0);
}

TEST_F(Allocator, ASmallerReservationLimitsWhatASegmentCanHold) {
  make("expandable_segments:True,expandable_segments_reserve:0.1", 1000 << 20);
  const auto failed = allocator->malloc(150 << 20, 0);
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().message, HasSubstr("expandable_segments_reserve is too small"));
  malloc(60 << 20);
  malloc(60 << 20);  // 100 MiB a segment: the second one opens another
  EXPECT_EQ(allocator->state().segment_count(), 2U);
}

TEST_F(Allocator, TheSmallestReservationIsOnePage) {
  // 1.07 bytes, which is one byte, in pages of 20 MiB.
  make("expandable_segments:True,expandable_segments_reserve:0.000000001G", 1000 << 20);
  malloc(20 << 20);
  const auto failed = allocator->malloc(21 << 20, 0);
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().message, HasSubstr("expandable_segments_reserve is too small"));
}

// --- Figures of PyTorch's own tests that need no kernels
// -----------------------------------------------------

TEST_F(Allocator, AllocatorSettingsGiveThePowersOfTwoOfTheUnitTest) {
  // test_allocator_settings: 84 MiB plain, 96 MiB with 4 divisions; in the list 84 -> 88 and 400 -> 512 MiB.
  const struct {
    const char* settings;
    int64_t mib, allocated_mib;
  } kCases[] = {{"", 84, 84},
                {"roundup_power2_divisions:4", 84, 96},
                {"roundup_power2_divisions:[64:8,128:2,256:2,512:2,1024:1,>:1]", 84, 88},
                {"roundup_power2_divisions:[64:8,128:2,256:2,512:2,1024:1,>:1]", 400, 512}};
  for (const auto& one : kCases) {
    make(one.settings);
    malloc(one.mib << 20);
    EXPECT_EQ(allocator->stats().allocated_bytes.all().current, one.allocated_mib << 20) << one.settings;
  }
}

TEST_F(Allocator, HalfTheDeviceDoesNotFitUnderAFractionOfHalf) {
  // test_set_per_process_memory_fraction on a device of 1001 MiB: 0.499 fits, 0.5 does not (2 MiB rounding).
  make("", 1001 << 20);
  ASSERT_TRUE(allocator->set_memory_fraction(0.5).has_value());
  const uint64_t a = malloc(static_cast<int64_t>(1001 * 0.499 * (1 << 20)));
  free(a);
  allocator->empty_cache();
  EXPECT_FALSE(allocator->malloc(static_cast<int64_t>(1001 * 0.5 * (1 << 20)), 0).has_value());
}

}  // namespace
}  // namespace gpustrata::alloc
