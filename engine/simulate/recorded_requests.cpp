#include "engine/simulate/recorded_requests.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/hash.h"
#include "engine/trace/action.h"

namespace memstrata::simulate {

using trace::Action;

namespace {

// Handles that no program has: streams that exist only so that a free can wait.
constexpr int64_t kOtherStreams = int64_t{1} << 62;

[[nodiscard]] bool gives_back(Action action) {
  return action == Action::segment_free || action == Action::segment_unmap;
}
[[nodiscard]] bool takes(Action action) {
  return action == Action::segment_alloc || action == Action::segment_map;
}

// Something by address, charged.
template <typename Value>
class ByAddress {
 public:
  explicit ByAddress(Budget& budget) : budget_(budget) {}
  ByAddress(const ByAddress&) = delete;
  ByAddress& operator=(const ByAddress&) = delete;
  ~ByAddress() { budget_.give_back(kNodeBytes * static_cast<int64_t>(values_.size())); }

  // Null = nothing there.
  [[nodiscard]] Value* find(uint64_t address) {
    const auto found = values_.find(address);
    return found == values_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool put(uint64_t address, Value value) {
    if (Value* known = find(address); known != nullptr) {
      *known = value;
      return true;
    }
    if (!budget_.take(kNodeBytes)) return false;
    values_.emplace(address, value);
    return true;
  }
  void erase(uint64_t address) {
    if (values_.erase(address) > 0) budget_.give_back(kNodeBytes);
  }

 private:
  static constexpr int64_t kNodeBytes = 48;
  struct Mixed {
    size_t operator()(uint64_t address) const { return static_cast<size_t>(mix_hash(address)); }
  };
  Budget& budget_;
  std::unordered_map<uint64_t, Value, Mixed> values_;
};

class Teller {
 public:
  Teller(const model::Recording& recording, const model::Part& part, int32_t device, Budget& budget,
         int64_t capacity)
      : rec_(recording),
        part_(part),
        device_(device),
        events_(part.events_of(device)),
        budget_(budget),
        capacity_(capacity),
        told_(budget),
        live_(budget),
        completion_(budget),
        last_use_(recording.pools.size(), -1) {}

  [[nodiscard]] Result<RecordedRequests> tell() {
    if (!find_completions() || !ask_for_earlier_blocks()) return no_memory();
    find_reserved();
    for (int32_t i = 0; i < events_.count; ++i) {
      if (!tell_event(i)) return no_memory();
    }
    told_.log.seal();
    told_.event.shrink_to_fit();
    return std::move(told_);
  }

 private:
  [[nodiscard]] size_t row(int32_t i) const { return static_cast<size_t>(events_.first + i); }
  [[nodiscard]] Action action(int32_t i) const { return rec_.events.action[row(i)]; }
  [[nodiscard]] uint64_t address(int32_t i) const { return rec_.events.address[row(i)]; }
  void guess(Guess guess) { ++told_.guesses[static_cast<size_t>(guess)]; }
  [[nodiscard]] tl::unexpected<Error> no_memory() const {
    return fail(ErrorCode::limit_exceeded, -1,
                "no memory for the recorded requests: {} bytes are allowed, {} needed", budget_.limit(),
                budget_.needed());
  }

  // By event of a free_requested: that of its completion, -1 = none. Also the last alloc of each pool.
  [[nodiscard]] bool find_completions() {
    if (!completion_.resize(static_cast<size_t>(events_.count), -1)) return false;
    ByAddress<int32_t> requested(budget_);
    for (int32_t i = 0; i < events_.count; ++i) {
      completes_ = completes_ || trace::completes_free(action(i));
      if (action(i) == Action::alloc) {
        if (const PoolId pool = rec_.events.pool[row(i)]; !pool.is_none()) last_use_[pool.index()] = i;
      } else if (action(i) == Action::free_requested) {
        if (!requested.put(address(i), i)) return false;
      } else if (action(i) == Action::free_completed) {
        if (const int32_t* at = requested.find(address(i)); at != nullptr) {
          completion_[static_cast<size_t>(*at)] = i;
          requested.erase(address(i));
        }
      }
    }
    return true;
  }

