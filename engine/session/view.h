// The timeline of one device: bands over events, and all questions about them.
//
// Several views may be open; each has its own bands, timeline and caches, those of one device share its
// blocks' lives, attributes and states (device.h). Every question is pure: what the page looks like comes
// with it (Look). Costly things are kept in the device's memo by what they were made for, and let go where memory is short.
//
// The peak of a view is the highest level of ITS bands: of pools with what their envelopes keep unused, of
// segments the reserved memory. `peak` of ViewInfo and of findEvent, `alive@peak`, `at_peak` and the order of
// kinds all mean this one.
//
// A rank is a block's (a segment's) number in stack order. Among pools, blocks keep their ranks and envelopes
// have those behind them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/analysis/calls/call_tree.h"
#include "engine/analysis/calls/call_tree_rows.h"
#include "engine/analysis/calls/carried_calls.h"
#include "engine/analysis/details/timeline_view.h"
#include "engine/analysis/filters/block_filter.h"
#include "engine/analysis/filters/filter_completion.h"
#include "engine/analysis/live/block_groups.h"
#include "engine/analysis/live/holders.h"
#include "engine/analysis/ops/span_details.h"
#include "engine/replay/band_places.h"
#include "engine/replay/grouped_bands.h"
#include "engine/replay/kept_picture.h"
#include "engine/replay/pool_bands.h"
#include "engine/replay/segment_bands.h"
#include "engine/replay/timeline.h"
#include "engine/session/device.h"

namespace gpustrata::session {

using Bands = analysis::BandKind;
using ViewInfo = analysis::ViewInfo;

// How bands are coloured; 0xAABBGGRR.
struct Look {
  std::vector<uint32_t> bands;  // none: all is black
  uint32_t nothing = 0, dimmed_towards = 0, envelope = 0;
  analysis::GroupBy colour_by = analysis::GroupBy::allocation;
  std::string_view filter;  // the others fade; blank = none do
  int32_t kind = -1;        // all but this kind fade, whatever the filter; -1 = the filter decides
};

struct Filtered {
  std::string text;
  analysis::Matches matches;
  int64_t at_peak = 0;  // bytes of those in use at the view's peak
};

struct TreeWanted {
  analysis::TreeAsked asked;
  std::string_view filter;
  const analysis::CarriedCalls* before = nullptr;  // of another recording: the tree is the difference to it
};

// How bands are stacked: by their kinds, the first one at the bottom, among pools with what they keep unused on top
// (replay/grouped_bands.h); nothing = in the order of allocation. Not by `allocation`, where each block is a kind of its own.
using Stacking = std::optional<analysis::GroupBy>;

class View {
 public:
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() { device_->memo().forget(this); }
  // `only`: a filter; what it means is stacked from zero as if the rest had never been (replay/chosen_bands.h), blank =
  // all. `@peak` in it is the peak of all. Not among pools. Error: limit_exceeded; wrong_usage; as filtered().
  [[nodiscard]] static Result<std::unique_ptr<View>> open(std::shared_ptr<Device> device, Bands bands,
                                                          std::string_view only = {});

  [[nodiscard]] ViewInfo info() const;
  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] const std::shared_ptr<Device>& shared_device() const { return device_; }
  [[nodiscard]] Bands bands() const { return kind_; }
  [[nodiscard]] std::string_view only() const { return only_ ? std::string_view(only_->text) : ""; }
  [[nodiscard]] int32_t event_count() const { return bands_->events.count; }
  [[nodiscard]] int32_t rank_count() const;
  [[nodiscard]] int32_t peak_event() const { return bands_->peak_event; }
  // Called before every question: what the last one asked for may go, and what filters meant before the device was told
  // more (Device::tell_made_in) is gone.
  void next_question();
  // What reading the file and showing the device found out, whatever the bands; of its states StateView tells.
  [[nodiscard]] model::Diagnostics diagnostics() const;

