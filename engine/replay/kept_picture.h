// The last picture of a timeline: what of it is asked for again is not drawn again.
//
// Columns lie on a fixed grid and a part of a picture equals that part of the whole, so a pan costs only the
// columns that came into view.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/base/column.h"
#include "engine/replay/timeline.h"

namespace gpustrata::replay {

class KeptPicture {
 public:
  explicit KeptPicture(Budget& budget) : pixels_(budget) {}

  // As Timeline::draw. Whoever changes what `colours` answers, or the timeline, calls forget() before. Empty if the budget
  // refuses; valid until the next call.
  [[nodiscard]] std::span<const uint32_t> draw(const Timeline& timeline, const ColumnGrid& columns,
                                               const RowGrid& rows, const BandColours* colours = nullptr);
  void forget() { drawn_.reset(); }
  // It has pixels that draw() of these would keep.
  [[nodiscard]] bool overlaps(const ColumnGrid& columns, const RowGrid& rows) const;
  // Columns that the last draw() had to draw.
  [[nodiscard]] int32_t columns_drawn() const { return columns_drawn_; }

  // What the last draw() was asked for; nothing after forget().
  struct Drawn {
    ColumnGrid columns;
    RowGrid rows;
  };
  [[nodiscard]] const std::optional<Drawn>& drawn() const { return drawn_; }
  [[nodiscard]] std::span<const uint32_t> pixels() const { return pixels_.span(); }

 private:
  // Columns [from, to) of those asked for that the last picture has from its column `source` on.
  struct Range {
    int32_t from = 0, to = 0, source = 0;
  };
  [[nodiscard]] Range shared_with(const ColumnGrid& columns, const RowGrid& rows) const;

  Column<uint32_t> pixels_;
  std::optional<Drawn> drawn_;
  int32_t columns_drawn_ = 0;
};

// Several of them, for pages that ask for several pictures in turn: what is on the screen, and a coarse one
// of everything.
class KeptPictures {
 public:
  explicit KeptPictures(Budget& budget) : pictures_{KeptPicture(budget), KeptPicture(budget)} {}

  // Goes on with the picture that has something of what is asked for, else in place of the older one.
  [[nodiscard]] std::span<const uint32_t> draw(const Timeline& timeline, const ColumnGrid& columns,
                                               const RowGrid& rows, const BandColours& colours);
  void forget() {
    for (KeptPicture& picture : pictures_) picture.forget();
  }
  // A picture that has all these columns, whatever its rows; null if there is none. Valid until the next
  // call.
  [[nodiscard]] const KeptPicture* with(const ColumnGrid& columns) const;

 private:
  std::array<KeptPicture, 2> pictures_;
  size_t last_ = 0;
};

}  // namespace gpustrata::replay
