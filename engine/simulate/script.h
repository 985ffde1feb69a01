// The notation of simulations: what a program asks of the allocator, one step per line or separated by `;`.
//
//   m ID SIZE [STREAM]   allocate SIZE bytes (stream 0)        f ID   free; nothing if the allocation failed
//   rs ID STREAM         record_stream                         done STREAM   its work so far is finished
//   empty [A B]          empty_cache (of pool (A, B))          conf TEXT     new allocator settings
//   fraction F           memory fraction                       snap          take a snapshot
//   begin A B            all streams allocate from pool (A, B) begins A B STREAM   only this one
//   end A B              no longer                             release A B   one user of the pool less
//   nosplit A B          hand out whole blocks                 useoom A B    serve others before "out of memory"
//   resetpeak            reset the peaks of statistics         resetacc      and their sums
//
// SIZE and STREAM are whole numbers >= 0 below 2^63. White space is free; # begins a comment.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/trace/trace_event.h"

namespace memstrata::simulate {

enum class Command : uint8_t {
  allocate,
  free,
  record_stream,
  done,
  empty,
  conf,
  fraction,
  snapshot,
  begin,
  begin_stream,
  end,
  release,
  no_split,
  use_on_oom,
  reset_peak,
  reset_accumulated,
};

struct Step {
  Command command = Command::snapshot;
  int64_t line = 1;       // in the script, from 1
  std::string_view text;  // the step as written, without space around it; a view of the script
  std::string_view id;    // allocate, free, record_stream; conf: the settings
  int64_t size = 0;
  int64_t stream = 0;
  double fraction = 0;
  trace::PoolKey pool;
};

// Steps in order. An error names the line, says what is expected, and has the step's byte offset.
[[nodiscard]] Result<std::vector<Step>> parse_script(std::string_view script);

}  // namespace memstrata::simulate
