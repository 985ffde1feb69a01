// A second caching allocator, written for being read: lists, sorted anew for every search, statistics by
// counting everything again. It follows the behaviour reference and shares no code with engine/alloc.
//
// It can be made wrong in one decision (Fault), to see whether the random scripts would find that.
//
// Places are (segment in the order of creation, offset); where a segment lies is asked of `Addresses`. Steps are told by calls; the outcome is text in
// the form of the simulation's report.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpustrata::twin {

using PoolName = std::pair<int64_t, int64_t>;

enum class Fault : uint8_t {
  none,
  oversize_keeps_the_fitting,
  oversize_stops_at_the_fitting,
  oversize_stops_at_split,
  oversize_smallest_first,
  oversize_above_the_limit,
  oversize_goes_below,
  oversize_one_is_enough,
  oversize_never_enough,
  oversize_always_enough,
  oversize_ignores_the_stream,
  oversize_does_nothing,
  garbage_stays,
  garbage_ignores_age,
  garbage_above_the_mean,
  garbage_mean_stays,
  garbage_one_pass,
  garbage_stops_within,
  garbage_to_zero,
  garbage_without_limit_counts,
  garbage_birth_stays,
  search_ignores_growth,
  search_takes_equal_growth,
  search_takes_pages,
  search_takes_oversize,
  search_wastes_oversize,
  search_oversize_inclusive,
  limit_of_the_request,
  limit_is_exclusive,
  split_keeps_512,
  split_at_one_mib,
  split_oversize,
  split_pages_as_large,
  split_ignores_no_split,
  oom_pools_last,
  oom_pools_closed,
  oom_pools_of_pages,
  flush_while_routed,
  flush_small_first,
  flush_does_not_wait,
  flush_used_pools,
  flush_forgets_pools,
  pages_highest_run,
  pages_ignore_the_block_before,
  pages_round_out,
  route_first_wins,
  capture_uses_stay,
  own_stream_counts,
  round_without_divisions,
  order_of_addresses,
  order_younger_segments_first,
  order_split_makes_the_rest,
  order_merged_as_the_lowest,
};
inline constexpr std::array kFaultTexts = std::to_array<const char*>({
    "nothing",
    "release_available: a block that is large enough is not taken at once",
    "release_available: gives up when the block that is large enough cannot be given back",
    "release_available: gives up at a block that cannot be given back",
    "release_available: from the smallest oversize block up",
    "release_available: blocks of exactly max_split_size stay",
    "release_available: blocks below max_split_size go too",
    "release_available: stops after one block",
    "release_available: never says that enough was given back",
    "release_available: always says that enough was given back",
    "release_available: blocks of other streams too",
    "release_available: gives nothing back",
    "garbage collection: does nothing",
    "garbage collection: everything is old enough",
    "garbage collection: only what is older than the mean",
    "garbage collection: the mean age is not taken anew",
    "garbage collection: one pass only",
    "garbage collection: stops in the middle of a pass",
    "garbage collection: everything over the threshold and as much again",
    "garbage collection: searches count without a limit, too",
    "garbage collection: a freed block is as old as it was",
    "search: expandable blocks count without what they could grow to",
    "search: among equal effective sizes the last one",
    "search: expandable blocks serve every request",
    "search: oversize blocks serve small requests",
    "search: oversize requests take any block",
    "search: max_non_split_rounding_size itself is allowed",
    "limit: the rounded size counts, not the segment's",
    "limit: may not be reached",
    "split: a rest of 512 bytes stays",
    "split: a rest of exactly 1 MiB is cut off in the large pool",
    "split: oversize blocks too",
    "split: in pages as in the large pool",
    "split: no_split is forgotten",
    "out of memory: use_on_oom pools only after release_available",
    "out of memory: use_on_oom pools are not asked",
    "out of memory: in use_on_oom pools as expandable",
    "flush: also while requests go to a pool",
    "flush: the small pool first",
    "flush: does not wait for other streams",
    "flush: private pools that have users, too",
    "flush: private pools without users stay",
    "expandable: the last run that is long enough",
    "expandable: a run begins at unmapped memory",
    "expandable: one page less is given back where the last one is used in part",
    "routing: the pool that was begun first",
    "other streams: what was recorded while routed counts afterwards",
    "other streams: the block's own stream counts as another one",
    "rounding: roundup_power2_divisions is forgotten",
    "order: addresses decide in every version",
    "order: the youngest segment first",
    "order: a split makes the rest anew, not the front part",
    "order: a merged block is as old as its lowest part",
});

// What decides between free blocks of one stream and size.
enum class Order : uint8_t { address, block_number, segment_age };
// Where the n-th segment lies, from 0; all apart.
using Addresses = std::function<uint64_t(int)>;

struct Settings {
  int64_t max_split = INT64_MAX;
  int64_t large_segment = 20 << 20;
  int64_t max_non_split = 20 << 20;
  int divisions = 0;  // the same for all classes
  double gc_threshold = 0;
  bool expandable = false;
};

