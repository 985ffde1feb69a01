// Compressed bytes in, bytes out, in steps of any size. Memory is charged to the budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/base/budget.h"

namespace gpustrata::io {

enum class Packing : uint8_t { stored, deflate, gzip, zstd };
[[nodiscard]] std::string_view name_of(Packing packing);

inline constexpr std::string_view kChecksumProblem = "the checksum does not fit";
inline constexpr std::string_view kMemoryProblem = "there is not enough memory for unpacking";

class Decoder {
 public:
  enum class State : uint8_t {
    more,     // room in the output and input left over mean: call again
    ended,    // the stream is complete, its checksum is right; the next call begins another one
    damaged,  // see problem(); nothing more comes
  };
  struct Step {
    size_t taken;  // of the input
    size_t made;   // of the output
    State state;
  };

  virtual ~Decoder() = default;
  // A stored stream never ends by itself.
  [[nodiscard]] virtual Step decode(std::span<const std::byte> in, std::span<std::byte> out) = 0;
  // A half-sentence: "the checksum does not fit".
  [[nodiscard]] virtual std::string_view problem() const = 0;
  // Bytes of input before the part where it was found, whatever the steps were.
  [[nodiscard]] virtual int64_t problem_offset() const = 0;
};

[[nodiscard]] std::unique_ptr<Decoder> make_decoder(Packing packing, Budget& budget);
// zlib.cpp and zstd.cpp
[[nodiscard]] std::unique_ptr<Decoder> make_inflater(bool gzip, Budget& budget);
[[nodiscard]] std::unique_ptr<Decoder> make_zstd_decoder(Budget& budget);

}  // namespace gpustrata::io
