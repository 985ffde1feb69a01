#include "engine/base/shown.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/base/utf8.h"

namespace gpustrata::utf8 {

namespace {

struct Range {
  uint32_t first, last;
};
constexpr std::array kNotShown = std::to_array<Range>({
    {0x00, 0x1F},     {0x7F, 0x9F},       {0xAD, 0xAD},      // controls, soft hyphen
    {0x34F, 0x34F},   {0x61C, 0x61C},     {0x115F, 0x1160},  // joiner, direction, fillers
    {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x200B, 0x200F},  // vowels without width, Mongolian, directions
    {0x2028, 0x202E}, {0x2060, 0x206F},   {0x3164, 0x3164},  // lines, directions, invisible operators
    {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},  // variants, byte order mark
    {0xFFF9, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
});

}  // namespace

bool is_shown(std::string_view sequence) {
  const uint32_t value = code_point(sequence);
  return std::none_of(kNotShown.begin(), kNotShown.end(),
                      [&](Range range) { return value >= range.first && value <= range.last; });
}

}  // namespace gpustrata::utf8
