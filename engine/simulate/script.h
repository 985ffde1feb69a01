// The notation of simulations: what a program asks of the allocator, one step per line or separated by `;`.
//
//   m ID SIZE [STREAM]   allocate SIZE bytes (stream 0)        f ID   free; nothing if the allocation failed
//   rs ID STREAM         record_stream                         done STREAM   its work so far is finished
//   empty [A B]          empty_cache (of pool (A, B))          conf TEXT     new allocator settings
//   fraction F           memory fraction                       snap          take a snapshot
//   begin A B            all streams allocate from pool (A, B) begins A B STREAM   only this one
//   end A B              no longer                             release A B   one user of the pool less
//   nosplit A B          hand out whole blocks                 useoom A B    serve others before "out of memory"
//   nouseoom A B         no longer
//   resetpeak            reset the peaks of statistics         resetacc      and their sums
//   capture              a graph is captured from here on      endcapture    no longer
//   order NAME           of free blocks of one size, before the first m: address (PyTorch to 2.11, and if nothing is said),
//                        block_number (2.12) or segment_age (2.13 and newer)
//   bycapture            captures alone, not every begin, put off frees that wait for streams and keep the cache, as in
//                        PyTorch since 2026 (its #181830)
//
// SIZE and STREAM are whole numbers >= 0 below 2^63. White space is free; # begins a comment.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/simulate/request_log.h"

namespace gpustrata::simulate {

// The steps as requests, one each, in order.
struct Script {
  explicit Script(Budget& budget) : requests(budget), places(budget) {}

  struct Place {
    int64_t offset = 0;  // bytes
    int32_t length = 0;  // without space around it
    int32_t line = 1;    // from 1
  };
  RequestLog requests;
  Column<Place> places;   // by request
  std::string_view text;  // all of the script

  [[nodiscard]] std::string_view step(size_t request) const {
    const Place& place = places[request];
    return text.substr(static_cast<size_t>(place.offset), static_cast<size_t>(place.length));
  }
};

// `text` outlives the result; texts and stacks of the requests are ids of `recording`. With the script's `file` name
// every request has a stack: its step as the only frame, named and numbered as there. Errors: wrong_usage, which names
// the line, says what is expected and has the step's byte offset; limit_exceeded. O(length).
[[nodiscard]] Result<Script> read_script(std::string_view text, model::Recording& recording,
                                         std::string_view file = {});

}  // namespace gpustrata::simulate
