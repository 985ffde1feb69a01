// What a Session keeps; only its own files include this.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/block_attributes.h"
#include "engine/analysis/block_filter.h"
#include "engine/analysis/block_groups.h"
#include "engine/analysis/device_index.h"
#include "engine/base/content_hash.h"
#include "engine/io/any_reader.h"
#include "engine/model/recording.h"
#include "engine/replay/device.h"
#include "engine/replay/kept_picture.h"
#include "engine/replay/paint.h"
#include "engine/replay/pool_bands.h"
#include "engine/replay/segment_bands.h"
#include "engine/session/session.h"

namespace memstrata::session {

struct Session::State {
  explicit State(int64_t budget_bytes) : budget(budget_bytes), recording(budget), reader(recording) {}

  // The timeline of one device. `timeline` refers to the bands, so a View never moves.
  struct View {
    explicit View(std::unique_ptr<replay::Device> opened) : device(std::move(opened)) {}
    [[nodiscard]] static Result<std::unique_ptr<View>> of(const model::Recording& recording,
                                                          const model::Part& part, int32_t device,
                                                          Bands bands);

    std::unique_ptr<replay::Device> device;
    std::optional<replay::SegmentBands> segments;  // at most one of these two
    std::optional<replay::PoolBands> pools;
    std::optional<replay::Timeline> timeline;             // of bands()
    std::optional<analysis::BlockAttributes> attributes;  // asked for by filters and colours
    std::optional<analysis::DeviceIndex> index;           // asked for by details and labels
    std::unique_ptr<StateView> state;                     // refers to what is above
    std::optional<analysis::Matches> matches;
    std::optional<analysis::BlockGroups> groups;
    std::optional<Column<uint8_t>> lit;  // of the kind that is lit, as Matches::matched

    [[nodiscard]] const replay::BlockLives& lives() const { return device->lives; }
    // What is drawn.
    [[nodiscard]] const replay::Bands& bands() const {
      if (segments) return *segments;
      if (pools) return *pools;
      return lives();
    }
    // What ranks count: the bands, or the blocks where envelopes are among the bands.
    [[nodiscard]] const replay::Bands& ranked() const { return pools ? lives() : bands(); }
    [[nodiscard]] int32_t from_start() const { return segments ? segments->from_start : lives().from_start; }
    // Null for a block, too.
    [[nodiscard]] const replay::PoolEnvelope* envelope(int32_t rank) const {
      return pools && rank >= lives().count() ? &pools->envelopes[static_cast<size_t>(rank - lives().count())]
                                              : nullptr;
    }
    // The (lowest) band of a rank, and back.
    [[nodiscard]] int32_t band_of(int32_t rank) const {
      if (!pools) return rank;
      const replay::PoolEnvelope* pool = envelope(rank);
      return pool != nullptr ? pool->first_band : pools->band_of_rank[static_cast<size_t>(rank)];
    }
    [[nodiscard]] int32_t rank_of(int32_t band) const {
      return pools && band >= 0 ? pools->rank_of_band[static_cast<size_t>(band)] : band;
    }
  };

  [[nodiscard]] bool has_rank(int32_t rank) const {
    if (!view || rank < 0) return false;
    const size_t envelopes = view->pools ? view->pools->envelopes.size() : 0;
    return static_cast<size_t>(rank) < static_cast<size_t>(view->ranked().count()) + envelopes;
  }
  [[nodiscard]] std::string name_of(const replay::PoolEnvelope& envelope) const;
  [[nodiscard]] std::string envelope_details(int32_t rank) const;
  // How bands are painted. It refers to the view.
  [[nodiscard]] replay::PaintStyle style(bool dim_others) const;
  [[nodiscard]] std::optional<int64_t> time_of(int32_t event) const;
  [[nodiscard]] std::string view_json() const;
  // Computed when first asked for.
  [[nodiscard]] Status find_attributes();
  [[nodiscard]] Status find_index();
  [[nodiscard]] Status open_state();

  Budget budget;
  model::Recording recording;
  io::AnyReader reader;
  int64_t bytes_read = 0;
  ContentHash hash;
  std::span<std::byte> room;  // where the caller writes what it commits next
  std::unique_ptr<View> view;

  std::vector<uint32_t> bands{0xFFA7794E};
  replay::Palette palette;
  replay::KeptPictures drawn{budget};  // the last pictures before transposing, and the last one after
  bool drawn_dimmed = false;
  Column<uint32_t> rgba{budget};
  Column<uint32_t> map_rgba{budget};
};

}  // namespace memstrata::session
