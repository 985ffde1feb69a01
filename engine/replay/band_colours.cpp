#include "engine/replay/band_colours.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace memstrata::replay {

namespace {

// Shares are of 256.
constexpr uint32_t kDimmedShare = 192;
constexpr uint32_t kLightnessStep = 9;

constexpr double kFullLight = 65535;
// 8192 steps of light: even the darkest two of the 256 sRGB values are 2.4 steps apart.
constexpr uint32_t kLightStep = 8;

struct Srgb {
  Srgb() {
    for (size_t i = 0; i < to_light.size(); ++i) {
      const double value = static_cast<double>(i) / 255;
      const double light = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
      to_light[i] = static_cast<uint16_t>(std::lround(light * kFullLight));
    }
    for (size_t i = 0; i < from_light.size(); ++i) {
      const double light = (static_cast<double>(i) + 0.5) * kLightStep / (kFullLight + 1);
      const double value = light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
      from_light[i] = static_cast<uint8_t>(std::lround(std::clamp(value, 0.0, 1.0) * 255));
    }
  }
  std::array<uint16_t, 256> to_light;
  std::array<uint8_t, 65536 / kLightStep> from_light;
};

const Srgb& srgb() {
  static const Srgb tables;
  return tables;
}

}  // namespace

BandColours::BandColours(const PaintStyle& style)
    : style_(style),
      bands_(std::max(static_cast<uint32_t>(style.palette.bands.size()), 1u)),
      from_light_(srgb().from_light.data()) {
  const auto& to_light = srgb().to_light;
  const auto add = [&](uint32_t plain) {
    for (const uint32_t colour : {plain, mix(plain, style.palette.dimmed_towards, kDimmedShare)}) {
      shades_.push_back(colour);
      lights_.push_back({.red = to_light[colour & 0xFF],
                         .green = to_light[colour >> 8 & 0xFF],
                         .blue = to_light[colour >> 16 & 0xFF]});
    }
  };
  shades_.reserve(size_t{bands_} * kLightnesses * 2 + 2);
  lights_.reserve(shades_.capacity());
  constexpr uint32_t middle = kLightnesses / 2;
  for (size_t band = 0; band < bands_; ++band) {
    const uint32_t pure = band < style.palette.bands.size() ? style.palette.bands[band] : 0xFF000000;
    for (uint32_t lightness = 0; lightness < kLightnesses; ++lightness) {
      add(lightness < middle ? darker(pure, (middle - lightness) * kLightnessStep)
                             : lighter(pure, (lightness - middle) * kLightnessStep));
    }
  }
  add(style.palette.envelope);
}

uint32_t BandColours::mean(const Weight& weight) const {
  if (weight.bytes() <= 0) return 0;
  // Sums of up to 2^47 bytes are below 2^63. Half a unit more, so that a mean of equals is not rounded down.
  const double share = 1.0 / static_cast<double>(weight.bytes());
  const auto channel = [&](uint64_t sum) -> uint32_t {
    const double mean = static_cast<double>(static_cast<int64_t>(sum)) * share + 0.5;
    return from_light_[std::min(static_cast<uint32_t>(static_cast<int32_t>(mean)), 65535u) / kLightStep];
  };
  return channel(weight.red()) | channel(weight.green()) << 8 | channel(weight.blue()) << 16;
}

}  // namespace memstrata::replay
