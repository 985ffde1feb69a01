// RequestLog: what a program asks of a caching allocator, in order. One row per call.
//
// Written by a script (script.h) or from a recording; rerun.h runs it under any settings. Stacks and texts are ids
// of the recording that the rows come from.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/model/clock.h"
#include "engine/model/table.h"
#include "engine/trace/trace_event.h"

namespace gpustrata::simulate {

enum class Request : uint8_t {
  present,  // a block that is there from the start (start_layout.h)
  allocate,
  free,
  record_stream,
  finish_stream,  // the work of a stream so far is done
  empty_cache,    // of one pool, or of all
  settings,       // new settings of the allocator
  memory_fraction,
  snapshot,
  begin_pool,            // all streams allocate from a private pool
  begin_pool_of_stream,  // only one does
  end_pool,
  release_pool,  // one user of the pool less
  no_split,      // the pool hands out whole blocks
  use_on_oom,    // the pool serves others before "out of memory"
  no_use_on_oom,
  reset_peak,
  reset_accumulated,
  defer_by_capture,  // DeviceAllocator::Defer::while_capturing
  begin_capture,
  end_capture,
  free_order,  // DeviceAllocator::set_free_order()
};

struct RequestLog : model::Table<RequestLog> {
  using Table::Table;

  Column<Request> request{budget()};
  Column<int64_t> size{budget()};    // allocate: bytes >= 0; 0 never reaches the allocator
  Column<int64_t> stream{budget()};  // raw handle
  // free (once per block), record_stream (before it): row of the allocate, or of the present block. present: row of
  // StartLayout::blocks. memory_fraction: place in `fractions`. empty_cache (-1 = everything), allocate (-1 = as routed)
  // and what concerns a pool: place in `pools`.
  Column<int32_t> subject{budget()};
  Column<StackId> stack{budget()};  // who asks; none = unknown
  Column<StringId> text{budget()};  // settings, free_order: their text; allocate: user_metadata
  Column<int64_t> time{budget()};   // of its events; kNoTime: these are counted, from 1

  struct Row {
    Request request = Request::snapshot;
    int64_t size = 0;
    int64_t stream = 0;
    int32_t subject = -1;
    StackId stack;
    StringId text;
    int64_t time = model::kNoTime;
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = RequestLog;
    using model::Field;
    return std::tuple(Field{&T::request, &Row::request}, Field{&T::size, &Row::size},
                      Field{&T::stream, &Row::stream}, Field{&T::subject, &Row::subject},
                      Field{&T::stack, &Row::stack}, Field{&T::text, &Row::text},
                      Field{&T::time, &Row::time});
  }

  Column<trace::PoolKey> pools{budget()};
  Column<double> fractions{budget()};
};

}  // namespace gpustrata::simulate
