#include "engine/simulate/recorded_requests.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/memory_refused.h"
#include "engine/simulate/by_address.h"
#include "engine/simulate/segment_actions.h"

namespace gpustrata::simulate {

using trace::Action;

namespace {

// Handles that no program has: streams that exist only so that a free can wait.
constexpr int64_t kOtherStreams = int64_t{1} << 62;

// Sizes of a hostile file may pass 64 bits together: as far as they go.
[[nodiscard]] int64_t added(int64_t sum, int64_t bytes) {
  if (__builtin_add_overflow(sum, bytes, &sum)) return bytes < 0 ? INT64_MIN / 2 : INT64_MAX / 2;
  return sum;
}

class Teller {
 public:
  Teller(const model::Recording& recording, const model::Part& part, int32_t device, StartLayout&& start,
         const TellOptions& options, Budget& budget)
      : rec_(recording),
        part_(part),
        device_(device),
        events_(part.events_of(device)),
        budget_(budget),
        options_(options),
        last_use_(recording.pools.size(), -1),
        pool_place_(recording.pools.size(), -1) {
    told_.start = std::move(start);
  }

  [[nodiscard]] Result<RecordedRequests> tell() {
    if (!find_final_segments() || !find_completions() || !set_up() || !ask_for_unplaced_blocks())
      return no_memory();
    told_.present = static_cast<int64_t>(told_.log.size_rows());
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
    return memory_refused(budget_, "for the recorded requests");
  }

