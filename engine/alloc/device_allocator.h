// The caching allocator of one device: which block serves a request, when device memory is asked for or given
// back, what happens when there is none.
//
// It behaves as PyTorch's native CUDACachingAllocator does (rounding, pools per stream, best fit, splits,
// merges, statistics, trace), except where that has a defect; such places say so. Every decision is applied
// to a MemoryState and told to an EventSink in the order of truth.
//
// Not thread-safe: the caller holds the lock of the device. malloc() and free() of cached blocks take no
// memory and cost O(log n) in the free blocks of about one size.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/alloc/block_pool.h"
#include "engine/alloc/config.h"
#include "engine/alloc/cross_stream.h"
#include "engine/alloc/device_memory.h"
#include "engine/alloc/memory_state.h"
#include "engine/base/budget.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/trace/trace_event.h"

namespace gpustrata::alloc {

using trace::PoolKey;

// Who asks. The stack goes to the block, the segment and the events of the call; metadata to the block and
// its alloc.
struct Origin {
  StackId stack = {};
  StringId metadata = {};
};

// Numbers of the out-of-memory error.
struct OomNumbers {
  int64_t requested_bytes = 0;  // as asked for
  int64_t rounded_bytes = 0;    // size in the trace
  int64_t segment_bytes = 0;    // "tried to allocate": what the device was asked for
  int64_t device_total = 0;
  int64_t device_free = 0;
  int64_t allowed_bytes = -1;      // limit by the memory fraction, -1 = none
  int64_t allocated_bytes = 0;     // with free blocks of private pools, as PyTorch counts
  int64_t private_pool_bytes = 0;  // those free blocks
  int64_t unallocated_bytes = 0;   // reserved - allocated
  bool rejected = false;           // before the device was asked (throw_on_cudamalloc_oom)
};
struct OutOfMemory : OomNumbers {
  std::string text;  // as PyTorch words it
};
// "512 bytes", "30.00 MiB": the numbers of that text; a unit is kept up to 1024 of it.
[[nodiscard]] std::string oom_size_text(int64_t bytes);

// One block as a checkpoint of a private pool keeps it.
struct CheckpointBlock {
  uint64_t address = 0;
  int64_t size = 0;
  int64_t requested_size = 0;
  bool allocated = false;
};
struct CheckpointSegment {
  uint64_t address = 0;
  std::vector<CheckpointBlock> blocks;  // in address order
};
struct PoolCheckpoint {
  PoolKey pool;
  std::vector<CheckpointSegment> segments;
};

// Memory that was there before the allocator's first call.
struct AdoptedRange {
  uint64_t address = 0;
  int64_t size = 0;
};
struct AdoptedBlock : AdoptedRange {  // in use
  int64_t requested_size = 0;
  StackId stack = {};
};

class DeviceAllocator {
 public:
  // `ordinal` is the device's number, for texts. `sink` may be null; it and `device` outlive the allocator.
  DeviceAllocator(DeviceMemory& device, int ordinal, const Config& config, trace::EventSink* sink,
                  Budget& budget);
  // Device memory is not given back: that of a process that ends goes anyway. To give it back, empty_cache().
  ~DeviceAllocator();
  DeviceAllocator(const DeviceAllocator&) = delete;
  DeviceAllocator& operator=(const DeviceAllocator&) = delete;

  // --- Memory ------------------------------------------------------------------------------------------

  // The address of a block for `size` > 0 bytes. Errors: out_of_memory (details in last_oom()),
  // device_error, wrong_usage (size <= 0), limit_exceeded (memory of this process).
  [[nodiscard]] Result<uint64_t> malloc(int64_t size, int64_t stream, const Origin& origin = {});
  // The block may be used again at once by its own stream. Error: wrong_usage ("invalid device pointer").
  [[nodiscard]] Status free(uint64_t address, const Origin& origin = {});
  // `stream` uses the block too: after free() it waits for that stream. Unknown addresses are ignored. Error:
  // limit_exceeded.
  [[nodiscard]] Status record_stream(uint64_t address, int64_t stream);
  // Gives cached memory back to the device: everything, or one private pool that nobody refers to any more.
  void empty_cache(PoolKey pool = {}, const Origin& origin = {});
  // Head of the segment and its size, of any address inside an allocation. Error: wrong_usage (unknown, or an
  // expandable segment).
  struct BaseAllocation {
    uint64_t address = 0;
    int64_t size = 0;
  };
  [[nodiscard]] Result<BaseAllocation> base_allocation(uint64_t address) const;

