// One open file and all questions that can be asked of it: the only API of the page and of wasm/.
//
// Reading:   while (input) { fill writable(); commit(n); }  finish();
// Then:      contents_json(), open_view(snapshot, device), and per view the timeline queries.
// Answers are JSON text (few, small) or arrays bounded by pixels. Spans stay valid until the next call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/replay/timeline.h"
#include "engine/session/state_view.h"

namespace memstrata::session {

class Session {
 public:
  explicit Session(int64_t budget_bytes);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // -- Reading. The kind of file is decided from the first bytes.
  void expect_bytes(int64_t total);
  [[nodiscard]] std::span<std::byte> writable();
  [[nodiscard]] Status commit(size_t bytes);
  [[nodiscard]] Status finish();
  [[nodiscard]] bool done() const;  // the rest of the input does not matter
  // {"bytes": read so far, "events": n, "heap": bytes of the budget in use}
  [[nodiscard]] std::string progress_json() const;
  // 16 hexadecimal digits that tell one input from another; of the bytes committed so far, however they were
  // cut into chunks. Not cryptographic.
  [[nodiscard]] std::string content_hash() const;

  // -- What is in the file.
  // The object of `memstrata summary --json` (see engine/cli/README.md).
  [[nodiscard]] Result<std::string> summary_json(std::string_view file) const;
  // {"format","snapshots":[{"name","devices":[{"device","events","segments"}],"default": device|null}],
  // "default":{"snapshot","device"}|null}: which one is shown first (replay/default_device.h), in each
  // snapshot and in the file; null = nothing has a device. Device -1 is pinned host memory.
  [[nodiscard]] std::string contents_json() const;

  // [{"name","severity","count","first_offset"|null,"text"}]: what the reader noticed, and what showing the
  // current view repaired. Unlike summary_json() it replays nothing.
  [[nodiscard]] std::string diagnostics_json() const;

  // -- One device of one snapshot: builds its timeline and makes it the current view.
  // {"device","events","blocks","from_start","peak":{"bytes","event"},"initial_bytes","final_bytes",
  //  "reserved_peak","reserved_final","extent":{"event","time_us"|null},"first_time_us"|null,"last_time_us"|null,
  //  "oom_events":[event,... at most 1000],"has_stacks":bool,"segments","settings":{...}|null}
  [[nodiscard]] Result<std::string> open_view(int32_t part, int32_t device);
  // The same with segments as bands (replay/segment_bands.h); block_details_json() then gives the object
  // of StateView::segment_json(). open_state() is as for open_view(), its ranks are those of the blocks'
  // timeline.
  [[nodiscard]] Result<std::string> open_segments(int32_t part, int32_t device);
  // The blocks' timeline with private pools as envelopes (replay/pool_bands.h), and "pools": their
  // number. Blocks keep their ranks, so that whatever names one is as in open_view(); envelopes have the
  // ranks from "blocks" on. block_details_json() of one gives
  // {"rank","name","pool":[a,b],"stream","stream_handle","capacity": bytes at the end,"reserved_final",
  //  "active_final","peak_active","blocks": that were ever in it,"born_event","text"}
  [[nodiscard]] Result<std::string> open_pools(int32_t part, int32_t device);

  // The allocator's states of the current view's device (state_view.h). Built when first asked for and kept
  // until the next open_view(); from then on diagnostics_json() tells of it, too. Null without a view. Error:
  // limit_exceeded.
  [[nodiscard]] Result<StateView*> open_state();

