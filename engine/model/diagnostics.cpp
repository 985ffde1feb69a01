#include "engine/model/diagnostics.h"

namespace memstrata::model {

namespace {

struct Entry {
  Diag diag;
  DiagKind kind;
};

using enum Severity;
constexpr std::array<Entry, static_cast<size_t>(Diag::kCount)> kKinds = {{
    {Diag::truncated, {"truncated", error, "The file ends too early; everything before the end is shown."}},
    {Diag::damaged,
     {"damaged", error,
      "The file holds bytes that cannot be; reading stopped there, what came before is shown."}},
    {Diag::budget_exhausted,
     {"budget_exhausted", error,
      "The memory set aside for this file was used up; what was read before is shown."}},
    {Diag::trailing_bytes, {"trailing_bytes", info, "Data after the end of the snapshot was not read."}},
    {Diag::foreign_object,
     {"foreign_object", warning,
      "Objects of other Python classes were not created; the fields that hold them count as absent."}},
    {Diag::cyclic_reference,
     {"cyclic_reference", warning, "Containers that hold themselves were cut open where they repeat."}},
    {Diag::late_change,
     {"late_change", warning,
      "Containers were changed after they had been used elsewhere; the other places show them unchanged."}},
    {Diag::duplicate_key,
     {"duplicate_key", warning, "A key occurs twice in one object; the last value counts."}},
    {Diag::odd_items, {"odd_items", warning, "A key without a value was left out."}},
    {Diag::wrong_type,
     {"wrong_type", warning, "Known fields hold values of another type and count as absent."}},
    {Diag::integer_out_of_range,
     {"integer_out_of_range", warning, "Numbers too large for their field count as absent."}},
    {Diag::negative_size, {"negative_size", warning, "Negative sizes are taken as 0."}},
    {Diag::long_string_cut, {"long_string_cut", warning, "Of very long texts only the beginning was kept."}},
    {Diag::text_cut,
     {"text_cut", warning, "Unknown data that is too long or nested too deeply was not kept whole."}},
    {Diag::unknown_action,
     {"unknown_action", info, "Events of unknown kinds are listed, but change nothing in the timeline."}},
    {Diag::unknown_state,
     {"unknown_state", warning, "Blocks in an unknown state are not counted as in use."}},
    {Diag::unknown_key, {"unknown_key", info, "Fields this program does not know are kept as text."}},
    {Diag::event_incomplete,
     {"event_incomplete", warning, "Events without an action, size or address were left out."}},
    {Diag::block_incomplete, {"block_incomplete", warning, "Blocks without a size or state were left out."}},
    {Diag::segment_incomplete,
     {"segment_incomplete", warning, "Segments without an address or size were left out."}},
    {Diag::shared_rows_cut,
     {"shared_rows_cut", warning,
      "Rows that many lists share were copied too often: some lists are shown without them."}},
    {Diag::blocks_do_not_tile,
     {"blocks_do_not_tile", warning, "The blocks of a segment do not add up to its size."}},
    {Diag::too_many_streams,
     {"too_many_streams", warning, "More than 32767 different streams: all further ones are shown as one."}},
    {Diag::too_many_pools,
     {"too_many_pools", warning,
      "More than 32767 different memory pools: all further ones are shown as one."}},
    {Diag::too_many_devices,
     {"too_many_devices", warning,
      "More than 1024 devices, or the same events for very many of them: only the first ones are listed."}},
    {Diag::time_not_monotonic,
     {"time_not_monotonic", warning,
      "Events are not in order of time; the time axis shows them at the latest time so far."}},
    {Diag::alloc_of_live_address,
     {"alloc_of_live_address", warning,
      "Memory was handed out at an address still in use, so events are missing; the earlier block ends "
      "there."}},
    {Diag::free_without_alloc,
     {"free_without_alloc", info,
      "Blocks freed here were allocated before the recording; they count from its start."}},
    {Diag::alloc_without_end,
     {"alloc_without_end", warning,
      "Blocks were allocated, never freed, and are not there at the end: events contradict the final segments. "
      "They count to the end."}},
    {Diag::requests_only,
     {"requests_only", info,
      "The history has no free_completed events, so free_requested counts as the free."}},
    {Diag::level_overflow,
     {"level_overflow", warning, "Sizes that lift the total above 8 PiB cannot be true and count as 0."}},
    {Diag::member_not_read,
     {"member_not_read", error, "Files in the archive could not be read; the others are shown."}},
    {Diag::not_a_snapshot,
     {"not_a_snapshot", info, "Files in the archive that are no memory snapshots were left out."}},
    {Diag::checksum_mismatch,
     {"checksum_mismatch", error,
      "What was unpacked does not fit its checksum: some of what is shown may be wrong."}},
    {Diag::unpacks_to_too_much,
     {"unpacks_to_too_much", error,
      "The compressed data unpacks to more than is read; what came before is shown."}},
    {Diag::too_many_members,
     {"too_many_members", warning, "The archive holds more than is read; the first files are shown."}},
    {Diag::invalid_json,
     {"invalid_json", error, "Parts of the JSON text cannot be understood and were left out."}},
    {Diag::not_utf8,
     {"not_utf8", warning, "Bytes of the JSON text that are not UTF-8 are shown as question marks."}},
    {Diag::unknown_entry, {"unknown_entry", info, "Fields this program does not know were left out."}},
    {Diag::sample_incomplete,
     {"sample_incomplete", warning, "Samples without a time or a number were left out."}},
    {Diag::not_finite,
     {"not_finite", warning, "Numbers that are not finite (NaN, Infinity) count as absent."}},
    {Diag::not_whole_bytes,
     {"not_whole_bytes", warning, "Sizes that are no whole number of bytes were rounded."}},
    {Diag::samples_out_of_order,
     {"samples_out_of_order", warning, "Samples are not in order of time; they were put into it."}},
    {Diag::lists_differ,
     {"lists_differ", warning,
      "Lists that belong together differ in length; what only one has was left out."}},
    {Diag::steps_not_dense,
     {"steps_not_dense", warning,
      "Operators are not numbered 0, 1, 2, ... alike in all tables; differences are taken between neighbours."}},
    {Diag::unknown_category,
     {"unknown_category", warning, "Categories of memory that do not exist count as Unknown."}},
    {Diag::level_below_zero,
     {"level_below_zero", warning,
      "More memory of a category is freed than was allocated, so rows are missing; its level is negative there."}},
    {Diag::record_incomplete,
     {"record_incomplete", warning,
      "Memory records without a time, a device or a number of bytes were left out."}},
    {Diag::span_incomplete, {"span_incomplete", warning, "Events without a time were left out."}},
    {Diag::span_without_end,
     {"span_without_end", warning,
      "Events without a duration count as moments; those that end before they begin hold nothing."}},
    {Diag::unknown_phase,
     {"unknown_phase", info, "Trace events of kinds that say nothing about memory or ops were left out."}},
    {Diag::no_addresses,
     {"no_addresses", warning,
      "Memory records have no addresses: levels are right, but which free ended which block is told by its size "
      "only."}},
    {Diag::totals_jump,
     {"totals_jump", warning,
      "The profiler's own totals jump between memory records, so records are missing or out of order."}},
    {Diag::no_memory_records,
     {"no_memory_records", warning,
      "The trace holds no memory records; torch.profiler.profile(profile_memory=True) writes them."}},
    {Diag::state_alloc_not_live,
     {"state_alloc_not_live", warning,
      "Allocated blocks vanish without a free; the memory state shows them until their memory is used again, "
      "at the latest until the last event."}},
    {Diag::state_free_of_live_block,
     {"state_free_of_live_block", warning,
      "Blocks are in use right after they were freed, so an alloc is missing; the memory state shows the later "
      "block from the next event on."}},
    {Diag::state_request_without_effect,
     {"state_request_without_effect", warning,
      "Requests to free blocks that stay in use were ignored in the memory state."}},
    {Diag::state_request_not_completed,
     {"state_request_not_completed", warning,
      "Requests to free that were neither completed nor pending at the end count as completed in the memory "
      "state."}},
    {Diag::state_request_missing,
     {"state_request_missing", info,
      "Blocks whose free was completed without a request were never pending in the memory state."}},
    {Diag::state_blocks_overlap,
     {"state_blocks_overlap", warning,
      "Blocks share bytes; the memory state shows the one nearer to the end of the recording."}},
    {Diag::state_block_outside_segments,
     {"state_block_outside_segments", warning,
      "Blocks lie in no segment, so segment events are missing; the memory state lists them apart."}},
    {Diag::state_size_unexplained,
     {"state_size_unexplained", info,
      "Block sizes do not follow from the requested sizes by the recorded settings; sizes of blocks freed during "
      "the recording are limited to the room they had."}},
    {Diag::state_size_differs,
     {"state_size_differs", warning, "Events of one block name different sizes; the block's own is shown."}},
    {Diag::state_segment_not_there,
     {"state_segment_not_there", warning,
      "Segments vanish without an event; the memory state shows them until their addresses are used again, at "
      "the latest until the last event."}},
    {Diag::state_segments_overlap,
     {"state_segments_overlap", warning,
      "Device memory is there after it was given back, or twice; the memory state shows the later one from the "
      "next event on."}},
    {Diag::state_segment_differs,
     {"state_segment_differs", warning,
      "Segments have other borders than the event that obtained them says."}},
    {Diag::state_segment_in_use,
     {"state_segment_in_use", warning,
      "Device memory came or went while blocks were in it; the memory state shows these from the next event "
      "on."}},
}};

constexpr bool listed_in_order() {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i].diag != static_cast<Diag>(i)) return false;
  }
  return true;
}
static_assert(listed_in_order());

}  // namespace

