#include "engine/answers/common/findings.h"

#include <fmt/core.h>

#include <array>

#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::Finding;
using model::Diag;

namespace {

struct DiagText {
  Diag diag;
  std::string_view text;
};

constexpr std::array<DiagText, static_cast<size_t>(Diag::kCount)> kDiagTexts = {{
    {Diag::truncated, "The file ends too early; everything before the end is shown."},
    {Diag::damaged, "The file holds bytes that cannot be; reading stopped there, what came before is shown."},
    {Diag::of_damaged,
     "The file was written from one that was damaged or ended too early, so a part of the recording is missing."},
    {Diag::budget_exhausted,
     "The memory set aside for this file was used up; what was read before is shown."},
    {Diag::trailing_bytes, "Data after the end of the snapshot was not read."},
    {Diag::foreign_object,
     "Objects of other Python classes were not created; the fields that hold them count as absent."},
    {Diag::cyclic_reference, "Containers that hold themselves were cut open where they repeat."},
    {Diag::late_change,
     "Containers were changed after they had been used elsewhere; the other places show them unchanged."},
    {Diag::duplicate_key, "A key occurs twice in one object; the last value counts."},
    {Diag::odd_items, "A key without a value was left out."},
    {Diag::extra_commas, "Commas with nothing behind them were passed over."},
    {Diag::wrong_type, "Known fields hold values of another type and count as absent."},
    {Diag::integer_out_of_range, "Numbers too large for their field count as absent."},
    {Diag::negative_size, "Negative sizes are taken as 0."},
    {Diag::long_string_cut, "Of very long texts only the beginning was kept."},
    {Diag::text_cut,
     "Unknown data that is too long, nested too deeply, or a table in a place of another was not kept whole."},
    {Diag::unknown_action, "Events of unknown kinds are listed, but change nothing in the timeline."},
    {Diag::unknown_state, "Blocks in an unknown state are not counted as in use."},
    {Diag::unknown_key, "Fields this program does not know are kept as text."},
    {Diag::event_incomplete, "Events without an action, size or address were left out."},
    {Diag::block_incomplete, "Blocks without a size or state were left out."},
    {Diag::segment_incomplete, "Segments without an address or size were left out."},
    {Diag::shared_rows_cut,
     "Rows that many lists share were copied too often: some lists are shown without them."},
    {Diag::blocks_do_not_tile, "The blocks of a segment do not add up to its size."},
    {Diag::too_many_streams, "More than 32767 different streams: all further ones are shown as one."},
    {Diag::too_many_pools, "More than 32767 different memory pools: all further ones are shown as one."},
    {Diag::too_many_devices,
     "More than 1024 devices, or the same events for very many of them: only the first ones are listed."},
    {Diag::time_not_monotonic,
     "Events are not in order of time; the time axis shows them at the latest time so far."},
    {Diag::alloc_of_live_address,
     "Memory was handed out at an address still in use, so events are missing; the earlier block ends "
     "there."},
    {Diag::free_without_alloc,
     "Blocks freed here were allocated before the first event; they count from the start."},
    {Diag::alloc_without_end,
     "Blocks were allocated, never freed, and are not there at the end: events contradict the final segments. "
     "They count to the end."},
    {Diag::requests_only,
     "The history has no free_completed events, so free_requested counts as the free, unless the final state shows that "
     "the block still waits."},
    {Diag::level_overflow, "Sizes that lift the total above 8 PiB cannot be true and count as 0."},
    {Diag::member_not_read, "Files in the archive could not be read; the others are shown."},
    {Diag::not_a_snapshot, "Files in the archive that are no memory snapshots were left out."},
    {Diag::checksum_mismatch,
     "What was unpacked does not fit its checksum: some of what is shown may be wrong."},
    {Diag::unpacks_to_too_much,
     "The compressed data unpacks to more than is read; what came before is shown."},
    {Diag::too_many_members, "The archive holds more than is read; the first files are shown."},
    {Diag::invalid_json, "Parts of the JSON text cannot be understood and were left out."},
    {Diag::not_utf8, "Bytes of the JSON text that are not UTF-8 are shown as question marks."},
    {Diag::sums_cut, "Totals beyond 64 bits are shown as the largest number there is."},
    {Diag::unknown_entry, "Fields this program does not know were left out."},
    {Diag::sample_incomplete, "Samples without a time or a number were left out."},
    {Diag::not_finite, "Numbers that are not finite (NaN, Infinity) count as absent."},
    {Diag::not_whole_bytes, "Sizes that are no whole number of bytes were rounded."},
    {Diag::samples_out_of_order, "Samples are not in order of time; they were put into it."},
    {Diag::lists_differ, "Lists that belong together differ in length; what only one has was left out."},
    {Diag::steps_not_dense,
     "Operators are not numbered 0, 1, 2, ... alike in all tables; differences are taken between neighbours."},
    {Diag::unknown_category, "Categories of memory that do not exist count as Unknown."},
    {Diag::level_below_zero,
     "More memory of a category is freed than was allocated, so rows are missing; its level is negative there."},
    {Diag::record_incomplete, "Memory records without a time, a device or a number of bytes were left out."},
    {Diag::span_incomplete, "Events without a time were left out."},
    {Diag::span_without_end,
     "Events without a duration count as moments; those that end before they begin hold nothing."},
    {Diag::unknown_phase, "Trace events of kinds that say nothing about memory or ops were left out."},
    {Diag::no_addresses,
     "Memory records have no addresses: which free ended which block is told by its size only. Levels are right but for what "
     "was there before, which may be in none of them."},
    {Diag::totals_jump,
     "The profiler's own totals jump between memory records, so records are missing or out of order."},
    {Diag::no_memory_records,
     "The trace holds no memory records; torch.profiler.profile(profile_memory=True) writes them."},
    {Diag::state_alloc_not_live,
     "Allocated blocks vanish without a free; the memory state shows them until their memory is used again, "
     "at the latest until the last event."},
    {Diag::state_free_of_live_block,
     "Blocks are in use right after they were freed, so an alloc is missing; the memory state shows the later "
     "block from the next event on."},
    {Diag::state_request_without_effect,
     "Requests to free blocks that stay in use were ignored in the memory state."},
    {Diag::state_request_not_completed,
     "Requests to free that were neither completed nor pending at the end count as completed in the memory "
     "state."},
    {Diag::state_request_missing,
     "Blocks whose free was completed without a request were never pending in the memory state."},
    {Diag::state_blocks_overlap,
     "Blocks share bytes; the memory state shows the one nearer to the end of the recording."},
    {Diag::state_block_outside_segments,
     "Blocks lie in no segment, so segment events are missing; the memory state lists them apart."},
    {Diag::state_size_unexplained,
     "Block sizes do not follow from the requested sizes by the recorded settings; sizes of blocks freed during "
     "the recording are limited to the room they had."},
    {Diag::state_size_differs, "Events of one block name different sizes; the block's own is shown."},
    {Diag::state_segment_not_there,
     "Segments vanish without an event; the memory state shows them until their addresses are used again, at "
     "the latest until the last event."},
    {Diag::state_segments_overlap,
     "Device memory is there after it was given back, or twice; the memory state shows the later one from the "
     "next event on."},
    {Diag::state_segment_differs, "Segments have other borders than the event that obtained them says."},
    {Diag::state_segment_in_use,
     "Device memory came or went while blocks were in it; the memory state shows these from the next event "
     "on."},
}};

constexpr bool listed_in_order() {
  for (size_t i = 0; i < kDiagTexts.size(); ++i) {
    if (kDiagTexts[i].diag != static_cast<Diag>(i) || kDiagTexts[i].text.empty()) return false;
  }
  return true;
}
static_assert(listed_in_order());

}  // namespace

