// How the size of one request depends on the parameters of a run, told from its sizes in a few recordings.
//
// Looked for in this order; the first that gives every recorded size, to the byte, is taken:
//   polynomial  fewer terms than recordings: 1, batch, batch*seq^2, ... (each power up to 2, a degree up to 3)
//   linear      of two recordings: a + b*batch with whole numbers, as a prefix or one more row leaves it
//   rounded     one term, rounded up to a multiple of a power of two up to 512 that divides all sizes, or of what divides them
//   polynomial  as many terms as recordings: goes through them whatever they are
// What is left is unexplained. Exact: integers of 128 bits, every product checked. O(terms^3) for each distinct list of sizes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/alloc/config.h"

namespace gpustrata::analysis {

inline constexpr size_t kMostParameters = 4;
inline constexpr size_t kMostFitted = 16;  // recordings
inline constexpr int64_t kLargestParameter = int64_t{1} << 31;
// No request is larger.
inline constexpr int64_t kLargestForetold = alloc::kLargestRequest;

// Values of the parameters, from 1 to kLargestParameter; those that there are not are 1.
using Point = std::array<int64_t, kMostParameters>;
using Monomial = std::array<uint8_t, kMostParameters>;  // powers

// Its value; -1 = beyond 2^62.
[[nodiscard]] int64_t value_of(const Monomial& monomial, const Point& at);

// Between low and high; `value` is the best guess. low = high where all is known.
struct ForetoldSize {
  int64_t low = 0, value = 0, high = 0;
  bool too_large = false;  // beyond kLargestForetold: nothing else is set
};

struct SizeFunction {
  static constexpr size_t kMostTerms = 3;
  enum class Kind : uint8_t { polynomial, rounded, unexplained };

  Kind kind = Kind::unexplained;
  bool confirmed =
      false;  // a recording more than its terms need agrees, and no other function of as few terms does
  uint8_t terms = 0;
  std::array<uint8_t, kMostTerms> monomial{};   // places in Fitting::monomials()
  std::array<int64_t, kMostTerms> numerator{};  // of a polynomial, over `denominator`
  int64_t denominator = 1;                      // > 0
  int64_t quantum = 1;                          // rounded: to multiples of it
  // Rounded: more than lowest, up to highest bytes for each unit of the monomial, as fractions.
  int64_t lowest = 0, lowest_of = 1, highest = 0, highest_of = 1;
  // Told from one recording by what the block is for (scaling.h), not through the sizes of several.
  bool guessed = false;
  // Another polynomial of as few terms that the recordings do not tell from this one; terms = 0: there is none.
  uint8_t other_terms = 0;
  std::array<uint8_t, kMostTerms> other_monomial{};
  std::array<int64_t, kMostTerms> other_numerator{};
  int64_t other_denominator = 1;
};

// Recordings at points; sizes are given in their order.
class Fitting {
 public:
  // `points`: 1 to kMostFitted, no two alike, of `parameters` parameters (up to kMostParameters).
  Fitting(std::span<const Point> points, size_t parameters);

  // A size of 0 = the recording does not have the request; then nothing explains it.
  [[nodiscard]] SizeFunction fit(std::span<const int64_t> sizes) const;
  // How often something is repeated: a polynomial whose constant is whole; its values need not be.
  [[nodiscard]] SizeFunction fit_count(std::span<const int64_t> times) const;
  // `sizes` as they were fitted.
  [[nodiscard]] ForetoldSize foretell(const SizeFunction& function, std::span<const int64_t> sizes,
                                      const Point& at) const;
  [[nodiscard]] const std::vector<Monomial>& monomials() const { return monomials_; }

 private:
  struct Polynomial;
  [[nodiscard]] bool solve(std::span<const uint8_t> support, std::span<const int64_t> sizes,
                           Polynomial& found) const;
  [[nodiscard]] bool fit_polynomial(size_t terms, std::span<const int64_t> sizes, SizeFunction& found) const;
  [[nodiscard]] bool fit_line(std::span<const int64_t> sizes, bool whole, SizeFunction& found) const;
  [[nodiscard]] bool fit_rounded(std::span<const int64_t> sizes, SizeFunction& found) const;
  [[nodiscard]] ForetoldSize bounds_of_unexplained(std::span<const int64_t> sizes, const Point& at) const;
  // Few: of so many parameters and degrees.
  [[nodiscard]] uint8_t monomial_count() const { return static_cast<uint8_t>(monomials_.size()); }
  [[nodiscard]] int64_t at(size_t recording, size_t monomial) const {
    return values_[recording * monomials_.size() + monomial];
  }

  std::vector<Point> points_;
  size_t parameters_;
  std::vector<Monomial> monomials_;  // by degree, the constant first
  std::vector<int64_t> values_;      // by recording and monomial
};

}  // namespace gpustrata::analysis