  [[nodiscard]] bool ask(RequestLog::Row request, int32_t i) {
    if (i >= 0) {
      request.time = rec_.events.time[row(i)];
      request.stack = rec_.events.stack[row(i)];
    }
    return told_.log.append(request) && told_.event.push_back(i < 0 ? -1 : events_.first + i);
  }
  [[nodiscard]] bool ask_of_pool(Request request, PoolId pool, int32_t i) {
    RequestLog::Row asked;
    asked.request = request;
    asked.subject = static_cast<int32_t>(told_.log.pools.size());
    return told_.log.pools.push_back(rec_.pools[pool.index()]) && ask(asked, i);
  }

  // From now on requests come from this pool; 0 = the default one.
  [[nodiscard]] bool route(PoolId pool, int32_t i) {
    if (pool == routed_) return true;
    if (routed_.index() != 0 && !ask_of_pool(Request::end_pool, routed_, i)) return false;
    routed_ = pool;
    if (pool.index() == 0) return true;
    guess(Guess::pool_changes);
    if (users_.size() <= pool.index()) users_.resize(pool.index() + 1);
    ++users_[pool.index()];
    return ask_of_pool(Request::begin_pool, pool, i);
  }

  [[nodiscard]] bool allocate(uint64_t at, int64_t size, StreamId stream, PoolId pool, int32_t i) {
    if (!route(pool.is_none() ? PoolId(size_t{0}) : pool, i)) return false;
    RequestLog::Row asked;
    asked.request = Request::allocate;
    asked.size = std::max<int64_t>(size, 0);
    asked.stream = rec_.streams[stream.index()];
    const auto request = static_cast<int32_t>(told_.log.size_rows());
    return ask(asked, i) && live_.put(at, request);
  }

  // `completion`: when the block could be used again; at once, at a later event, or -1 = not within the trace.
  [[nodiscard]] bool free(uint64_t at, int32_t i, int32_t completion) {
    const int32_t* const request = live_.find(at);
    if (request == nullptr) {
      guess(Guess::unknown_frees);
      return true;
    }
    RequestLog::Row asked;
    asked.subject = *request;
    if (completion < 0 || completion > i + 1) {
      guess(Guess::other_streams);
      asked.request = Request::record_stream;
      // In the order in which they end; what does not, behind all.
      asked.stream = kOtherStreams + (completion < 0 ? events_.count + int64_t{i} : completion);
      if (!ask(asked, i)) return false;
    }
    asked.request = Request::free;
    asked.stream = 0;
    live_.erase(at);
    return ask(asked, i);
  }

  // Blocks that the trace frees before it hands them out, or that live to the end without an alloc.
  [[nodiscard]] bool ask_for_earlier_blocks() {
    struct Earlier {
      uint64_t address;
      int64_t size;
      StreamId stream;
      PoolId pool;
      StackId stack;
    };
    Column<Earlier> earlier(budget_);
    ByAddress<bool> seen(budget_);
    for (int32_t i = 0; i < events_.count; ++i) {
      const Action what = action(i);
      const bool frees = what == Action::free_requested || trace::completes_free(what);
      if ((what != Action::alloc && !frees) || seen.find(address(i)) != nullptr) continue;
      if (!seen.put(address(i), true)) return false;
      if (!frees) continue;
      const model::EventTable& e = rec_.events;
      if (!earlier.push_back({address(i), e.size[row(i)], e.stream[row(i)], e.pool[row(i)], e.stack[row(i)]}))
        return false;
    }
    const model::SegmentTable& s = rec_.segments;
    const model::BlockTable& b = rec_.blocks;
    for (int32_t segment = part_.segments.first; segment < part_.segments.end(); ++segment) {
      const auto of = static_cast<size_t>(segment);
      if (s.device[of] != device_) continue;
      const model::RowRange blocks = s.blocks[of];
      for (auto block = static_cast<size_t>(blocks.first); block < static_cast<size_t>(blocks.end());
           ++block) {
        if (b.state[block] != model::BlockState::active_allocated || seen.find(b.address[block]) != nullptr)
          continue;
        const int64_t size =
            b.requested_size[block] == model::kUnknownSize ? b.size[block] : b.requested_size[block];
        if (!earlier.push_back({b.address[block], size, s.stream[of], s.pool[of], b.stack[block]}))
          return false;
      }
    }
    std::sort(earlier.data(), earlier.data() + earlier.size(),
              [](const Earlier& a, const Earlier& other) { return a.address < other.address; });
    for (const Earlier& block : earlier) {
      guess(Guess::earlier_blocks);
      if (!allocate(block.address, block.size, block.stream, block.pool, -1)) return false;
      told_.log.stack.back() = block.stack;
    }
    return true;
  }

