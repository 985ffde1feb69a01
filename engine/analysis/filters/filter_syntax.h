// The language in which one says which blocks are meant:
//
//   size>1MiB stack:attention stream:7 lifetime<1ms alive@peak
//
// Terms beside each other must all hold. `or` between them, `not` or `-` before one, parentheses around some.
//   size  born  freed  lifetime   > >= < <= = : and ranges  size:1MiB..4MiB   (both ends belong to it)
//   stream  pool                  stream:7, pool:1,0        as the details show them
//   stack  address  metadata      stack:"two words"         somewhere in it, ASCII case ignored
//   call                          call:model.py:*:forward, a frame of its stack that is just this (frame_pattern.h)
//   who                           who:model.py:*:forward, the same of the frame that asked for it (own_frame.h)
//   op                            op:"aten::mm"            the whole name of an op around it, in a profiler's trace
//   category                      category:activation      what it is for by the engine's rules (category_rules.h)
//   alive                         alive@peak, alive@start, alive@end, alive@1234 (after that event)
//   action                        action:alloc, action:oom, action:blocks: of events alone (event_filter.h)
//   any other word                somewhere in name, stack or metadata
// Sizes: bytes, or K M G T and KiB MiB GiB TiB (powers of 1024), kB MB GB TB (powers of 1000). Lifetimes: us
// ms s min h, or without a unit in events. born and freed are event indices; born:before and freed:never are
// words for what has none. What is never freed or was there before the first event lived at least as long as is
// known: no term that says less than something means it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace gpustrata::analysis {

enum class FilterField : uint8_t {
  anything,
  address,
  stack,
  call,
  who,
  op,
  category,
  metadata,
  size,
  lifetime,
  born,
  freed,
  stream,
  pool,
  alive,
  action,
};

struct FilterNode {
  enum class Kind : uint8_t { term, all_of, any_of, none_of };
  Kind kind = Kind::term;
  std::vector<int32_t> children;  // indices of nodes; empty for a term

  // Of a term.
  FilterField field = FilterField::anything;
  std::string
      text;  // anything, address, stack, op, category, metadata, action; pool as "a,b"; stream as 0xhandle
  int64_t low = 0;       // inclusive range; alive: the event in `low`
  int64_t high = 0;      // (kPeak, kStart, kEnd: see below)
  bool in_time = false;  // lifetime in microseconds, else in events
  int64_t at = 0;        // of a category or an action: byte of its value in the text
};

inline constexpr int64_t kAliveAtPeak = -2;  // of alive@; -1 is the start, before the first event
inline constexpr int64_t kAliveAtStart = -1;
inline constexpr int64_t kAliveAtEnd = INT64_MAX;
inline constexpr int64_t kNever = INT64_MAX;  // freed:never
inline constexpr int64_t kBefore = -1;        // born:before

inline constexpr size_t kLongestFilter = 4096;  // bytes
inline constexpr int32_t kMostFilterTerms = 64;
inline constexpr int32_t kDeepestFilter = 16;  // parentheses

struct FilterTree {
  std::vector<FilterNode> nodes;
  int32_t root = -1;  // -1 = an empty text, which means everything
};

// Error: invalid_format with the byte at fault as offset, limit_exceeded.
[[nodiscard]] Result<FilterTree> parse_filter(std::string_view text);

// A field as people write it, for completion and for errors.
struct FilterWord {
  std::string_view name;
  FilterField field;
  std::string_view example;
  std::string_view says;
};
[[nodiscard]] std::span<const FilterWord> filter_words();

}  // namespace gpustrata::analysis