struct TwinBlock {
  int64_t offset = 0, size = 0, requested = 0;
  char state = '-';  // A, P or -
  bool mapped = true;
  int64_t birth = 0;
  int64_t number = 0;  // when it was made
  std::set<int64_t> uses, capture_uses;
  int marks = 0;
};

struct TwinSegment {
  uint64_t address = 0;
  int64_t size = 0, stream = 0, page = 0;
  PoolName pool;
  bool small = false, expandable = false;
  std::vector<TwinBlock> blocks;
};

struct Place {
  int segment = -1;
  int64_t offset = 0;
};

class Allocator {
 public:
  Allocator(int64_t device, Order order, Addresses addresses, Fault fault)
      : fault_(fault), order_(order), addresses_(std::move(addresses)), total_(device), free_(device) {}

  std::optional<Place> malloc(int64_t size, int64_t stream);
  void free(Place place);
  void record_stream(Place place, int64_t stream);
  void done(int64_t stream);
  void empty(PoolName pool);
  void configure(const Settings& settings) { settings_ = settings; }
  void fraction(double share);
  void begin(PoolName pool, std::optional<int64_t> only_stream);
  void end(PoolName pool);
  void release(PoolName pool);
  void set_no_split(PoolName pool) { find_pool(pool)->no_split = true; }
  void set_use_on_oom(PoolName pool, bool use) { find_pool(pool)->use_on_oom = use; }
  [[nodiscard]] int users(PoolName pool) const;

  [[nodiscard]] const std::vector<std::string>& trace() const { return trace_; }
  [[nodiscard]] std::vector<std::string> layout() const;
  // "allocated_bytes.all.peak" and so on, without max_split_size.
  [[nodiscard]] std::map<std::string, int64_t> stats() const;

 private:
  struct Pool {
    PoolName name;
    int users = 1;
    bool no_split = false, use_on_oom = false;
    int64_t searches[2] = {0, 0};  // large, small
  };
  struct Request {
    int64_t requested, size, segment_bytes, stream;
    PoolName pool;
    bool small, expandable;
  };
  struct Mark {
    bool finished;
    Place block;
  };
  struct Number {
    int64_t current = 0, peak = 0, allocated = 0, freed = 0;
    void set(int64_t value);
  };

  [[nodiscard]] int64_t round(int64_t size) const;
  [[nodiscard]] size_t index_of(Place place) const;  // in the blocks of its segment
  [[nodiscard]] TwinBlock& at(Place place);
  [[nodiscard]] Pool* find_pool(PoolName pool);
  [[nodiscard]] Pool& pool_of(int segment) { return *find_pool(segments_.at(segment).pool); }
  // Idle mapped blocks in the order of the search; of one stream, or of all.
  [[nodiscard]] std::vector<Place> idle(PoolName pool, bool small, std::optional<int64_t> stream);
  [[nodiscard]] std::optional<Place> search(const Request& request);
  [[nodiscard]] std::optional<Place> obtain(const Request& request);
  [[nodiscard]] std::optional<Place> map_pages(const Request& request);
  bool map_one(int segment, int64_t offset, int64_t bytes);
  Place hand_out(Place place, const Request& request);
  [[nodiscard]] bool is_whole(Place place) { return segments_.at(place.segment).blocks.size() == 1; }
  void put_back(Place place);
  void complete(Place place);
  void mark(Place place);
  void process_events();
  void wait(std::optional<PoolName> only);
  void finish_deferred();
  void collect_garbage();
  bool release_oversize(const Request& request);
  void flush(PoolName pool);
  void release_set(PoolName pool, bool small);
  void give_back(Place place);
  void unmap(Place place);
  // Idle neighbours with the same `mapped`; `survivor` takes its own in.
  void join(int segment, int64_t survivor);
  [[nodiscard]] std::vector<int> by_address() const;
  [[nodiscard]] bool has(Fault fault) const { return fault_ == fault; }
  void tell(const std::string& action, int segment, int64_t offset, int64_t size);
  void count();

  Fault fault_;
  Order order_;
  Addresses addresses_;
  int64_t made_ = 0;  // blocks
  int64_t total_, free_, held_ = 0, limit_ = -1;
  Settings settings_;
  std::map<int, TwinSegment> segments_;
  int created_ = 0;
  std::vector<Pool> pools_ = {Pool{}};
  std::vector<std::pair<PoolName, std::optional<int64_t>>> routes_;
  std::map<int64_t, std::deque<Mark>> marks_;
  std::vector<Place> deferred_;
  std::vector<std::string> trace_;
  std::map<std::string, Number> numbers_;
  std::map<std::string, int64_t> counters_;
  int64_t oversize_allocations_ = 0, oversize_segments_ = 0;
};

}  // namespace gpustrata::twin