  // Takes over a segment with its blocks in use; the rest of it is cached (adopt.cpp). Before the first call above.
  // `mapped`: of an expandable segment, the ranges with memory, whole pages of `page_size`. Ranges and blocks ascend and
  // lie within. A private pool that is new has one user. Statistics count what is there as current only. The device
  // knows of it already. Errors: wrong_usage (what was said does not hold), limit_exceeded.
  [[nodiscard]] Status adopt(const SegmentInfo& info, int64_t page_size, std::span<const AdoptedRange> mapped,
                             std::span<const AdoptedBlock> blocks);
  // What decides between blocks of one size (Block::number) of what was there is not known. The n-th of them (segments, or
  // blocks; from 0) gets the number n + 1 or, said before the first adopt(), numbers[n] + 1: each of 0 to size - 1 once.
  void set_adopted_numbers(std::span<const uint32_t> numbers) { adopted_numbers_ = numbers; }
  [[nodiscard]] uint32_t adopted_count() const { return adopted_count_; }

  // --- Settings and limits -----------------------------------------------------------------------------

  // See apply_settings(). Blocks that exist stay as they are.
  [[nodiscard]] Status set_config(std::string_view settings);
  [[nodiscard]] const Config& config() const { return config_; }
  // As a version of PyTorch does it. Error: wrong_usage (there is memory already).
  [[nodiscard]] Status set_free_order(FreeOrder order);
  // Asked at every search that finds blocks: which of the equals, those of `first`'s size, is to be taken? For whoever
  // knows better which it was. Told of the blocks of one set that are about to be given back together, in their order.
  // Outlives the allocator, or null.
  class Preference {
   public:
    virtual ~Preference() = default;
    [[nodiscard]] virtual BlockId prefer(const BlockSet& set, BlockId first, BlockId chosen) = 0;
    virtual void give_back(std::span<const BlockId> blocks) = 0;
  };
  void set_preference(Preference* preference) { preference_ = preference; }
  // 0 <= fraction <= 1 of the device; 1 = no limit. Error: wrong_usage.
  [[nodiscard]] Status set_memory_fraction(double fraction);
  [[nodiscard]] double memory_fraction() const;
  // Called when out of memory is about to be reported, after the trace has it.
  using OomObserver = std::function<void(const OutOfMemory&)>;
  void add_oom_observer(OomObserver observer);

  // --- Private pools (MemPool, CUDA graphs) --------------------------------------------------------------

  // From now on requests of streams that `accepts` says yes to (empty: all) come from this pool; the last
  // begun wins. Makes the pool if there is none. Errors: wrong_usage (key (0, 0), begun already, freeable).
  using StreamFilter = std::function<bool(int64_t stream)>;
  [[nodiscard]] Status begin_allocate_to_pool(PoolKey key, StreamFilter accepts = {});
  [[nodiscard]] Status end_allocate_to_pool(PoolKey key);
  // One user less; at 0 the pool's cached memory may be given back.
  [[nodiscard]] Status release_pool(PoolKey key);
  // What puts off frees that other streams wait for, asks no events and keeps the default pool's cache: any routing to a
  // pool, as PyTorch until its #181830 of 2026, which is so unless said otherwise; or captures of graphs alone.
  enum class Defer : uint8_t { while_routing, while_capturing };
  void set_defer(Defer when) { defer_ = when; }
  // Whether what the calling thread does now is captured: only then does a capture that is under way put off. Without it, all
  // that is done meanwhile counts as captured, as in PyTorch up to 2.12.
  using IsCaptured = std::function<bool()>;
  void set_is_captured(IsCaptured is_captured) { is_captured_ = std::move(is_captured); }
  // A graph is captured from here on; captures may overlap. Error of end_capture(): wrong_usage (none is under way).
  void begin_capture() { ++captures_; }
  [[nodiscard]] Status end_capture();
  // A MemPool object: makes the pool or adds a user. `source` (may be null) outlives the pool.
  [[nodiscard]] Status create_or_increment_pool(PoolKey key, SegmentSource* source = nullptr);
  // Whether it serves requests of the default pool before out of memory.
  [[nodiscard]] Status set_use_on_oom(PoolKey key, bool use);
  [[nodiscard]] Status set_no_split(PoolKey key);  // a block is handed out whole
  // Starts of the live blocks of a private pool, in address order. O(blocks). Error: wrong_usage (no such pool).
  [[nodiscard]] Result<std::vector<uint64_t>> pool_allocations(PoolKey key) const;
  // The largest inactive block of all pools, in bytes. O(blocks).
  [[nodiscard]] int64_t largest_cached_block() const;
  [[nodiscard]] int pool_use_count(PoolKey key) const;  // 0 = no such pool, or freeable
  // A private pool's blocks now, and back to then. Errors: wrong_usage (no such pool, frees pending, other
  // segments than then).
  [[nodiscard]] Result<PoolCheckpoint> checkpoint(PoolKey key) const;
  [[nodiscard]] Status restore(const PoolCheckpoint& checkpoint);