const DiagKind& kind_of(Diag diag) { return kKinds[static_cast<size_t>(diag)].kind; }

std::string_view name_of(Severity severity) {
  switch (severity) {
    case info:
      return "info";
    case warning:
      return "warning";
    case error:
      return "error";
  }
  return "error";
}

void Diagnostics::add(Diag diag, int64_t offset, std::string_view detail) {
  Finding& finding = findings_[static_cast<size_t>(diag)];
  if (finding.count++ == 0) {
    finding.first_offset = offset;
    finding.place = place_;
    finding.detail = detail;
  }
}

void Diagnostics::add_many(Diag diag, int64_t count, int64_t offset) {
  if (count <= 0) return;
  Finding& finding = findings_[static_cast<size_t>(diag)];
  if (finding.count == 0) {
    finding.first_offset = offset;
    finding.place = place_;
  }
  finding.count += count;
}

void Diagnostics::add_all(const Diagnostics& others) {
  for (size_t i = 0; i < findings_.size(); ++i) {
    const Finding& other = others.findings_[i];
    if (findings_[i].count == 0) {
      findings_[i] = other;
    } else {
      findings_[i].count += other.count;
    }
  }
}

bool Diagnostics::any() const {
  for (const Finding& finding : findings_) {
    if (finding.count > 0) return true;
  }
  return false;
}

}  // namespace memstrata::model
