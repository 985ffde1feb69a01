// What a reader repaired or left out, counted. Refusals are Errors instead (base/status.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/words.h"

namespace gpustrata::model {

GPUSTRATA_WORDS(Severity, info, warning, error);

// One entry per kind of finding. Names and severities are in diagnostics.cpp, what each means for people is in
// answers/common/findings.cpp.
enum class Diag : uint8_t {
  truncated,             // input ended before the pickle did
  damaged,               // an impossible byte sequence; reading stopped there
  of_damaged,            // written from a recording of which a part was missing (io/writers/snapshot_shape.h)
  budget_exhausted,      // memory ran out; what was read before is shown
  trailing_bytes,        // data after STOP
  foreign_object,        // GLOBAL/REDUCE and friends, kept inert
  cyclic_reference,      // a container that holds itself
  late_change,           // items added to a container after it was used elsewhere
  duplicate_key,         // last one wins
  odd_items,             // a key without a value
  extra_commas,          // with nothing between them, or before the end of a list
  wrong_type,            // a known key with a value of another type, ignored
  integer_out_of_range,  // more than 64 bits, or a size that cannot be
  negative_size,         // read as 0
  long_string_cut,       // only the beginning was kept
  text_cut,              // unknown data too long, too deep, or a table out of its place
  unknown_action,        // kept, without effect
  unknown_state,         // block state
  unknown_key,           // kept as text
  event_incomplete,      // event without action, size or address, left out
  block_incomplete,
  segment_incomplete,
  shared_rows_cut,     // rows that lists share were copied too often: the rest is left out
  blocks_do_not_tile,  // sum of block sizes differs from total_size
  too_many_streams,    // beyond 32767 different handles: shown as one
  too_many_pools,
  too_many_devices,       // beyond the limits in recording.h: not listed
  time_not_monotonic,     // events out of time order; the time axis uses the latest time so far
  alloc_of_live_address,  // the earlier block is taken as freed there
  free_without_alloc,     // block older than the recording
  alloc_without_end,      // allocated, never freed, and not in the final segments either
  requests_only,          // no free_completed in the trace: free_requested counts as the free
  level_overflow,         // the sum of live sizes would pass 8 PiB; the size was taken as 0
  // Of containers and JSON.
  member_not_read,      // a damaged, encrypted or unknown member of an archive, left out
  not_a_snapshot,       // a member of an archive that is something else, left out
  checksum_mismatch,    // what was unpacked is not what was packed
  unpacks_to_too_much,  // a compressed stream far larger than any snapshot of its size; reading stopped
  too_many_members,     // of an archive; the rest is left out
  invalid_json,         // a part of JSON text that cannot be understood, left out
  not_utf8,             // bytes of JSON text that are not UTF-8, read as ?
  sums_cut,             // totals beyond 64 bits, shown as the largest number
  // Of numbers over time.
  unknown_entry,         // a key of a file that is no snapshot, left out
  sample_incomplete,     // without a time or a number, left out
  not_finite,            // NaN or infinite where a number is needed: absent
  not_whole_bytes,       // a size with a fraction, rounded
  samples_out_of_order,  // put into order of time
  lists_differ,          // lists of one table have different lengths
  steps_not_dense,       // operators are not numbered 0, 1, 2, ...
  unknown_category,      // of memory, counted as unknown
  level_below_zero,      // more of a category was freed than allocated
  // Of profilers' traces.
  record_incomplete,  // a memory record without bytes, device or time, left out
  span_incomplete,    // an event without a time, left out
  span_without_end,   // no duration, or one below 0
  unknown_phase,      // events that are neither whole nor instants, left out
  no_addresses,       // memory records without `Addr`
  totals_jump,        // `Total Allocated` is not the one before and the bytes
  no_memory_records,  // of a whole trace
  // Undoing events from the final state (replay/state_history.h); `detail` names the first event.
  state_alloc_not_live,          // the block of an alloc is not there afterwards
  state_free_of_live_block,      // a block is in use after its own free
  state_request_without_effect,  // free requested of a block that is in use in the end, or twice
  state_request_not_completed,   // free requested, but neither completed nor pending in the end
  state_request_missing,         // free completed without a request
  state_blocks_overlap,
  state_block_outside_segments,
  state_size_unexplained,   // the block's size does not follow from the request by the recorded settings
  state_size_differs,       // events and state give different requested sizes of a block
  state_segment_not_there,  // a segment is missing after it was obtained
  state_segments_overlap,   // memory is there after it was given back, or twice
  state_segment_differs,    // a segment has other borders than its segment_alloc says
  state_segment_in_use,     // blocks in memory that just came or went
  kCount,
};

struct DiagKind {
  std::string_view name;  // snake_case, part of the command's JSON
  Severity severity;
};
[[nodiscard]] const DiagKind& kind_of(Diag diag);
[[nodiscard]] std::string_view name_of(Severity severity);

// Which bytes an offset counts, where one file holds others.
struct Place {
  std::string inside;        // "rank0.pickle", "the unpacked gzip data"; empty = the file itself
  int64_t file_offset = -1;  // where in the file that begins (of nested containers the outermost), else -1
};

class Diagnostics {
 public:
  struct Finding {
    int64_t count = 0;
    int64_t first_offset = -1;  // bytes; -1 = no place in the input
    Place place;                // what first_offset counts in
    std::string detail;         // of the first one, may be empty
  };
  void add(Diag diag, int64_t offset = -1, std::string_view detail = {});
  void add_many(Diag diag, int64_t count, int64_t offset = -1);
  void add_all(const Diagnostics& others);
  [[nodiscard]] const Finding& operator[](Diag diag) const { return findings_[static_cast<size_t>(diag)]; }
  [[nodiscard]] bool any() const;
  // A part of the input is not in the Recording: it ended early, was damaged, or was too much.
  [[nodiscard]] bool incomplete() const;

  // What is being read now: findings from here on lie there.
  [[nodiscard]] const Place& place() const { return place_; }
  void set_place(Place place) { place_ = std::move(place); }

 private:
  std::array<Finding, static_cast<size_t>(Diag::kCount)> findings_;
  Place place_;
};

}  // namespace gpustrata::model
