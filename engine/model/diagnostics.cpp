#include "engine/model/diagnostics.h"

#include <algorithm>
#include <iterator>

namespace gpustrata::model {

namespace {

struct Entry {
  Diag diag;
  DiagKind kind;
};

using enum Severity;
constexpr std::array<Entry, static_cast<size_t>(Diag::kCount)> kKinds = {{
    {Diag::truncated, {"truncated", error}},
    {Diag::damaged, {"damaged", error}},
    {Diag::of_damaged, {"of_damaged", error}},
    {Diag::budget_exhausted, {"budget_exhausted", error}},
    {Diag::trailing_bytes, {"trailing_bytes", info}},
    {Diag::foreign_object, {"foreign_object", warning}},
    {Diag::cyclic_reference, {"cyclic_reference", warning}},
    {Diag::late_change, {"late_change", warning}},
    {Diag::duplicate_key, {"duplicate_key", warning}},
    {Diag::odd_items, {"odd_items", warning}},
    {Diag::extra_commas, {"extra_commas", warning}},
    {Diag::wrong_type, {"wrong_type", warning}},
    {Diag::integer_out_of_range, {"integer_out_of_range", warning}},
    {Diag::negative_size, {"negative_size", warning}},
    {Diag::long_string_cut, {"long_string_cut", warning}},
    {Diag::text_cut, {"text_cut", warning}},
    {Diag::unknown_action, {"unknown_action", info}},
    {Diag::unknown_state, {"unknown_state", warning}},
    {Diag::unknown_key, {"unknown_key", info}},
    {Diag::event_incomplete, {"event_incomplete", warning}},
    {Diag::block_incomplete, {"block_incomplete", warning}},
    {Diag::segment_incomplete, {"segment_incomplete", warning}},
    {Diag::shared_rows_cut, {"shared_rows_cut", warning}},
    {Diag::blocks_do_not_tile, {"blocks_do_not_tile", warning}},
    {Diag::too_many_streams, {"too_many_streams", warning}},
    {Diag::too_many_pools, {"too_many_pools", warning}},
    {Diag::too_many_devices, {"too_many_devices", warning}},
    {Diag::time_not_monotonic, {"time_not_monotonic", warning}},
    {Diag::alloc_of_live_address, {"alloc_of_live_address", warning}},
    {Diag::free_without_alloc, {"free_without_alloc", info}},
    {Diag::alloc_without_end, {"alloc_without_end", warning}},
    {Diag::requests_only, {"requests_only", info}},
    {Diag::level_overflow, {"level_overflow", warning}},
    {Diag::member_not_read, {"member_not_read", error}},
    {Diag::not_a_snapshot, {"not_a_snapshot", info}},
    {Diag::checksum_mismatch, {"checksum_mismatch", error}},
    {Diag::unpacks_to_too_much, {"unpacks_to_too_much", error}},
    {Diag::too_many_members, {"too_many_members", warning}},
    {Diag::invalid_json, {"invalid_json", error}},
    {Diag::not_utf8, {"not_utf8", warning}},
    {Diag::sums_cut, {"sums_cut", warning}},
    {Diag::unknown_entry, {"unknown_entry", info}},
    {Diag::sample_incomplete, {"sample_incomplete", warning}},
    {Diag::not_finite, {"not_finite", warning}},
    {Diag::not_whole_bytes, {"not_whole_bytes", warning}},
    {Diag::samples_out_of_order, {"samples_out_of_order", warning}},
    {Diag::lists_differ, {"lists_differ", warning}},
    {Diag::steps_not_dense, {"steps_not_dense", warning}},
    {Diag::unknown_category, {"unknown_category", warning}},
    {Diag::level_below_zero, {"level_below_zero", warning}},
    {Diag::record_incomplete, {"record_incomplete", warning}},
    {Diag::span_incomplete, {"span_incomplete", warning}},
    {Diag::span_without_end, {"span_without_end", warning}},
    {Diag::unknown_phase, {"unknown_phase", info}},
    {Diag::no_addresses, {"no_addresses", warning}},
    {Diag::totals_jump, {"totals_jump", warning}},
    {Diag::no_memory_records, {"no_memory_records", warning}},
    {Diag::state_alloc_not_live, {"state_alloc_not_live", warning}},
    {Diag::state_free_of_live_block, {"state_free_of_live_block", warning}},
    {Diag::state_request_without_effect, {"state_request_without_effect", warning}},
    {Diag::state_request_not_completed, {"state_request_not_completed", warning}},
    {Diag::state_request_missing, {"state_request_missing", info}},
    {Diag::state_blocks_overlap, {"state_blocks_overlap", warning}},
    {Diag::state_block_outside_segments, {"state_block_outside_segments", warning}},
    {Diag::state_size_unexplained, {"state_size_unexplained", info}},
    {Diag::state_size_differs, {"state_size_differs", warning}},
    {Diag::state_segment_not_there, {"state_segment_not_there", warning}},
    {Diag::state_segments_overlap, {"state_segments_overlap", warning}},
    {Diag::state_segment_differs, {"state_segment_differs", warning}},
    {Diag::state_segment_in_use, {"state_segment_in_use", warning}},
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

bool Diagnostics::incomplete() const {
  constexpr Diag kLost[] = {Diag::truncated,        Diag::damaged,           Diag::of_damaged,
                            Diag::budget_exhausted, Diag::checksum_mismatch, Diag::unpacks_to_too_much};
  return std::any_of(std::begin(kLost), std::end(kLost), [&](Diag diag) { return (*this)[diag].count > 0; });
}

}  // namespace gpustrata::model