  // -- Pictures. Columns that one of the last two pictures of this look had are not drawn again. Error of
  // all: limit_exceeded; invalid_format for a filter that is none.
  static constexpr size_t kMostPixels = size_t{8192} * 4320;  // an 8K screen and then some
  // RGBA rows from the top into columns.count * rows.count pixels. By group a block has a lightness of its own where it is
  // kLeastShaded rows high; lower ones look like one area. Error also: wrong_usage for a stacking that is none.
  static constexpr int32_t kLeastShaded = 3;
  [[nodiscard]] Status draw(const replay::ColumnGrid& columns, const replay::RowGrid& rows, const Look& look,
                            Stacking stacking, std::span<uint32_t> rgba);
  // Colours of pixels of StateView::address_map(); free device memory has that of envelopes.
  [[nodiscard]] Status colour_map(std::span<const int32_t> map, const Look& look, std::span<uint32_t> rgba);
  // The same picture by how much is free: free memory has the shade of the share of its region that is free in its column
  // (StateView::free_shares), from none to all; all blocks have one colour.
  struct ShadedMap {
    std::span<const int32_t> map;
    std::span<const float> free_shares;
    int32_t columns = 0, height = 0;  // pixels; of a region
    std::span<const uint32_t> shades;
  };
  static void shade_map(const ShadedMap& shaded, const Look& look, std::span<uint32_t> rgba);
  // The state of the device after an event (StateView::layout), its blocks in the colours of that map.
  [[nodiscard]] Result<replay::StateRects> draw_state(int32_t event, const replay::StateWindow& window,
                                                      const Look& look);
  // The same before the states are known (replay/state_sketch.h); no rectangle has a row.
  struct SketchedState {
    replay::StateRects rects;
    std::vector<int32_t> ranks;  // in the timeline, of each; -1 = none
  };
  [[nodiscard]] Result<SketchedState> sketch_state(int32_t event, const replay::StateWindow& window,
                                                   const Look& look);
  [[nodiscard]] const replay::Timeline& timeline() const { return *timeline_; }
  [[nodiscard]] int64_t highest_level(const replay::ColumnGrid& columns) const;
  // Room for words in the bands of that picture, at least so many columns wide and rows high; the largest
  // kMostLabels. Words need 2.5 times the width. By group also in what its blocks leave, where they are too small for words.
  static constexpr size_t kMostLabels = 150;
  [[nodiscard]] Result<std::vector<analysis::BandLabel>> labels(const replay::ColumnGrid& columns,
                                                                const replay::RowGrid& rows,
                                                                Stacking stacking, int32_t least_columns,
                                                                int32_t least_rows);

  // -- Bands. Ranks must be below rank_count().
  // What lies at a height of the state that a column shows. None: the column is outside of the recording.
  [[nodiscard]] Result<std::optional<analysis::BandPick>> pick(replay::Axis axis, int64_t column,
                                                               int64_t width, double bytes,
                                                               Stacking stacking);
  // Its kind there, and what the filter means of it; none = by allocation, or nothing is there.
  [[nodiscard]] Result<std::optional<analysis::GroupPick>> pick_group(const analysis::BandPick& state,
                                                                      double bytes, Stacking stacking,
                                                                      std::string_view filter);
  [[nodiscard]] Result<analysis::PlaceOfBand> place(int32_t rank, replay::Axis axis, Stacking stacking);
  // Lower and upper edge, one value per column (Timeline::outline).
  struct Edges {
    std::vector<double> lower, upper;
  };
  [[nodiscard]] Result<Edges> outline(int32_t rank, Stacking stacking, const replay::ColumnGrid& columns);
  // Of all of a kind; NaN where it has nothing.
  [[nodiscard]] Result<Edges> group_outline(analysis::GroupBy by, int32_t kind,
                                            const replay::ColumnGrid& columns);
  [[nodiscard]] int64_t position(replay::Axis axis, int32_t event) const;
  // All that is known of a band.
  [[nodiscard]] Result<analysis::BandDetails> details(int32_t rank);

