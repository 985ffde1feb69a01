#include "engine/replay/band_colours.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpustrata::replay {

namespace {

constexpr uint32_t kLightnessStep = 9;  // of 256

constexpr double kFullLight = 65535;
// 8192 steps of light: even the darkest two of the 256 sRGB values are 2.4 steps apart.
constexpr uint32_t kLightStep = 8;

// x^2.4 for x in (0, 1]. std::pow() would bring 7 KB of tables into the page.
double to_the_2_4(double x) {
  double root = 1;  // the fifth one, by Newton; 16 steps are enough for the least x here
  for (int step = 0; step < 16; ++step) root -= (root - x / (root * root * root * root)) / 5;
  const double cube = root * root * root;
  return cube * cube * cube * cube;
}

double light_of(double value) {
  return value <= 0.04045 ? value / 12.92 : to_the_2_4((value + 0.055) / 1.055);
}

struct Srgb {
  Srgb() {
    for (size_t i = 0; i < to_light.size(); ++i) {
      to_light[i] = static_cast<uint16_t>(std::lround(light_of(static_cast<double>(i) / 255) * kFullLight));
    }
    uint8_t value = 0;  // the nearest one, up to `end`
    double end = light_of(0.5 / 255);
    for (size_t i = 0; i < from_light.size(); ++i) {
      const double light = (static_cast<double>(i) + 0.5) * kLightStep / (kFullLight + 1);
      while (value < 255 && end <= light) end = light_of((++value + 0.5) / 255);
      from_light[i] = value;
    }
  }
  std::array<uint16_t, 256> to_light;
  std::array<uint8_t, 65536 / kLightStep> from_light;
};

const Srgb& srgb() {
  static const Srgb tables;
  return tables;
}

[[nodiscard]] Light light_of_colour(uint32_t colour) {
  const auto& to_light = srgb().to_light;
  return {.red = to_light[colour & 0xFF],
          .green = to_light[colour >> 8 & 0xFF],
          .blue = to_light[colour >> 16 & 0xFF]};
}

}  // namespace

BandColours::BandColours(const PaintStyle& style)
    : style_(style),
      bands_(std::max(static_cast<uint32_t>(style.palette.bands.size()), 1u)),
      from_light_(srgb().from_light.data()) {
  const auto add = [&](uint32_t plain) {
    for (const uint32_t colour : {plain, dimmed(plain, style.palette)}) {
      shades_.push_back(colour);
      lights_.push_back(light_of_colour(colour));
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

uint32_t BandColours::of_other(uint32_t colour) const {
  return style_.matched.empty() ? colour : dimmed(colour, style_.palette);
}

Weight BandColours::weight_of_colour(uint32_t colour, int64_t bytes) {
  return {light_of_colour(colour), bytes};
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

}  // namespace gpustrata::replay