  // What is reserved in the end less what the trace adds; and the most that ever is.
  void find_reserved() {
    // Sizes of a hostile file may pass 64 bits together: as far as they go.
    const auto add = [](int64_t& sum, int64_t bytes) {
      if (__builtin_add_overflow(sum, bytes, &sum)) sum = bytes < 0 ? INT64_MIN : INT64_MAX;
    };
    int64_t start = 0;
    for (int32_t segment = part_.segments.first; segment < part_.segments.end(); ++segment) {
      const auto of = static_cast<size_t>(segment);
      if (rec_.segments.device[of] == device_) add(start, rec_.segments.total_size[of]);
    }
    const auto change_of = [&](int32_t i) {
      return takes(action(i))        ? rec_.events.size[row(i)]
             : gives_back(action(i)) ? -rec_.events.size[row(i)]
                                     : 0;
    };
    for (int32_t i = 0; i < events_.count; ++i) add(start, -change_of(i));
    reserved_ = std::max<int64_t>(start, 0);
    int64_t level = reserved_;
    told_.least_capacity = level;
    for (int32_t i = 0; i < events_.count; ++i) {
      add(level, change_of(i));
      told_.least_capacity = std::max(told_.least_capacity, level);
    }
  }

  // Of a run of segments given back, which ends before `run_end_`: true if the allocator did so because the device was full: more was
  // asked of it at once, and what was reserved at most has no room for that.
  [[nodiscard]] bool was_full() {
    if (run_end_ >= events_.count) return false;
    if (action(run_end_) == Action::oom) return true;
    if (!takes(action(run_end_))) return false;
    int64_t wanted = 0;
    if (__builtin_add_overflow(reserved_, rec_.events.size[row(run_end_)], &wanted)) return true;
    if (wanted <= std::max(told_.least_capacity, capacity_)) return false;
    told_.most_capacity = std::min(told_.most_capacity, wanted - 1);
    return true;
  }

  [[nodiscard]] bool tell_given_back(int32_t i) {
    run_end_ = i + 1;
    for (int32_t at = run_end_; at < events_.count; ++at) {
      if (gives_back(action(at)))
        run_end_ = at + 1;
      else if (action(at) != Action::free_completed)
        break;
    }
    if (was_full()) {
      guess(Guess::device_limits);
      return true;
    }
    // A pool that is never used again was released.
    for (int32_t at = i; at < run_end_; ++at) {
      const PoolId pool = rec_.events.pool[row(at)];
      if (!gives_back(action(at)) || pool.is_none() || pool.index() == 0 || last_use_[pool.index()] > i)
        continue;
      if (pool == routed_ && !route(PoolId(size_t{0}), i)) return false;
      if (pool.index() >= users_.size()) continue;
      for (int32_t& users = users_[pool.index()]; users > 0; --users) {
        guess(Guess::pool_releases);
        if (!ask_of_pool(Request::release_pool, pool, i)) return false;
      }
    }
    return empty_cache(i);
  }

  // A request for memory looks for finished work first, and so does whoever gives segments back. After a completion that
  // neither follows, somebody waited for all work without that.
  [[nodiscard]] bool is_noticed(int32_t i) const {
    if (i + 1 >= events_.count) return false;
    const Action next = action(i + 1);
    return next == Action::alloc || next == Action::oom || next == Action::free_completed || takes(next) ||
           gives_back(next);
  }