  // -- Filters and colours by kind.
  // Null for a blank text. Valid until the next question. Error: invalid_format with the byte of `text` at
  // fault as offset.
  [[nodiscard]] Result<const Filtered*> filtered(std::string_view text);
  // Ops that a filter means, counted before each place of the device's lanes (analysis/ops/span_details.h); null = a blank
  // text, or bands that are no blocks.
  [[nodiscard]] Result<const Column<int32_t>*> lit_spans(std::string_view text);
  [[nodiscard]] Result<analysis::Completions> complete(std::string_view text, size_t cursor);
  [[nodiscard]] Result<const analysis::BlockGroups*> kinds(analysis::GroupBy by);
  // Of what is in use after the event.
  [[nodiscard]] Result<analysis::Shares> shares(analysis::GroupBy by, int32_t event, std::string_view filter);

  // -- Ranges and calls (view_calls.cpp). Events -1 to event_count() - 1. What they return is valid until the next question.
  [[nodiscard]] analysis::RangeTotals range(replay::Axis axis, int64_t from, int64_t to) const;
  // The keys of the tree are frames of `recording`: the view's, or one that has the calls of two.
  struct KnownCalls {
    const analysis::CallTree& tree;
    const model::Recording& recording;
    double rest = 0;  // of the other recording: what its calls do not tell by stack
  };
  [[nodiscard]] Result<KnownCalls> calls(const TreeWanted& wanted);
  // For another recording (analysis/calls/carried_calls.h).
  [[nodiscard]] Result<analysis::CarriedCalls> carried_calls(const TreeWanted& wanted);
  struct RowsWanted {
    std::string_view search;
    analysis::RowOrder order = analysis::RowOrder::total;
    bool descending = true;
  };
  [[nodiscard]] Result<std::span<const analysis::FrameRow>> call_rows(const TreeWanted& wanted,
                                                                      const RowsWanted& rows);
  // -- Who holds the memory of a moment (view_holders.cpp). Valid until the next question. Error also: invalid_format for
  // rules that are none, wrong_usage for categories of segments.
  struct HolderQuestion {
    analysis::By by = analysis::By::line;
    int32_t event = -1;
    std::string_view filter, rules;
  };
  [[nodiscard]] Result<analysis::Holders> holders(const HolderQuestion& question);
  // By rules; blank ones are the engine's own.
  [[nodiscard]] Result<const analysis::KnownCategories*> categories(std::string_view rules);

 private:
  struct Calls {
    explicit Calls(analysis::CallTree&& found) : tree(std::move(found)) {}

    analysis::CallTree tree;
    std::unique_ptr<model::Recording> both;  // with the calls of another recording
    double rest = 0;                         // of the other recording
  };
  // The tree that is wanted, as it is kept.
  struct KeptCalls {
    std::string key;
    Calls* calls;
  };
  [[nodiscard]] analysis::TreeAsked within(const analysis::TreeAsked& wanted) const;
  [[nodiscard]] Result<KeptCalls> kept_calls(const TreeWanted& wanted);
  // Calls `use` with what a question about calls is about: bands, their stacks, what the filter means.
  template <typename Use>
  [[nodiscard]] auto with_bands(const TreeWanted& wanted, const Use& use)
      -> decltype(use(std::declval<const analysis::BandsAsked&>()));
  struct GroupStack {
    replay::GroupedBands bands;
    Column<int32_t> rank_of_place;
    replay::Timeline timeline;  // refers to `bands`
  };
  // A timeline, with what its numbers mean.
  struct Stack {
    const replay::Timeline& timeline;
    const GroupStack* groups = nullptr;  // null: in the order of allocation
  };
  // The last pictures, and room to make others.
  struct Pixels {
    explicit Pixels(Budget& budget) : drawn(budget), scratch(budget), words(budget) {}

    std::string look;            // what `drawn` is coloured by
    replay::KeptPictures drawn;  // before transposing
    Column<uint32_t> scratch;
    // By group, for labels: which block each pixel is of, without means.
    replay::KeptPicture words;
    std::optional<analysis::GroupBy> words_by;
  };
  View(std::shared_ptr<Device> device, Bands bands);

