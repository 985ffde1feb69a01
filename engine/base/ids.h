// Ids are distinct types, so that a stack cannot be passed where a frame is meant. -1 means "none".
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace gpustrata {

template <typename Tag, typename Int = int32_t>
struct Id {
  Int value = -1;

  constexpr Id() = default;
  constexpr explicit Id(Int v) : value(v) {}
  constexpr explicit Id(size_t v) : value(static_cast<Int>(v)) {}

  [[nodiscard]] constexpr bool is_none() const { return value < 0; }
  [[nodiscard]] constexpr size_t index() const { return static_cast<size_t>(value); }
  constexpr auto operator<=>(const Id&) const = default;
};

using StringId = Id<struct StringTag>;
using FrameId = Id<struct FrameTag>;
using StackId = Id<struct StackTag>;             // none = no stack was recorded; an empty stack is a stack
using StreamId = Id<struct StreamTag, int16_t>;  // index into Recording::streams
using PoolId = Id<struct PoolTag, int16_t>;      // index into Recording::pools; none = unknown

}  // namespace gpustrata
