// The words of a snapshot. They are interned first, in this order, so that the id of a string is its meaning.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gpustrata::io {

enum class Word : uint32_t {
  // Keys with a meaning of their own; formats/pytorch-snapshot sections 1 to 8.
  action,
  addr,
  device_free,
  size,
  stream,
  time_us,
  compile_context,
  user_metadata,
  pool_id,
  frames,
  forward_frames,
  name,
  filename,
  line,
  fx_node_op,
  fx_node_name,
  fx_node_target,
  fx_original_trace,
  address,
  requested_size,
  state,
  history,
  real_size,
  device,
  total_size,
  allocated_size,
  active_size,
  segment_type,
  segment_pool_id,
  is_expandable,
  blocks,
  stage,
  segments,
  device_traces,
  allocator_settings,
  external_annotations,
  host_segments,
  host_traces,
  kKeys,
  // Rare keys that are kept in `extras` without a remark.
  category = kKeys,
  internal_metadata,
  cpp_frames,
  trace_alloc_max_entries,
  trace_alloc_overflowed,
  gpustrata,  // what our own recorder adds, see model/recorded_snapshot.h
  kKnownKeys,
  // Values.
  active_allocated = kKnownKeys,
  active_pending_free,
  active_awaiting_free,
  inactive,
  small,
  large,
  START,
  END,
  kWords,
};

// Key of a snapshot of ours: it was written from a recording of which a part was missing.
inline constexpr std::string_view kDamagedMark = "gpustrata_damaged";

inline constexpr std::array<std::string_view, static_cast<size_t>(Word::kWords)> kWordTexts = {
    "action",
    "addr",
    "device_free",
    "size",
    "stream",
    "time_us",
    "compile_context",
    "user_metadata",
    "pool_id",
    "frames",
    "forward_frames",
    "name",
    "filename",
    "line",
    "fx_node_op",
    "fx_node_name",
    "fx_node_target",
    "fx_original_trace",
    "address",
    "requested_size",
    "state",
    "history",
    "real_size",
    "device",
    "total_size",
    "allocated_size",
    "active_size",
    "segment_type",
    "segment_pool_id",
    "is_expandable",
    "blocks",
    "stage",
    "segments",
    "device_traces",
    "allocator_settings",
    "external_annotations",
    "host_segments",
    "host_traces",
    "category",
    "internal_metadata",
    "cpp_frames",
    "trace_alloc_max_entries",
    "trace_alloc_overflowed",
    "gpustrata",
    "active_allocated",
    "active_pending_free",
    "active_awaiting_free",
    "inactive",
    "small",
    "large",
    "START",
    "END",
};

// Bit of a key in the set of keys that a dict has.
[[nodiscard]] constexpr uint64_t bit(Word key) { return uint64_t{1} << static_cast<uint32_t>(key); }
static_assert(static_cast<uint32_t>(Word::kKnownKeys) <= 64);

}  // namespace gpustrata::io