  // By event of a free_requested: that of its completion, -1 = none. Also the last alloc of each pool.
  [[nodiscard]] bool find_completions() {
    if (!completion_.resize(static_cast<size_t>(events_.count), -1)) return false;
    ByAddress<int32_t> requested(budget_);
    const auto& pending = told_.start.is_pending;
    const bool waits = std::find(pending.begin(), pending.end(), 1) != pending.end();
    for (int32_t i = 0; i < events_.count; ++i) {
      completes_ = completes_ || trace::completes_free(action(i));
      if (action(i) == Action::alloc) {
        last_use_[pool_of(i).index()] = i;
      } else if (action(i) == Action::oom && !rec_.events.pool[row(i)].is_none()) {
        last_use_[rec_.events.pool[row(i)].index()] = i;
      } else if (action(i) == Action::free_requested) {
        if (!requested.put(address(i), i)) return false;
      } else if (action(i) == Action::free_completed) {
        if (const int32_t* at = requested.find(address(i)); at != nullptr) {
          completion_[*at] = i;
          requested.erase(address(i));
        } else if (waits && first_completion_.find(address(i)) == nullptr &&
                   !first_completion_.put(address(i), i)) {
          return false;
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
  // Final segments of private pools by address, for traces whose events have no pool.
  [[nodiscard]] bool find_final_segments() {
    const model::SegmentTable& s = rec_.segments;
    for (int32_t row = part_.segments.first; row < part_.segments.end(); ++row) {
      const PoolId pool = s.pool[row];
      if (s.device[row] != device_ || pool.is_none() || pool.index() == 0) continue;
      if (!final_segments_.push_back(row)) return false;
    }
    std::sort(final_segments_.data(), final_segments_.data() + final_segments_.size(),
              [&](int32_t a, int32_t b) { return s.address[a] < s.address[b]; });
    return true;
  }
  // Of an event; the default pool if nothing tells.
  [[nodiscard]] PoolId pool_of(int32_t i) const {
    const PoolId told = rec_.events.pool[row(i)];
    const PoolId none_known(size_t{0});
    if (!told.is_none()) return told;
    const model::SegmentTable& s = rec_.segments;
    const auto* after = std::upper_bound(final_segments_.begin(), final_segments_.end(), address(i),
                                         [&](uint64_t at, int32_t row) { return at < s.address[row]; });
    if (after == final_segments_.begin()) return none_known;
    const int32_t around = *(after - 1);
    return address(i) - s.address[around] < static_cast<uint64_t>(s.total_size[around]) ? s.pool[around]
                                                                                        : none_known;
  }

  [[nodiscard]] bool place_of(PoolId pool, int32_t& place) {
    int32_t& known = pool_place_[pool.index()];
    if (known < 0) {
      known = static_cast<int32_t>(told_.log.pools.size());
      if (!told_.log.pools.push_back(rec_.pools[pool.index()])) return false;
    }
    place = known;
    return true;
  }

  [[nodiscard]] bool allocate(uint64_t at, int64_t size, StreamId stream, PoolId pool, int32_t i) {
    RequestLog::Row asked;
    asked.request = Request::allocate;
    if (pool.index() != 0) {
      if (!place_of(pool, asked.subject)) return false;
      is_used_[pool.index()] = true;
    }
    asked.size = std::max<int64_t>(size, 0);
    asked.stream = rec_.streams[stream.index()];
    const auto request = static_cast<int32_t>(told_.log.size_rows());
    return ask(asked, i) && (at == 0 || live_.put(at, request));
  }

  // The blocks of the layout, each a request that its free can name. What waits for another stream does so at once.
  [[nodiscard]] bool set_up() {
    const StartLayout& start = told_.start;
    for (size_t block = 0; block < start.blocks.size(); ++block) {
      guess(Guess::placed_blocks);
      RequestLog::Row there;
      there.request = Request::present;
      there.subject = static_cast<int32_t>(block);
      there.size = std::max<int64_t>(start.blocks[block].requested_size, 1);
      there.stack = start.blocks[block].stack;
      const auto request = static_cast<int32_t>(told_.log.size_rows());
      if (!ask(there, -1) || !live_.put(start.blocks[block].address, request)) return false;
    }
    for (size_t block = 0; block < start.blocks.size(); ++block) {
      if (start.is_pending[block] == 0) continue;
      const uint64_t at = start.blocks[block].address;
      const int32_t* completion = first_completion_.find(at);
      // Completed by the first event: half of an ordinary free, of which the request is not there.
      const bool at_once = completion != nullptr && *completion == 0;
      if (!free(at, at_once ? 0 : -1, completion == nullptr ? -1 : *completion)) return false;
      if (at_once) told_.event.back() = -1;
    }
    for (const StartLayout::Segment& segment : start.segments) {
      if (!segment.pool.is_none()) is_used_[segment.pool.index()] = true;
    }
    return true;
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
    if (i < 0 || completion < 0 || completion > i + 1) {  // i < 0: before the trace
      guess(Guess::other_streams);
      asked.request = Request::record_stream;
      // In the order in which they end; what does not, behind all.
      asked.stream = kOtherStreams + (completion < 0 ? events_.count + 1 + int64_t{i} : completion);
      if (!ask(asked, i)) return false;
    }
    asked.request = Request::free;
    asked.stream = 0;
    live_.erase(at);
    return ask(asked, i);
  }

  // Blocks that the trace frees before it hands them out, or that live to the end without an alloc, and that the layout
  // does not have: in address order.
  [[nodiscard]] bool ask_for_unplaced_blocks() {
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
      if (!frees || live_.find(address(i)) != nullptr || first_completion_.find(address(i)) != nullptr)
        continue;
      const model::EventTable& e = rec_.events;
      if (!earlier.push_back({address(i), e.size[row(i)], e.stream[row(i)], pool_of(i), e.stack[row(i)]}))
        return false;
    }
    const model::SegmentTable& s = rec_.segments;
    const model::BlockTable& b = rec_.blocks;
    for (int32_t segment = part_.segments.first; segment < part_.segments.end(); ++segment) {
      if (s.device[segment] != device_) continue;
      const model::RowRange blocks = s.blocks[segment];
      for (auto block = static_cast<size_t>(blocks.first); block < static_cast<size_t>(blocks.end());
           ++block) {
        if (b.state[block] != model::BlockState::active_allocated || seen.find(b.address[block]) != nullptr ||
            live_.find(b.address[block]) != nullptr)
          continue;
        const int64_t size =
            b.requested_size[block] == model::kUnknownSize ? b.size[block] : b.requested_size[block];
        const PoolId pool = s.pool[segment].is_none() ? PoolId(size_t{0}) : s.pool[segment];
        if (!earlier.push_back({b.address[block], size, s.stream[segment], pool, b.stack[block]}))
          return false;
      }
    }
    std::sort(earlier.data(), earlier.data() + earlier.size(),
              [](const Earlier& a, const Earlier& other) { return a.address < other.address; });
    for (const Earlier& block : earlier) {
      guess(Guess::unplaced_blocks);
      if (!allocate(block.address, block.size, block.stream, block.pool, -1)) return false;
      told_.log.stack.back() = block.stack;
    }
    return true;
  }

  // What is reserved at most; and what the device had, if an oom tells.
  void find_reserved() {
    reserved_ = told_.start.reserved;
    const auto change_of = [&](int32_t i) {
      return takes_memory(action(i))        ? rec_.events.size[row(i)]
             : gives_memory_back(action(i)) ? -rec_.events.size[row(i)]
                                            : 0;
    };
    int64_t level = reserved_, given_back = 0;
    told_.least_capacity = level;
    for (int32_t i = 0; i < events_.count; ++i) {
      level = added(level, change_of(i));
      told_.least_capacity = std::max(told_.least_capacity, level);
      if (action(i) == Action::oom) note_oom(i, level, given_back);
      given_back = gives_memory_back(action(i)) ? added(given_back, rec_.events.size[row(i)]) : 0;
    }
    room_ = options_.capacity > 0 ? options_.capacity : std::min(told_.most_capacity, INT64_MAX - 1);
    if (told_.most_capacity == INT64_MAX && options_.capacity == 0) room_ = told_.least_capacity;
    room_ = std::max(room_, told_.least_capacity);
  }
  // The device's free bytes are what this allocator does not hold, as far as it is alone there. If they would have been
  // enough, there was a limit. Of an expandable segment whole pages are wanted; less may do where it ends with free ones. While a graph is captured
  // what was `given_back` for the request is not asked for again.
  void note_oom(int32_t i, int64_t reserved, int64_t given_back) {
    const auto left = static_cast<int64_t>(std::min<uint64_t>(address(i), INT64_MAX));
    const PoolId pool = rec_.events.pool[row(i)];
    const bool is_routed = !pool.is_none() && pool.index() != 0;
    const int64_t had = is_routed ? left - std::min(left, given_back) : left;
    const int64_t asked = std::clamp<int64_t>(rec_.events.size[row(i)], 1, alloc::kLargestRequest);
    const alloc::Config& config = options_.config;
    const int64_t rounded = config.round_size(asked),
                  page = config.page_size(alloc::Config::is_small(rounded));
    const int64_t wanted =
        config.expandable_segments ? (asked + page - 1) / page * page : config.segment_size(rounded);
    // Settings that allow a share say so: what is there is all of the device.
    const bool is_told = had < wanted || config.per_process_memory_fraction < 1;
    told_.most_capacity = std::min(told_.most_capacity, added(reserved, is_told ? left : wanted - 1));
    told_.is_limited = told_.is_limited || !is_told;
  }

  // What the stacks of a run say, which ends before `run_end_`: were its segments given back for the request behind it?
  // Where a recording has no stack for whoever gave a segment back, it shows that of who asked for the segment.
  enum class Said : uint8_t { nothing, yes, no };
  [[nodiscard]] Said what_stacks_say(int32_t first) {
    const StackId asking = rec_.events.stack[row(run_end_)];
    if (asking.is_none() || rec_.stacks.leaf(asking) < 0) return Said::nothing;
    Said said = Said::nothing;
    for (int32_t at = first; at < run_end_; ++at) {
      if (!gives_memory_back(action(at))) continue;
      const StackId giving = rec_.events.stack[row(at)];
      if (giving != asking) return Said::no;
      const StackId* made = made_by_.find(address(at));
      if (made != nullptr && *made != asking) said = Said::yes;
    }
    return said;
  }

  // Of such a run: did the allocator give it back because the device was full? It asks again at once then.
  [[nodiscard]] bool was_full(int32_t first) {
    if (run_end_ >= events_.count) return false;
    const bool failed = action(run_end_) == Action::oom;
    if (!failed && !takes_memory(action(run_end_))) return false;
    const Said said = what_stacks_say(first);
    if (said == Said::no) return false;
    if (failed) return true;
    const int64_t wanted = added(reserved_, rec_.events.size[row(run_end_)]);
    const bool fits = wanted <= room_;
    if (said == Said::nothing && options_.config.garbage_collection_threshold <= 0) {
      ++told_.unclear;
      if (options_.reading == Reading::all_emptied || (options_.reading != Reading::all_full && fits))
        return false;
    }
    if (wanted > told_.least_capacity) told_.most_capacity = std::min(told_.most_capacity, wanted - 1);
    return true;
  }

  [[nodiscard]] bool tell_given_back(int32_t i) {
    run_end_ = i + 1;
    for (int32_t at = run_end_; at < events_.count; ++at) {
      if (gives_memory_back(action(at)))
        run_end_ = at + 1;
      else if (action(at) != Action::free_completed)
        break;
    }
    // A pool that is never used again was released.
    for (int32_t at = i; at < run_end_; ++at) {
      if (!gives_memory_back(action(at))) continue;
      const PoolId pool = pool_of(at);
      if (pool.index() == 0 || last_use_[pool.index()] > i || !is_used_[pool.index()]) continue;
      is_used_[pool.index()] = false;
      guess(Guess::pool_releases);
      RequestLog::Row asked;
      asked.request = Request::release_pool;
      if (!place_of(pool, asked.subject) || !ask(asked, i)) return false;
    }
    if (was_full(i)) {
      guess(Guess::device_limits);
      return true;
    }
    const PoolId pool = pool_of_run(i);
    if (pool.index() != 0) ++told_.unclear;
    return empty_cache(i, options_.reading == Reading::by_pool ? pool : PoolId(size_t{0}));
  }

  // The private pool that all segments of the run came from; the default one if there is none.
  [[nodiscard]] PoolId pool_of_run(int32_t first) const {
    const PoolId pool = pool_of(first);
    for (int32_t at = first; at < run_end_; ++at) {
      if (gives_memory_back(action(at)) && pool_of(at) != pool) return PoolId(size_t{0});
    }
    return pool;
  }

  // A request for memory looks for finished work first, and so does whoever gives segments back. After a completion that
  // neither follows, somebody waited for all work without that.
  [[nodiscard]] bool is_noticed(int32_t i) const {
    if (i + 1 >= events_.count) return false;
    const Action next = action(i + 1);
    return next == Action::alloc || next == Action::oom || next == Action::free_completed ||
           takes_memory(next) || gives_memory_back(next);
  }

  [[nodiscard]] bool empty_cache(int32_t i, PoolId pool = PoolId(size_t{0})) {
    guess(Guess::emptied_caches);
    RequestLog::Row asked;
    asked.request = Request::empty_cache;
    return (pool.index() == 0 || place_of(pool, asked.subject)) && ask(asked, i);
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
        if (e.pool[at].is_none() && !final_segments_.empty()) guess(Guess::pools_by_address);
        return allocate(e.address[at], e.size[at], e.stream[at], pool_of(i), i);
      case Action::oom:
        guess(Guess::failed_sizes);
        return allocate(0, e.size[at], e.stream[at], e.pool[at].is_none() ? PoolId(size_t{0}) : e.pool[at],
                        i);
      case Action::free_requested:
        // A file that has no completions leaves them out.
        return free(e.address[at], i, completes_ ? completion_[i] : i);
      case Action::free:
        return free(e.address[at], i, i);
      case Action::free_completed: {
        if (live_.find(e.address[at]) != nullptr) return free(e.address[at], i, i);
        if (i == 0 || (action(i - 1) == Action::free_requested && address(i - 1) == address(i))) return true;
        RequestLog::Row asked;
        asked.request = Request::finish_stream;
        asked.stream = kOtherStreams + i;
        return ask(asked, i) && (is_noticed(i) || empty_cache(i));
      }
      case Action::segment_free:
      case Action::segment_unmap:
        if (i >= run_end_ && !tell_given_back(i)) return false;
        reserved_ = added(reserved_, -e.size[at]);
        return true;
      case Action::segment_alloc:
      case Action::segment_map:
        reserved_ = added(reserved_, e.size[at]);
        return made_by_.put(e.address[at], e.stack[at]);
      case Action::empty_cache:
        return empty_cache(i);
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
  const TellOptions& options_;
  RecordedRequests told_{budget_};
  ByAddress<int32_t> live_{budget_};              // row of the allocate, or of the present block
  ByAddress<StackId> made_by_{budget_};           // of segments and pages: who asked
  ByAddress<int32_t> first_completion_{budget_};  // of blocks whose free was requested before the trace
  Column<int32_t> completion_{budget_};           // see find_completions()
  bool completes_ = false;
  Column<int32_t> final_segments_{budget_};  // of private pools, by address: rows
  // By pool; there are at most 32768.
  std::vector<int32_t> last_use_;    // event of its last alloc, or of one that failed
  std::vector<int32_t> pool_place_;  // in the log's pools
  std::vector<bool> is_used_ = std::vector<bool>(pool_place_.size());
  int64_t reserved_ = 0;
  int64_t room_ = 0;     // what is known to have fitted into the device
  int32_t run_end_ = 0;  // behind the last run of segments given back
};

}  // namespace

std::string_view name_of(Guess guess) {
  constexpr std::string_view kNames[] = {
      "placed_blocks",  "unplaced_blocks", "other_streams", "pools_by_address", "pool_releases",
      "emptied_caches", "device_limits",   "failed_sizes",  "unknown_frees",    "reused_addresses"};
  static_assert(std::size(kNames) == static_cast<size_t>(Guess::kCount));
  return kNames[static_cast<size_t>(guess)];
}

Result<RecordedRequests> recorded_requests(const model::Recording& recording, const model::Part& part,
                                           int32_t device, StartLayout start, const TellOptions& options,
                                           Budget& budget) {
  return Teller(recording, part, device, std::move(start), options, budget).tell();
}

}  // namespace gpustrata::simulate
