#include "engine/analysis/steps/back_jumps.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace gpustrata::analysis {

namespace {

constexpr int32_t kNeverCome = std::numeric_limits<int32_t>::max();
// A line is one that a function is left at, or entered at, if that many of the times were there.
constexpr int64_t kOneOf = 4;

}  // namespace

BackJumps::BackJumps(const CallSites& calls, Budget& budget)
    : calls_(calls),
      site_of_place_(budget),
      place_of_site_(budget),
      function_(budget),
      first_place_(budget),
      first_(budget),
      exits_of_function_(budget),
      entries_of_function_(budget),
      own_first_(budget),
      visits_(budget),
      exits_(budget),
      entries_(budget),
      passes_(budget),
      links_(budget),
      until_(budget),
      jumps_(budget) {}

bool BackJumps::find() { return order_places() && count_comings() && find_jumps() && count_passes(); }

bool BackJumps::order_places() {
  const size_t count = calls_.sites.size();
  if (!site_of_place_.reserve(count) || !place_of_site_.resize(count, 0) || !function_.resize(count, 0))
    return false;
  for (size_t i = 0; i < count; ++i) {
    if (!site_of_place_.push_back(static_cast<int32_t>(i))) return false;
  }
  const auto function = [&](int32_t site) {
    return std::tuple(calls_.sites[site].caller, calls_.sites[site].function);
  };
  std::sort(site_of_place_.data(), site_of_place_.data() + count, [&](int32_t a, int32_t b) {
    return std::tuple(function(a), calls_.line(a), a) < std::tuple(function(b), calls_.line(b), b);
  });
  for (size_t i = 0; i < count; ++i) {
    const int32_t site = site_of_place_[i];
    place_of_site_[site] = static_cast<int32_t>(i);
    if (i == 0 || function(site) != function(site_of_place_[i - 1])) {
      if (!first_place_.push_back(static_cast<int32_t>(i))) return false;
    }
    function_[i] = static_cast<int32_t>(first_place_.size()) - 1;
  }
  return first_place_.push_back(static_cast<int32_t>(count));
}

PlaceRange BackJumps::function_of(int32_t place) const {
  return {first_place_[function_[place]], first_place_[function_[place] + 1] - 1};
}

bool BackJumps::count_comings() {
  const size_t sites = calls_.sites.size(), functions = first_place_.size() - 1;
  for (Column<int32_t>* const one : {&visits_, &exits_, &entries_}) {
    if (!one->resize(sites, 0)) return false;
  }
  if (!own_first_.resize(sites, kNeverCome) || !first_.resize(functions, kNeverCome) ||
      !exits_of_function_.resize(functions, 0) || !entries_of_function_.resize(functions, 0))
    return false;
  const auto function = [&](int32_t site) { return function_[place_of_site_[site]]; };
  int32_t before = CallSites::kRoot;
  for (size_t i = 0; i < calls_.site.size(); ++i) {
    const int32_t here = calls_.site[i];
    own_first_[here] = std::min(own_first_[here], static_cast<int32_t>(i));
    if (here == before) {
      ++visits_[here];
      continue;
    }
    const CallSites::Parting parting = calls_.parting(before, here);
    const bool same = parting.from >= 0 && parting.to >= 0 && function(parting.from) == function(parting.to);
    calls_.each_entered(parting, here, [&](int32_t site) {
      ++visits_[site];
      first_[function(site)] = std::min(first_[function(site)], static_cast<int32_t>(i));
      if (same && site == parting.to) return;
      ++entries_[site];
      ++entries_of_function_[function(site)];
    });
    calls_.each_entered(parting, before, [&](int32_t site) {
      if (same && site == parting.from) return;
      ++exits_[site];
      ++exits_of_function_[function(site)];
    });
    before = here;
  }
  return true;
}

bool BackJumps::is_called_again(int32_t from, int32_t to) const {
  const int32_t place = place_of_site_[from];
  const int64_t exits = exits_of_function_[function_[place]],
                entries = entries_of_function_[function_[place]];
  return exits > 0 && exits_[from] * kOneOf >= exits && entries_[to] * kOneOf >= entries;
}

int32_t BackJumps::first_of(int32_t site, int32_t at) const {
  return site < 0 ? own_first_[at] : first_[function_[place_of_site_[site]]];
}

bool BackJumps::find_jumps() {
  for (size_t i = 1; i < calls_.site.size(); ++i) {
    const int32_t before = calls_.site[i - 1], here = calls_.site[i];
    const auto add = [&](int32_t to, int32_t from) {
      return jumps_.push_back({place_of_site_[to], place_of_site_[from], static_cast<int32_t>(i)});
    };
    if (before == here) {
      if (!add(here, here)) return false;
      continue;
    }
    const auto [at, from, to] = calls_.parting(before, here);
    const bool same =
        from >= 0 && to >= 0 && function_[place_of_site_[from]] == function_[place_of_site_[to]];
    if (!same) {
      // A line that calls what it called before another function.
      if (first_of(to, at) < first_of(from, at) && !add(at, at)) return false;
      continue;
    }
    if (calls_.line(to) >= calls_.line(from)) continue;
    if (is_called_again(from, to) ? !add(at, at) : !add(to, from)) return false;
  }
  return true;
}

bool BackJumps::count_passes() {
  const size_t count = site_of_place_.size();
  if (!passes_.resize(count + 1, 0) || !links_.resize(count + 1, 0) || !until_.resize(count + 1, 0))
    return false;
  for (const BackJump& jump : jumps_) {
    ++passes_[jump.to];
    --passes_[jump.from + 1];
    ++links_[jump.to];
    --links_[jump.from];
  }
  for (size_t i = 1; i <= count; ++i) {
    passes_[i] += passes_[i - 1];
    links_[i] += links_[i - 1];
  }
  for (const int32_t site : calls_.site) ++until_[place_of_site_[site] + 1];
  for (size_t site = calls_.sites.size(); site-- > 1;) {  // callers have lower numbers
    until_[place_of_site_[calls_.sites[site].caller] + 1] += until_[place_of_site_[site] + 1];
  }
  for (size_t i = 1; i <= count; ++i) until_[i] += until_[i - 1];
  return true;
}

PlaceRange BackJumps::held_with(int32_t place) const {
  const PlaceRange function = function_of(place);
  PlaceRange held{place, place};
  while (held.first > function.first && links_[held.first - 1] > 0) --held.first;
  while (held.last < function.last && links_[held.last] > 0) ++held.last;
  return held;
}

PlaceRange BackJumps::reach_of(int32_t place) const {
  PlaceRange reach{place, place};
  for (const BackJump& jump : jumps_) {
    if (!jump.is_across(place)) continue;
    reach.first = std::min(reach.first, jump.to);
    reach.last = std::max(reach.last, jump.from);
  }
  return reach;
}

}  // namespace gpustrata::analysis