  // -- Timeline of the current view. All are no-ops with empty answers without one.
  // RGBA rows from the top, columns.count * rows.count pixels. Blocks of the filter (or of light_kind()) are
  // lit, others dimmed, while `dim_others`. Columns that the last picture had, too, are not drawn again.
  // Error: limit_exceeded, beyond 8192 x 4320 pixels or if memory is short.
  [[nodiscard]] Result<std::span<const uint32_t>> picture(const replay::ColumnGrid& columns,
                                                          const replay::RowGrid& rows, bool dim_others);
  // Colours of the pixels of StateView::address_map(), as blocks have them in picture(); free device memory
  // has the colour of envelopes. Error: limit_exceeded.
  [[nodiscard]] Result<std::span<const uint32_t>> colours_of(std::span<const int32_t> map, bool dim_others);
  // Colours R, G, B, A in memory order; kept for later pictures.
  void set_palette(std::span<const uint32_t> bands, uint32_t nothing, uint32_t dimmed_towards,
                   uint32_t envelope);
  // Room for words in the bands of the last picture that has these columns, at least so many columns wide and
  // rows high: [{"rank","size","x0","x1" (axis),"y0","y1" (bytes)}], at most kMostLabels.
  static constexpr size_t kMostLabels = 150;
  [[nodiscard]] std::string labels_json(const replay::ColumnGrid& columns, int32_t least_columns,
                                        int32_t least_rows) const;
  [[nodiscard]] std::string label_frames_json(int32_t rank) const;  // analysis/block_label.h
  [[nodiscard]] replay::Curves curves(const replay::ColumnGrid& columns) const;
  [[nodiscard]] int64_t highest_level(const replay::ColumnGrid& columns) const;
  // {"event","time_us"|null,"level","allocated","reserved","rank","name"|null,"size"|null} of the state that
  // column k shows, `allocated` being requested bytes in use (level minus pending ones); rank -1 = no block
  // at that height. Of an envelope "size" is its height then, and "active" the bytes of its blocks.
  [[nodiscard]] std::string pick_json(replay::Axis axis, int64_t column, int64_t width, double bytes) const;
  // Lower edges, one per column (Timeline::outline), then as many upper ones.
  [[nodiscard]] std::vector<double> outline(int32_t rank, const replay::ColumnGrid& columns) const;
  // Where a block lies on an axis: {"from","to","offset": bytes below it at birth,"size"}; for fitting it.
  [[nodiscard]] std::string block_place_json(int32_t rank, replay::Axis axis) const;
  [[nodiscard]] std::string block_details_json(int32_t rank);  // analysis/block_details.h
  // Position of an event on an axis (its index, or microseconds since the first event).
  [[nodiscard]] int64_t position(replay::Axis axis, int32_t event) const;
  // Blocks that a filter means (analysis/filter_syntax.h): {"count","bytes","at_peak": bytes of those in use
  // at the peak,"first": rank|-1}; kept as the current filter until the next one (empty text clears it).
  // Error: invalid_format with the byte of `text` at fault as offset; the filter before stays.
  [[nodiscard]] Result<std::string> filter(std::string_view text);
  // {"from": byte of `text`,"items":[{"text","says"}]}: what could stand in [from, cursor).
  [[nodiscard]] Result<std::string> complete_filter_json(std::string_view text, size_t cursor);
  // The k-th match (0-based) as rank, -1 if there is none.
  [[nodiscard]] int32_t match(int32_t k) const;
  // Regions and markers of the current view's device: analysis/marks.h; "null" without a view. Error:
  // limit_exceeded.
  [[nodiscard]] Result<std::string> marks_json() const;

  // -- Colours by kind.
  // `by` = allocation, stack, size, stream, pool, lifetime, age, category. {"by","ordered":
  // bool,"kinds":[{"label", "blocks","merged"}]}; kinds have the palette's colours in order
  // (analysis/block_groups.h). No kinds: every block has a colour of its own.
  [[nodiscard]] Result<std::string> colour_by(std::string_view by);
  // In use after the event: {"event","level","kinds":[{"bytes","blocks"}],"unused": bytes of envelopes that
  // no block uses (after open_pools() only),"matched":{"bytes","blocks"}|null}.
  [[nodiscard]] std::string shares_json(int32_t event) const;
  // In pictures with `dim_others` only this kind is lit instead of the filter's blocks; -1 = the filter
  // again.
  void light_kind(int32_t kind);

 private:
  enum class Bands : uint8_t { blocks, segments, pools };
  [[nodiscard]] Result<std::string> open_bands(int32_t part, int32_t device, Bands bands);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace memstrata::session