  // --- Questions -----------------------------------------------------------------------------------------

  [[nodiscard]] const MemoryState& state() const { return state_; }
  [[nodiscard]] const MemoryStats& stats() const { return state_.stats(); }
  void reset_peak_stats() { state_.stats().reset_peak(); }
  void reset_accumulated_stats() { state_.stats().reset_accumulated(); }
  [[nodiscard]] const OutOfMemory& last_oom() const { return last_oom_; }
  [[nodiscard]] int ordinal() const { return ordinal_; }
  // Device memory held: segments and mapped pages.
  [[nodiscard]] int64_t device_bytes() const { return device_bytes_; }
  // Frees that waited for a stream at once, because no mark could be set in it.
  [[nodiscard]] int64_t forced_waits() const { return forced_waits_; }
  // Sum over segments of active bytes: the size of a `snapshot` entry of the trace, which this appends.
  int64_t note_snapshot();
  // What is wrong, or an empty text: pools hold exactly the inactive blocks, counts match. See invariants.h.
  [[nodiscard]] std::string check_pools() const;

 private:
  // One malloc on its way.
  struct Request {
    int64_t requested = 0;
    int64_t rounded = 0;
    int64_t segment_bytes = 0;  // once the cache has nothing that fits
    int64_t stream = 0;
    BlockPool* pool = nullptr;
    bool small = false;
    bool expandable = false;  // memory may come in pages
    Origin origin;

    [[nodiscard]] BlockSet& set() const { return pool->set(small); }
  };
  struct Routing {
    BlockPool* pool;
    StreamFilter accepts;
  };
  struct SegmentOwner {  // beside every segment
    BlockPool* pool = nullptr;
    int64_t page_size = 0;  // of expandable segments, as it was when the segment was made
  };
  enum class Attempt : uint8_t { success, out_of_memory, rejected, failed };  // failed: see failure_
  struct DeferredFree {  // freed with uses of other streams while pools were routed
    BlockId block;
    std::vector<uint64_t> markers;  // graph_capture_record_stream_reuse
  };

  // Allocation, in the order of malloc() (device_allocator.cpp).
  [[nodiscard]] BlockPool& pool_for(int64_t stream);
  [[nodiscard]] BlockId find_free_block(const Request& request);
  [[nodiscard]] BlockId find_with_pages(const Request& request, BlockId first) const;
  [[nodiscard]] Attempt find_or_make_block(Request& request, BlockId& block);
  [[nodiscard]] BlockId find_in_use_on_oom_pools(Request& request);
  [[nodiscard]] Attempt allocate_from_device(const Request& request, BlockId& block);
  [[nodiscard]] Result<uint64_t> hand_out(BlockId block, const Request& request);
  [[nodiscard]] Result<uint64_t> hand_out_part(BlockId block, int64_t size, const Request& request);
  [[nodiscard]] int64_t most_before_rejection() const;
  [[nodiscard]] bool should_split(const Block& block, const Request& request) const;
  [[nodiscard]] Error out_of_memory(const Request& request, bool rejected);
  [[nodiscard]] SegmentId add_segment(const SegmentInfo& info, SegmentOwner owner);
  void remove_segment(SegmentId id);
  [[nodiscard]] Attempt no_room();