std::string_view text_of(Diag diag) { return kDiagTexts[static_cast<size_t>(diag)].text; }

std::string text_of(const Finding& finding) {
  std::string text(text_of(finding.diag));
  if (!finding.detail.empty()) text += " (first: " + finding.detail + ")";
  return text;
}

void describe(Members& m, const Finding& finding) {
  m.is("Diagnostic");
  m.text("name", finding.name);
  m.word("severity", kWordsOf<model::Severity>, finding.severity);
  m.count("count", finding.count);
  m.number({"first_offset", "Byte offset of the first one; null or -1 = no place in the file."},
           finding.first_offset);
  if (const auto there = m.when(!finding.first_in.empty())) {
    m.text({"first_in", "What that counts in (\"rank0.pickle\"); absent = the file itself."},
           finding.first_in);
    m.number({"file_offset", "Where in the file that begins."}, finding.file_offset);
  }
  m.text("text", [&] { return text_of(finding); });
}

void to_json(JsonWriter& json, std::span<const Finding> findings) { list_to_json(json, findings); }

std::string finding_lines(std::span<const Finding> findings, Remarks remarks) {
  std::string out;
  for (const Finding& finding : findings) {
    if (remarks == Remarks::left_out && finding.severity == model::name_of(model::Severity::info)) continue;
    std::string count = finding.count == 1 ? "" : fmt::format("{} times", count_text(finding.count));
    if (finding.first_offset) {
      count += fmt::format("{}{}at byte {}", count.empty() ? "" : ", ", finding.count == 1 ? "" : "first ",
                           count_text(*finding.first_offset));
      if (!finding.first_in.empty()) count += " of " + shortened(finding.first_in, 200);
    }
    out += fmt::format("    {:<8} {}{}\n", finding.severity, shortened(text_of(finding), 300),
                       count.empty() ? "" : " [" + count + "]");
  }
  return out;
}

namespace {
void under(TextOut& out, std::string_view heading, std::span<const Finding> findings) {
  if (!findings.empty()) out.print("\n  {}\n{}", heading, finding_lines(findings, Remarks::shown));
}
}  // namespace

void noticed_to_text(TextOut& out, std::span<const Finding> findings) { under(out, "Noticed", findings); }

void noticed_reading_to_text(TextOut& out, std::span<const Finding> findings) {
  under(out, "Noticed while reading", findings);
}

}  // namespace gpustrata::answers