  [[nodiscard]] bool empty_cache(int32_t i) {
    guess(Guess::emptied_caches);
    if (!route(PoolId(size_t{0}), i)) return false;
    RequestLog::Row asked;
    asked.request = Request::empty_cache;
    return ask(asked, i);
  }

  [[nodiscard]] bool tell_event(int32_t i) {
    const model::EventTable& e = rec_.events;
    const size_t at = row(i);
    switch (action(i)) {
      case Action::alloc:
        if (live_.find(e.address[at]) != nullptr) {
          guess(Guess::reused_addresses);
          if (!free(e.address[at], i, i)) return false;
        }
        return allocate(e.address[at], e.size[at], e.stream[at], e.pool[at], i);
      case Action::oom: {
        guess(Guess::failed_sizes);
        if (!route(e.pool[at].is_none() ? PoolId(size_t{0}) : e.pool[at], i)) return false;
        int64_t all = 0;
        // The device's free bytes are what this allocator does not hold, as far as it is alone there.
        if (!__builtin_add_overflow(reserved_,
                                    static_cast<int64_t>(std::min<uint64_t>(e.address[at], INT64_MAX)), &all))
          told_.most_capacity = std::min(told_.most_capacity, all);
        RequestLog::Row asked;
        asked.request = Request::allocate;
        asked.size = std::max<int64_t>(e.size[at], 0);
        asked.stream = rec_.streams[e.stream[at].index()];
        return ask(asked, i);
      }
      case Action::free_requested:
        // A file that has no completions leaves them out.
        return free(e.address[at], i, completes_ ? completion_[static_cast<size_t>(i)] : i);
      case Action::free:
        return free(e.address[at], i, i);
      case Action::free_completed: {
        if (live_.find(e.address[at]) != nullptr) return free(e.address[at], i, i);
        if (i > 0 && action(i - 1) == Action::free_requested && address(i - 1) == address(i)) return true;
        RequestLog::Row asked;
        asked.request = Request::finish_stream;
        asked.stream = kOtherStreams + i;
        return ask(asked, i) && (is_noticed(i) || empty_cache(i));
      }
      case Action::segment_free:
      case Action::segment_unmap:
        if (i >= run_end_ && !tell_given_back(i)) return false;
        if (__builtin_sub_overflow(reserved_, e.size[at], &reserved_)) reserved_ = 0;
        return true;
      case Action::segment_alloc:
      case Action::segment_map:
        if (__builtin_add_overflow(reserved_, e.size[at], &reserved_)) reserved_ = INT64_MAX;
        return true;
      case Action::snapshot: {
        RequestLog::Row asked;
        asked.request = Request::snapshot;
        return ask(asked, i);
      }
      default:
        return true;
    }
  }

  const model::Recording& rec_;
  const model::Part& part_;
  int32_t device_;
  model::RowRange events_;
  Budget& budget_;
  int64_t capacity_;
  RecordedRequests told_;
  ByAddress<int32_t> live_;     // row of the allocate
  Column<int32_t> completion_;  // see find_completions()
  bool completes_ = false;
  std::vector<int32_t> last_use_;  // by pool: event of its last alloc; there are at most 32768
  std::vector<int32_t> users_;     // by pool: times that it was begun
  PoolId routed_{size_t{0}};
  int64_t reserved_ = 0;
  int32_t run_end_ = 0;  // behind the last run of segments given back
};

}  // namespace

std::string_view name_of(Guess guess) {
  constexpr std::string_view kNames[] = {"earlier_blocks", "other_streams",  "pool_changes",
                                         "pool_releases",  "emptied_caches", "device_limits",
                                         "failed_sizes",   "unknown_frees",  "reused_addresses"};
  static_assert(std::size(kNames) == static_cast<size_t>(Guess::kCount));
  return kNames[static_cast<size_t>(guess)];
}

Result<RecordedRequests> recorded_requests(const model::Recording& recording, const model::Part& part,
                                           int32_t device, Budget& budget, int64_t capacity) {
  return Teller(recording, part, device, budget, capacity).tell();
}

}  // namespace memstrata::simulate