  // Expandable segments (expandable_segments.cpp).
  [[nodiscard]] Attempt allocate_expandable(const Request& request, BlockId& block);
  [[nodiscard]] Attempt map_pages(BlockId unmapped, int64_t size, const Request& request, BlockId& mapped);
  [[nodiscard]] BlockId find_expandable_start(const Request& request);
  void unmap_pages(BlockId block, const Origin& origin);
  void release_reservation(BlockId unmapped);
  [[nodiscard]] int64_t reservation_size(bool small) const;
  [[nodiscard]] bool expandable_request_too_large(const Request& request) const;

  // Giving back (release.cpp).
  void complete_free(BlockId block, const Origin& origin);
  void collect_garbage(const Origin& origin);
  [[nodiscard]] bool release_available(const Request& request);
  void release_cached(PoolKey key, const Origin& origin);
  void release_set(BlockSet& set, const Origin& origin);
  void release_segment(BlockId block, const Origin& origin);

  // Other streams (other_streams.cpp).
  void process_events(const Origin& origin);
  void complete_deferred_frees(const Origin& origin);
  void record_marks(BlockId block, const Origin& origin);
  void wait_for_events(const Origin& origin, const BlockPool* only);
  [[nodiscard]] std::vector<uint64_t> capture_markers(BlockId block) const;
  void reuse_in_capture(int64_t stream, const Origin& origin);

  [[nodiscard]] bool deferring() const {
    if (defer_ == Defer::while_routing && !routings_.empty()) return true;
    return captures_ > 0 && (!is_captured_ || is_captured_());
  }
  [[nodiscard]] BlockPool* find_pool(PoolKey key) const;
  BlockPool& add_pool(PoolKey key);
  [[nodiscard]] Result<BlockPool*> existing_pool(PoolKey key) const;
  [[nodiscard]] Status can_restore(const PoolCheckpoint& saved, const BlockPool& pool) const;
  [[nodiscard]] BlockPool& pool_of(BlockId id) const {
    return *owners_[state_.block(id).segment.index()].pool;
  }
  [[nodiscard]] BlockSet& set_of(BlockId id) const { return pool_of(id).set(state_.block(id).small); }
  // Of a segment or block that is new; 0 if addresses decide.
  [[nodiscard]] uint32_t new_number() {
    return config_.free_order == FreeOrder::address ? 0 : ++last_number_;
  }
  [[nodiscard]] uint32_t adopted_number();
  [[nodiscard]] bool numbers_blocks() const { return config_.free_order == FreeOrder::block_number; }
  void number_block(BlockId id) {
    if (numbers_blocks() && !id.is_none()) state_.set_number(id, new_number());
  }
  // The block joins the set it belongs to.
  void put(BlockId id) { set_of(id).insert(id); }
  void tell(trace::Action action, uint64_t address, int64_t size, const Segment& segment, StackId stack,
            StringId metadata = {});

  DeviceMemory& device_;
  int ordinal_;
  Config config_;
  trace::EventSink* sink_;
  MemoryState state_;
  std::vector<std::unique_ptr<BlockPool>> pools_;  // the first is the default pool
  struct KeyHash {
    size_t operator()(PoolKey key) const {
      return static_cast<size_t>(
          mix_hash(static_cast<uint64_t>(key.user_id) ^ mix_hash(static_cast<uint64_t>(key.graph_id))));
    }
  };
  std::unordered_map<PoolKey, BlockPool*, KeyHash> pool_of_key_;  // all of pools_
  std::vector<SegmentOwner> owners_;                              // by SegmentId
  std::vector<Routing> routings_;
  Defer defer_ = Defer::while_routing;
  int captures_ = 0;  // under way
  IsCaptured is_captured_;
  CrossStream cross_;
  std::vector<DeferredFree> deferred_;
  std::vector<OomObserver> oom_observers_;
  int64_t allowed_ = -1;  // limit in bytes, -1 = none
  int64_t device_bytes_ = 0;
  uint32_t last_number_ = 0;  // given to a segment or block; passes 2^32 after as many splits
  uint32_t adopted_count_ = 0;
  std::span<const uint32_t> adopted_numbers_;
  Preference* preference_ = nullptr;
  int64_t forced_waits_ = 0;
  OutOfMemory last_oom_;
  Error failure_;
};

}  // namespace gpustrata::alloc
