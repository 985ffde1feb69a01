#include "engine/analysis/fit/size_function.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpustrata::analysis {

namespace {

using Wide = __int128;

constexpr int kMostDegree = 3;
constexpr uint8_t kMostPower = 2;
constexpr int64_t kLargestFactor = int64_t{1} << 62;
// Of three terms: products of two monomials and a size stay within 126 bits.
constexpr int64_t kLargestMonomialOfThree = int64_t{1} << 40;
constexpr int64_t kLargestSizeOfThree = int64_t{1} << 42;

[[nodiscard]] int degree_of(const Monomial& monomial) {
  return std::accumulate(monomial.begin(), monomial.end(), 0);
}

[[nodiscard]] Wide magnitude(Wide number) { return number < 0 ? -number : number; }

[[nodiscard]] Wide divisor_of(Wide a, Wide b) {
  a = magnitude(a);
  b = magnitude(b);
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

[[nodiscard]] Wide floor_of(Wide number, Wide by) {
  const Wide whole = number / by;
  return number % by != 0 && (number < 0) != (by < 0) ? whole - 1 : whole;
}

}  // namespace

int64_t value_of(const Monomial& monomial, const Point& at) {
  Wide value = 1;
  for (size_t i = 0; i < kMostParameters; ++i) {
    for (uint8_t power = 0; power < monomial[i]; ++power) {
      value *= at[i];
      if (value > kLargestFactor) return -1;
    }
  }
  return static_cast<int64_t>(value);
}

struct Fitting::Polynomial {
  std::array<Wide, SizeFunction::kMostTerms> numerator{};
  Wide denominator = 1;
};

Fitting::Fitting(std::span<const Point> points, size_t parameters)
    : points_(points.begin(), points.end()), parameters_(parameters) {
  Monomial powers{};
  const auto add_all = [&](const auto& self, size_t parameter) -> void {
    if (parameter == parameters_) {
      const bool is_small = std::all_of(points_.begin(), points_.end(),
                                        [&](const Point& at) { return value_of(powers, at) > 0; });
      if (degree_of(powers) <= kMostDegree && is_small) monomials_.push_back(powers);
      return;
    }
    for (powers[parameter] = 0; powers[parameter] <= kMostPower; ++powers[parameter])
      self(self, parameter + 1);
    powers[parameter] = 0;
  };
  add_all(add_all, 0);
  std::stable_sort(monomials_.begin(), monomials_.end(), [](const Monomial& a, const Monomial& b) {
    return degree_of(a) != degree_of(b) ? degree_of(a) < degree_of(b) : a > b;
  });
  for (const Point& point : points_) {
    for (const Monomial& monomial : monomials_) values_.push_back(value_of(monomial, point));
  }
}

// By Cramer's rule from the first recordings that tell the terms apart, checked with all of them.
bool Fitting::solve(std::span<const uint8_t> support, std::span<const int64_t> sizes,
                    Polynomial& found) const {
  const size_t count = points_.size();
  const auto m = [&](size_t recording, size_t term) -> Wide { return at(recording, support[term]); };
  Wide determinant = 0;
  if (support.size() == 1) {
    determinant = m(0, 0);
    found.numerator[0] = sizes[0];
  } else if (support.size() == 2) {
    for (size_t b = 1; b < count && determinant == 0; ++b) {
      determinant = m(0, 0) * m(b, 1) - m(0, 1) * m(b, 0);
      found.numerator[0] = Wide{sizes[0]} * m(b, 1) - Wide{sizes[b]} * m(0, 1);
      found.numerator[1] = m(0, 0) * sizes[b] - m(b, 0) * sizes[0];
    }
  } else {
    for (size_t r = 0; r < count; ++r) {
      if (sizes[r] > kLargestSizeOfThree) return false;
      for (size_t term = 0; term < 3; ++term) {
        if (m(r, term) > kLargestMonomialOfThree) return false;
      }
    }
    const auto of_rows = [&](size_t b, size_t c, const auto& column) {
      return column(0, 0) * (column(b, 1) * column(c, 2) - column(b, 2) * column(c, 1)) -
             column(0, 1) * (column(b, 0) * column(c, 2) - column(b, 2) * column(c, 0)) +
             column(0, 2) * (column(b, 0) * column(c, 1) - column(b, 1) * column(c, 0));
    };
    for (size_t b = 1; b < count && determinant == 0; ++b) {
      for (size_t c = b + 1; c < count && determinant == 0; ++c) {
        determinant = of_rows(b, c, m);
        for (size_t replaced = 0; replaced < 3 && determinant != 0; ++replaced) {
          found.numerator[replaced] = of_rows(b, c, [&](size_t recording, size_t term) -> Wide {
            return term == replaced ? Wide{sizes[recording]} : m(recording, term);
          });
        }
      }
    }
  }
  if (determinant == 0) return false;
  Wide common = determinant;
  for (size_t i = 0; i < support.size(); ++i) common = divisor_of(common, found.numerator[i]);
  if (determinant < 0) common = -common;
  found.denominator = determinant / common;
  if (found.denominator > kLargestFactor) return false;
  for (size_t i = 0; i < support.size(); ++i) {
    found.numerator[i] /= common;
    // A term of nothing: fewer explain it as well.
    if (found.numerator[i] == 0 || magnitude(found.numerator[i]) > kLargestFactor) return false;
  }
  for (size_t r = 0; r < count; ++r) {
    Wide sum = 0;
    for (size_t i = 0; i < support.size(); ++i) sum += found.numerator[i] * m(r, i);
    if (sum != found.denominator * sizes[r]) return false;
  }
  return true;
}

bool Fitting::fit_polynomial(size_t terms, std::span<const int64_t> sizes, SizeFunction& found) const {
  const uint8_t count = monomial_count();
  bool is_found = false;
  std::array<uint8_t, SizeFunction::kMostTerms> support{};
  const auto try_all = [&](const auto& self, size_t place, uint8_t from) -> void {
    if (found.other_terms > 0) return;
    if (place < terms) {
      for (uint8_t one = from; one < count; ++one) {
        support[place] = one;
        self(self, place + 1, static_cast<uint8_t>(one + 1));
      }
      return;
    }
    Polynomial polynomial;
    if (!solve({support.data(), terms}, sizes, polynomial)) return;
    auto& monomial = is_found ? found.other_monomial : found.monomial;
    auto& numerator = is_found ? found.other_numerator : found.numerator;
    for (size_t i = 0; i < terms; ++i) {
      monomial[i] = support[i];
      numerator[i] = static_cast<int64_t>(polynomial.numerator[i]);
    }
    (is_found ? found.other_terms : found.terms) = static_cast<uint8_t>(terms);
    (is_found ? found.other_denominator : found.denominator) = static_cast<int64_t>(polynomial.denominator);
    is_found = true;
  };
  try_all(try_all, 0, 0);
  if (!is_found) return false;
  found.kind = SizeFunction::Kind::polynomial;
  found.confirmed = terms < points_.size() && found.other_terms == 0;
  return true;
}

bool Fitting::fit_line(std::span<const int64_t> sizes, bool whole, SizeFunction& found) const {
  for (uint8_t one = 1; one < monomial_count(); ++one) {
    Polynomial polynomial;
    const std::array<uint8_t, 2> support{0, one};
    if (degree_of(monomials_[one]) > 1 || !solve(support, sizes, polynomial)) continue;
    const auto constant = polynomial.numerator[0], slope = polynomial.numerator[1];
    if (slope < 0) continue;
    if (whole && (polynomial.denominator != 1 || (constant < 0 && constant % slope != 0))) continue;
    found.kind = SizeFunction::Kind::polynomial;
    found.terms = 2;
    found.monomial = {0, one};
    found.numerator = {static_cast<int64_t>(constant), static_cast<int64_t>(slope)};
    found.denominator = static_cast<int64_t>(polynomial.denominator);
    return true;
  }
  return false;
}

// size = quantum * ceil(c * m / quantum): (size - quantum) / m < c <= size / m for each recording.
bool Fitting::fit_rounded(std::span<const int64_t> sizes, SizeFunction& found) const {
  int64_t common = 0;
  for (const int64_t size : sizes) common = std::gcd(common, size);
  // The largest: whatever is rounded to less lies within its bounds.
  int64_t quantum_of_two = 1;
  while (quantum_of_two < 512 && common % (quantum_of_two * 2) == 0) quantum_of_two *= 2;
  std::vector<int64_t> quanta;
  if (quantum_of_two > 1) quanta.push_back(quantum_of_two);
  if (points_.size() > 2 && common > 512) quanta.push_back(common);
  for (uint8_t one = 1; one < monomial_count(); ++one) {
    for (const int64_t quantum : quanta) {
      int64_t low = -1, low_of = 1, high = INT64_MAX, high_of = 1;
      for (size_t r = 0; r < sizes.size(); ++r) {
        const int64_t unit = at(r, one);
        if (low < 0 || Wide{sizes[r] - quantum} * low_of > Wide{low} * unit) {
          low = sizes[r] - quantum;
          low_of = unit;
        }
        if (Wide{sizes[r]} * high_of < Wide{high} * unit) {
          high = sizes[r];
          high_of = unit;
        }
      }
      if (Wide{low} * high_of >= Wide{high} * low_of) continue;
      found.kind = SizeFunction::Kind::rounded;
      found.terms = 1;
      found.monomial[0] = one;
      found.quantum = quantum;
      found.lowest = low;
      found.lowest_of = low_of;
      found.highest = high;
      found.highest_of = high_of;
      return true;
    }
  }
  return false;
}

SizeFunction Fitting::fit(std::span<const int64_t> sizes) const {
  SizeFunction found;
  const bool is_usable = std::all_of(sizes.begin(), sizes.end(),
                                     [](int64_t size) { return size > 0 && size <= kLargestForetold; });
  if (!is_usable) return found;
  for (size_t terms = 1; terms < points_.size() && terms <= SizeFunction::kMostTerms; ++terms) {
    if (fit_polynomial(terms, sizes, found)) return found;
  }
  if (points_.size() == 2 && fit_line(sizes, true, found)) return found;
  if (points_.size() > 1 && fit_rounded(sizes, found)) return found;
  if (points_.size() <= SizeFunction::kMostTerms) (void)fit_polynomial(points_.size(), sizes, found);
  return found;
}

SizeFunction Fitting::fit_count(std::span<const int64_t> times) const {
  SizeFunction found;
  if (std::any_of(times.begin(), times.end(), [](int64_t one) { return one <= 0; })) return found;
  bool is_found = false;
  for (size_t terms = 1; !is_found && terms < points_.size() && terms <= SizeFunction::kMostTerms; ++terms)
    is_found = fit_polynomial(terms, times, found);
  if (!is_found && points_.size() == 2) is_found = fit_line(times, false, found);
  // So many turns more, whatever the parameters: a whole number.
  if (is_found && found.terms > 1 && found.monomial[0] == 0 && found.numerator[0] % found.denominator != 0)
    return {};
  return found;
}

// That it grows with nothing, or as the highest monomial does. std::pow() and std::log() would bring 8 KB of tables into the page.
ForetoldSize Fitting::bounds_of_unexplained(std::span<const int64_t> sizes, const Point& to) const {
  const double largest = static_cast<double>(kLargestForetold);
  ForetoldSize foretold{INT64_MAX, 0, 0, false};
  double high = 0;
  size_t nearest = 0;
  double nearest_by = -1;  // how many times as large or small as they are the parameters are, multiplied
  for (size_t r = 0; r < sizes.size(); ++r) {
    double growth = 1, shrinking = 1, distance = 1;
    const auto ratio_of = [&](size_t i) {
      return static_cast<double>(to[i]) / static_cast<double>(points_[r][i]);
    };
    for (const Monomial& monomial : monomials_) {
      double ratio = 1;
      for (size_t i = 0; i < parameters_; ++i) {
        for (uint8_t power = 0; power < monomial[i]; ++power) ratio *= ratio_of(i);
      }
      growth = std::max(growth, ratio);
      shrinking = std::min(shrinking, ratio);
    }
    for (size_t i = 0; i < parameters_; ++i) distance *= std::max(ratio_of(i), 1 / ratio_of(i));
    const auto size = static_cast<double>(sizes[r]);
    foretold.low = std::min(foretold.low, static_cast<int64_t>(size * shrinking));
    high = std::max(high, std::ceil(size * growth));
    if (nearest_by < 0 || distance < nearest_by) {
      nearest_by = distance;
      nearest = r;
    }
  }
  if (!(high < largest)) return {0, 0, 0, true};
  foretold.high = static_cast<int64_t>(high);
  double scale = 1;
  for (size_t i = 0; i < parameters_; ++i)
    scale *= static_cast<double>(to[i]) / static_cast<double>(points_[nearest][i]);
  const double value = nearest_by == 1 ? static_cast<double>(sizes[nearest])
                                       : std::ceil(static_cast<double>(sizes[nearest]) * scale);
  foretold.value = std::clamp(static_cast<int64_t>(std::min(value, largest)), foretold.low, foretold.high);
  if (nearest_by == 1) foretold.low = foretold.high = foretold.value;
  return foretold;
}

ForetoldSize Fitting::foretell(const SizeFunction& function, std::span<const int64_t> sizes,
                               const Point& to) const {
  const ForetoldSize too_large{0, 0, 0, true};
  const auto of_polynomial = [&](size_t terms, const auto& monomial, const auto& numerator,
                                 int64_t denominator) -> ForetoldSize {
    Wide sum = 0;
    for (size_t i = 0; i < terms; ++i) {
      const int64_t unit = value_of(monomials_[monomial[i]], to);
      if (unit < 0) return too_large;
      sum += Wide{numerator[i]} * unit;
    }
    const Wide low = floor_of(sum, denominator), high = -floor_of(-sum, denominator);
    if (high > kLargestForetold) return too_large;
    // Sizes that shrink below one byte are not what the function says.
    return {static_cast<int64_t>(std::max<Wide>(low, 0)), static_cast<int64_t>(std::max<Wide>(high, 0)),
            static_cast<int64_t>(std::max<Wide>(high, 1)), false};
  };
  switch (function.kind) {
    case SizeFunction::Kind::polynomial: {
      ForetoldSize one =
          of_polynomial(function.terms, function.monomial, function.numerator, function.denominator);
      // As many terms as recordings: others would go through them, too, and this is but the simplest.
      if (one.too_large || function.other_terms == 0 ||
          (function.terms >= points_.size() && !function.guessed))
        return one;
      const ForetoldSize other = of_polynomial(function.other_terms, function.other_monomial,
                                               function.other_numerator, function.other_denominator);
      if (other.too_large) return too_large;
      one.low = std::min(one.low, other.low);
      one.high = std::max(one.high, other.high);
      return one;
    }
    case SizeFunction::Kind::rounded: {
      const int64_t unit = value_of(monomials_[function.monomial[0]], to);
      if (unit < 0) return too_large;
      // Just above a fraction: one multiple more than its floor.
      const Wide low = floor_of(Wide{function.lowest} * unit / function.lowest_of, function.quantum) + 1;
      const Wide bytes = -floor_of(-(Wide{function.highest} * unit), function.highest_of);
      const Wide high = -floor_of(-bytes, function.quantum);
      if (high > kLargestForetold / function.quantum) return too_large;
      const auto most = static_cast<int64_t>(high) * function.quantum;
      return {std::min(static_cast<int64_t>(low) * function.quantum, most), most, most, false};
    }
    default:
      return bounds_of_unexplained(sizes, to);
  }
}

}  // namespace gpustrata::analysis
