// A second caching allocator, written for being read: lists, sorted anew for every search, statistics by
// counting everything again. It follows the behaviour reference and shares no code with engine/alloc.
//
// Addresses are (segment in the order of creation, offset). Steps are told by calls; the outcome is text in
// the form of the simulation's report.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace memstrata::twin {

using PoolName = std::pair<int64_t, int64_t>;

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
  std::set<int64_t> uses, capture_uses;
  int marks = 0;
};

struct TwinSegment {
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
  explicit Allocator(int64_t device) : total_(device), free_(device) {}

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
  void set_use_on_oom(PoolName pool) { find_pool(pool)->use_on_oom = true; }
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
  void join(int segment);  // idle neighbours with the same `mapped`
  void tell(const std::string& action, int segment, int64_t offset, int64_t size);
  void count();

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

}  // namespace memstrata::twin
