// Which colour a block has, and which one many blocks have together.
//
// A mean is taken in linear light, every byte with the same weight: from a distance bands that are lower than
// a row look like that. sRGB as in IEC 61966-2-1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/replay/weight.h"

namespace gpustrata::replay {

// Colours as bytes R, G, B, A in memory (0xAABBGGRR as a little-endian number).
struct Palette {
  std::span<const uint32_t> bands;       // at least 1; chosen per block by `group`
  uint32_t nothing = 0;                  // background
  uint32_t dimmed_towards = 0xFF000000;  // colour that blocks outside the highlighted set fade to
  uint32_t envelope = 0xFF808080;        // what a private pool keeps and no block uses
};

struct PaintStyle {
  Palette palette;
  // Bands of a timeline that are not numbered as the blocks are (pool_bands.h): the rank of each, one of
  // `blocks` or more for an envelope. Empty: a band is a block.
  std::span<const int32_t> rank_of_band{};
  uint32_t blocks = 0;
  std::span<const uint32_t> group;   // per rank: index of a band colour; empty = a hash of the rank
  std::span<const uint8_t> matched;  // per rank: 0 = dimmed; empty = nothing is dimmed
  int32_t separator_min_rows = 4;    // bands at least this high get a darker top row
  // Lower bands have the plain colour of their group, so that many of them look like one area; 0 = each has its own.
  int32_t shaded_min_rows = 0;
  // Those lower bands of a group look alike, in bands that are stacked by group (grouped_bands.h).
  bool groups_are_plain = false;
};

// `from` moved towards `to` by share / 256, channel by channel; alpha too.
constexpr uint32_t mix(uint32_t from, uint32_t to, uint32_t share) {
  const uint32_t keep = 256 - share;
  const uint32_t even = ((from & 0x00FF00FF) * keep + (to & 0x00FF00FF) * share) >> 8;
  const uint32_t odd = ((from >> 8) & 0x00FF00FF) * keep + ((to >> 8) & 0x00FF00FF) * share;
  return (even & 0x00FF00FF) | (odd & 0xFF00FF00);
}

// Alpha stays.
constexpr uint32_t darker(uint32_t colour, uint32_t share) {
  return (mix(colour, 0, share) & 0x00FFFFFF) | (colour & 0xFF000000);
}
constexpr uint32_t lighter(uint32_t colour, uint32_t share) {
  return (mix(colour, 0x00FFFFFF, share) & 0x00FFFFFF) | (colour & 0xFF000000);
}

// As what is outside the highlighted set is shown.
[[nodiscard]] constexpr uint32_t dimmed(uint32_t colour, const Palette& palette) {
  return mix(colour, palette.dimmed_towards, 192);
}

class BandColours {
 public:
  // Refers to the columns of `style`. Without bands all is black.
  explicit BandColours(const PaintStyle& style);

  [[nodiscard]] const PaintStyle& style() const { return style_; }
  [[nodiscard]] uint32_t of(uint32_t rank) const { return shades_[shade_of(rank)]; }
  // Of a band so many rows high.
  [[nodiscard]] uint32_t of(uint32_t rank, size_t rows) const {
    return shades_[rows < static_cast<size_t>(style_.shaded_min_rows) ? plain_of(shade_of(rank))
                                                                      : shade_of(rank)];
  }
  [[nodiscard]] bool is_dimmed(uint32_t rank) const {
    return rank < style_.matched.size() && style_.matched[rank] == 0;
  }
  // Of what is no band; dimmed if anything is.
  [[nodiscard]] uint32_t of_other(uint32_t colour) const;
  // That many bytes in a colour.
  [[nodiscard]] static Weight weight_of_colour(uint32_t colour, int64_t bytes);
  // That many bytes of a block.
  [[nodiscard]] Weight weight_of(uint32_t rank, int64_t bytes) const { return {light_of(rank), bytes}; }
  // Of a byte of a block, seen from afar.
  [[nodiscard]] const Light& light_of(uint32_t rank) const {
    const size_t shade = shade_of(rank);
    return lights_[style_.shaded_min_rows > 0 ? plain_of(shade) : shade];
  }
  // 0x00BBGGRR of a weight spread over its bytes (at most 2^47; black if there are none).
  [[nodiscard]] uint32_t mean(const Weight& weight) const;

 private:
  static constexpr uint32_t kLightnesses = 7;

  // Without a lightness of its own, as dimmed as it is.
  [[nodiscard]] size_t plain_of(size_t shade) const {
    const size_t pairs = shade / 2;
    const bool is_envelope = pairs >= size_t{bands_} * kLightnesses;
    return is_envelope ? shade : (pairs / kLightnesses * kLightnesses + kLightnesses / 2) * 2 + shade % 2;
  }
  // Every colour has kLightnesses shades, each plain and dimmed; that of envelopes has one.
  [[nodiscard]] size_t shade_of(uint32_t rank) const {
    if (rank < style_.rank_of_band.size()) {
      rank = static_cast<uint32_t>(style_.rank_of_band[rank]);
      if (rank >= style_.blocks) return size_t{bands_} * kLightnesses * 2 + (style_.matched.empty() ? 0 : 1);
    }
    const size_t band = rank < style_.group.size() ? style_.group[rank] % bands_ : any_band(rank);
    // 3 has no common factor with 7: ranks up to 6 apart differ, and neighbours by several steps.
    const uint32_t lightness = rank * 3 % kLightnesses;
    return (band * kLightnesses + lightness) * 2 + (is_dimmed(rank) ? 1 : 0);
  }
  // Fibonacci hashing: neighbours get bands far apart.
  [[nodiscard]] size_t any_band(uint32_t rank) const {
    return static_cast<size_t>((rank * 0x9E3779B1U) * uint64_t{bands_} >> 32);
  }

  PaintStyle style_;
  uint32_t bands_;
  std::vector<uint32_t> shades_;
  std::vector<Light> lights_;  // of each
  const uint8_t* from_light_;  // sRGB of every 8 of 65536 steps of light
};

}  // namespace gpustrata::replay