  [[nodiscard]] Status choose(std::string_view only);
  [[nodiscard]] Result<Filtered> find_filtered(std::string_view text);
  [[nodiscard]] Result<analysis::BlockGroups> find_kinds(analysis::GroupBy by);
  [[nodiscard]] Pixels& pixels(bool by_group);
  [[nodiscard]] Result<Stack> stack(Stacking stacking);
  [[nodiscard]] Result<const GroupStack*> group_stack(analysis::GroupBy by);
  [[nodiscard]] Result<GroupStack> make_group_stack(analysis::GroupBy by);
  // Of a place of the stack, -1 of none; and back, of an envelope the first of what it keeps.
  [[nodiscard]] int32_t rank_at(const Stack& stack, int32_t place) const;
  [[nodiscard]] int32_t place_of(const Stack& stack, int32_t rank) const;
  // Where a place lies, without words, and with those of a rank.
  [[nodiscard]] static analysis::BandLabel placed(const replay::BandPlace& place,
                                                  const replay::ColumnGrid& columns,
                                                  const replay::RowGrid& rows);
  [[nodiscard]] Result<analysis::BandLabel> label_of(int32_t rank, const replay::BandPlace& place,
                                                     const replay::ColumnGrid& columns,
                                                     const replay::RowGrid& rows,
                                                     const replay::PlaceLimits& limits);
  [[nodiscard]] Result<std::vector<analysis::BandLabel>> group_labels(analysis::GroupBy by,
                                                                      const GroupStack& stack,
                                                                      const replay::ColumnGrid& columns,
                                                                      const replay::RowGrid& rows,
                                                                      const replay::PlaceLimits& limits);
  // The state that a column shows, without a band.
  [[nodiscard]] std::optional<analysis::BandPick> state_of(replay::Axis axis, int64_t column,
                                                           int64_t width) const;

  // What ranks count: the bands, or the blocks where envelopes are among the bands.
  [[nodiscard]] const replay::Bands& ranked() const {
    return pools_ ? static_cast<const replay::Bands&>(device_->lives()) : *bands_;
  }
  [[nodiscard]] const model::Recording& recording() const { return device_->recording(); }
  [[nodiscard]] Result<const analysis::BlockAttributes*> attributes();
  // Ranks that are in use after the event. O(those), not of all.
  [[nodiscard]] Result<Column<int32_t>> live_at(int32_t event) const;
  // Null for a block, too.
  [[nodiscard]] const replay::PoolEnvelope* envelope(int32_t rank) const;
  [[nodiscard]] std::string name_of(const replay::PoolEnvelope& envelope) const;
  [[nodiscard]] Result<analysis::EnvelopeDetails> envelope_details(int32_t rank) const;
  // The (lowest) band of a rank, and back.
  [[nodiscard]] int32_t band_of(int32_t rank) const;
  [[nodiscard]] int32_t rank_of(int32_t band) const;
  [[nodiscard]] std::optional<int64_t> time_of(int32_t event) const;
  // Who asked for the band; nothing for an envelope.
  [[nodiscard]] Result<analysis::Who> who_of(int32_t rank);

  // How bands are painted; refers to the look and to what is kept.
  [[nodiscard]] Result<replay::PaintStyle> style(const Look& look, const GroupStack* groups = nullptr);
  // The same for ranks of blocks, which the look of segments says nothing of.
  [[nodiscard]] Result<replay::PaintStyle> style_of_blocks(const Look& look);
  [[nodiscard]] Result<std::span<const uint8_t>> lit(const analysis::BlockGroups& groups, int32_t kind);
  // Device::memo() for this view.
  template <typename T, typename Make>
  [[nodiscard]] Result<T*> kept(std::string_view key, const Make& make, size_t most = Memo::kUsual) {
    return device_->memo().get<T>(this, key, make, most);
  }

  std::shared_ptr<Device> device_;
  Bands kind_;
  Budget& budget_;
  const replay::Bands* bands_;  // the device's blocks, or one of these
  std::optional<replay::SegmentBands> segments_;
  std::optional<replay::PoolBands> pools_;
  std::optional<replay::Bands> chosen_;  // those of one of them that only_ means
  std::optional<Filtered> only_;
  std::optional<replay::Timeline> timeline_;  // refers to *bands_
  int32_t made_in_version_ = 0;               // of the device, when what is kept was found
};

}  // namespace gpustrata::session
