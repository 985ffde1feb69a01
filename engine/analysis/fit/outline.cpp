#include "engine/analysis/fit/outline.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/memory_refused.h"

namespace gpustrata::analysis {

namespace {

// Requests that must agree before the recordings count as one program again.
constexpr int32_t kWindow = 8;
// Requests that are passed at most to get there.
constexpr int32_t kFarthest = 512;
constexpr int64_t kMostComparisons = 20'000'000;
// Recordings of which more than one in so many is unmatched are not of one program.
constexpr int64_t kMostUnmatchedOf = 10;

[[nodiscard]] tl::unexpected<Error> no_room_to_match(const Budget& budget) {
  return memory_refused(budget, "to match the requests");
}

// Lines that are shown of its stack, outermost first; of a request that is not there, none.
[[nodiscard]] std::vector<std::string> lines_of(const RequestsToMatch& of, const AskedRequests& asked,
                                                int32_t own) {
  std::vector<std::string> lines;
  if (own >= asked.count()) return lines;
  const StackId stack = of.requests.log.stack[asked.row[own]];
  if (stack.is_none()) return lines;
  for (const FrameLine& line : frame_lines(of.recording, stack)) {
    if (!line.hidden) lines.push_back(frame_text(of.recording, line.frame));
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

class Merging {
 public:
  Merging(Outline& outline, Budget& budget) : outline_(outline), budget_(budget) {}

  [[nodiscard]] Status run() {
    const size_t last = outline_.last(), width = outline_.all.size();
    outline_.symbol.clear();
    outline_.index.clear();
    const auto kept = static_cast<int32_t>(outline_.kept[last].size());
    if (!outline_.index.resize(static_cast<size_t>(kept) * width, -1)) return no_room_to_match(budget_);
    for (int32_t at = 0; at < kept; ++at) {
      if (!outline_.symbol.push_back(symbol(last, at))) return no_room_to_match(budget_);
      outline_.index[static_cast<size_t>(at) * width + last] = at;
    }
    for (size_t r = 0; r < last; ++r) {
      if (auto status = merge(r); !status) return status;
    }
    return find_places();
  }

 private:
  [[nodiscard]] int32_t symbol(size_t recording, int32_t at) const {
    return outline_.asked[recording].symbol[outline_.kept[recording][at]];
  }
  [[nodiscard]] int32_t kept_count(size_t recording) const {
    return static_cast<int32_t>(outline_.kept[recording].size());
  }
  // The own request at a place of `kept`, and behind the last.
  [[nodiscard]] int32_t own_at(size_t recording, int32_t at) const {
    return at < kept_count(recording) ? outline_.kept[recording][at] : outline_.asked[recording].count();
  }

  // "batch=4 asks for 512 bytes by way of model.py:25:forward": the first line that the other does not have.
  [[nodiscard]] std::string request_text(size_t recording, int32_t own,
                                         const std::vector<std::string>& other) const {
    const AskedRequests& asked = outline_.asked[recording];
    const RequestsToMatch& of = outline_.all[recording];
    if (own >= asked.count()) return fmt::format("{} ends", of.name);
    const int64_t bytes = of.requests.log.size[asked.row[own]];
    const std::vector<std::string> lines = lines_of(of, asked, own);
    if (lines.empty()) return fmt::format("{} asks for {} bytes without a stack", of.name, bytes);
    size_t at = 0;
    while (at + 1 < lines.size() && at < other.size() && lines[at] == other[at]) ++at;
    return fmt::format("{} asks for {} bytes by way of {}", of.name, bytes, lines[at]);
  }

  [[nodiscard]] tl::unexpected<Error> another_program(size_t recording, int32_t request, int32_t at) const {
    size_t other = outline_.last();
    int32_t of_other = outline_.asked[other].count();
    for (size_t r = 0; request < outline_.count() && r < outline_.all.size(); ++r) {
      const int32_t own = outline_.own_of(request, r);
      if (own < 0) continue;
      other = r;
      of_other = own;
    }
    const int32_t own = own_at(recording, at);
    const auto lines = [&](size_t r, int32_t one) {
      return lines_of(outline_.all[r], outline_.asked[r], one);
    };
    return fail(
        ErrorCode::wrong_usage, -1,
        "the recordings are not of one program doing the same: at request {} {}, but {}. Record the same steps of the "
        "same program, with other sizes only",
        own, request_text(recording, own, lines(other, of_other)),
        request_text(other, of_other, lines(recording, own)));
  }

  // Do so many symbols agree from there on? At both ends, fewer.
  [[nodiscard]] bool agree(size_t recording, int32_t i, int32_t j) {
    const int32_t left = std::min(outline_.count() - i, kept_count(recording) - j);
    if (left == 0) return outline_.count() == i && kept_count(recording) == j;
    for (int32_t step = 0; step < std::min(kWindow, left); ++step) {
      ++comparisons_;
      if (outline_.symbol[i + step] != symbol(recording, j + step)) return false;
    }
    return true;
  }

  [[nodiscard]] Status merge(size_t recording) {
    const size_t width = outline_.all.size();
    const int32_t kept = kept_count(recording);
    Column<int32_t> symbols(budget_), index(budget_);
    if (!symbols.reserve(outline_.symbol.size()) || !index.reserve(outline_.index.size()))
      return no_room_to_match(budget_);
    const auto keep = [&](int32_t i, int32_t at) {
      const size_t from = index.size();
      if (!symbols.push_back(outline_.symbol[i]) ||
          !index.append(outline_.index.span().subspan(static_cast<size_t>(i) * width, width)))
        return false;
      index[from + recording] = at;
      return true;
    };
    const auto add = [&](int32_t j) {
      const size_t from = index.size();
      if (!symbols.push_back(symbol(recording, j)) || !index.resize(from + width, -1)) return false;
      index[from + recording] = j;
      return true;
    };
    int32_t i = 0, j = 0, first_i = -1, first_j = -1;
    int64_t passed = 0;
    while (i < outline_.count() && j < kept) {
      if (outline_.symbol[i] == symbol(recording, j)) {
        if (!keep(i++, j++)) return no_room_to_match(budget_);
        continue;
      }
      if (first_i < 0) {
        first_i = i;
        first_j = j;
      }
      const auto [in_merged, in_recording] = way_back(recording, i, j);
      passed += in_merged + in_recording;
      const bool is_lost = in_merged < 0 || passed > std::max<int64_t>(1, kept / kMostUnmatchedOf);
      if (is_lost) return another_program(recording, first_i, first_j);
      for (int32_t step = 0; step < in_merged; ++step) {
        if (!keep(i++, -1)) return no_room_to_match(budget_);
      }
      for (int32_t step = 0; step < in_recording; ++step) {
        if (!add(j++)) return no_room_to_match(budget_);
      }
    }
    // What only the longer one has at its end is left out.
    if (i == 0 || j == 0) return another_program(recording, i, j);
    for (int32_t rest = i; rest < outline_.count(); ++rest) {
      for (size_t r = 0; r < width; ++r) {
        const int32_t own = outline_.own_of(rest, r);
        if (own >= 0) outline_.ends[r] = std::min(outline_.ends[r], own);
      }
    }
    outline_.ends[recording] = std::min(outline_.ends[recording], own_at(recording, j));
    outline_.symbol = std::move(symbols);
    outline_.index = std::move(index);
    return {};
  }

  struct Passed {
    int32_t in_merged, in_recording;  // -1: none is found
  };
  [[nodiscard]] Passed way_back(size_t recording, int32_t i, int32_t j) {
    for (int32_t distance = 1; distance <= kFarthest; ++distance) {
      for (int32_t in_merged = 0; in_merged <= distance; ++in_merged) {
        const int32_t in_recording = distance - in_merged;
        if (i + in_merged > outline_.count() || j + in_recording > kept_count(recording)) continue;
        if (++comparisons_ > kMostComparisons) return {-1, -1};
        if (agree(recording, i + in_merged, j + in_recording)) return {in_merged, in_recording};
      }
    }
    return {-1, -1};
  }

  [[nodiscard]] Status find_places() {
    outline_.place.clear();
    for (size_t r = 0; r < outline_.all.size(); ++r) {
      Column<int32_t>& place = outline_.place.emplace_back(budget_);
      if (!place.resize(static_cast<size_t>(outline_.ends[r]) + 1, outline_.count()))
        return no_room_to_match(budget_);
      for (int32_t request = 0; request < outline_.count(); ++request) {
        const int32_t own = outline_.own_of(request, r);
        if (own >= 0 && !outline_.is_stand_in(request, r)) place[own] = request;
      }
    }
    // What is behind the shortest recording is left out, repeats and all.
    std::erase_if(outline_.repeats, [&](const OutlinedRepeat& one) {
      for (size_t r = 0; r < outline_.all.size(); ++r) {
        if (one.begin[r] < outline_.ends[r]) return false;
      }
      return true;
    });
    for (OutlinedRepeat& one : outline_.repeats) {
      for (size_t r = 0; r < outline_.all.size(); ++r) {
        if (!place_turns(one, r))
          return another_program(r, outline_.place[r][std::min(one.begin[r], outline_.ends[r])], 0);
      }
    }
    return {};
  }

  // All turns between are the same requests; with those at the ends they are in one piece.
  [[nodiscard]] bool place_turns(OutlinedRepeat& one, size_t r) {
    if (outline_.ends[r] < one.end(r)) return false;
    Column<int32_t>& place = outline_.place[r];
    const int32_t first = one.before > 0 ? place[one.begin[r]] + one.before * one.period
                          : one.between(r) > 0
                              ? place[one.begin[r]]
                              : place[one.begin[r]] - one.period;  // those that stand for it come before
    if (r > 0 && first != one.first) return false;
    one.first = first;
    for (int32_t turn = 0; turn < one.times[r]; ++turn) {
      const int32_t from_end = one.times[r] - turn;
      const int32_t wanted = turn < one.before       ? first - (one.before - turn) * one.period
                             : from_end <= one.after ? first + (1 + one.after - from_end) * one.period
                                                     : first;
      for (int32_t at = 0; at < one.period; ++at) {
        int32_t& placed = place[one.begin[r] + turn * one.period + at];
        if (one.is_between(r, turn) && turn > one.before) placed = wanted + at;
        if (placed != wanted + at) return false;
      }
    }
    return true;
  }

  Outline& outline_;
  Budget& budget_;
  int64_t comparisons_ = 0;
};

}  // namespace

size_t Outline::source_of(int32_t request) const {
  size_t source = 0;
  for (size_t r = 0; r < all.size(); ++r) {
    if (index_of(request, r) >= 0 && !is_stand_in(request, r)) source = r;
  }
  return source;
}

Turn Outline::turn_of(size_t recording, int32_t own) const {
  const auto behind = std::upper_bound(
      repeats.begin(), repeats.end(), own,
      [&](int32_t value, const OutlinedRepeat& one) { return value < one.begin[recording]; });
  if (behind == repeats.begin()) return {};
  const OutlinedRepeat& one = *(behind - 1);
  if (own >= one.end(recording)) return {};
  const int32_t from = own - one.begin[recording];
  return {static_cast<int32_t>(behind - 1 - repeats.begin()), from / one.period, from % one.period};
}

int32_t Outline::repeat_of(int32_t request) const {
  const auto behind =
      std::upper_bound(repeats.begin(), repeats.end(), request,
                       [](int32_t value, const OutlinedRepeat& one) { return value < one.first; });
  if (behind == repeats.begin() || request >= (behind - 1)->first + (behind - 1)->period) return -1;
  return static_cast<int32_t>(behind - 1 - repeats.begin());
}

std::string Outline::line_of(int32_t request) const {
  const size_t source = source_of(request);
  const auto lines = lines_of(all[source], asked[source], own_of(request, source));
  return lines.empty() ? "code without a stack" : lines.back();
}

Status read_requests(std::span<const RequestsToMatch> all, Outline& outline,
                     std::vector<FoundRepeat>& repeats, Budget& budget) {
  StackNumbers numbers(budget);
  for (const RequestsToMatch& one : all) outline.all.push_back(one);
  outline.asked.reserve(all.size());
  std::vector<Column<int64_t>> sizes;
  std::vector<RequestSequence> sequences;
  for (const RequestsToMatch& one : all) {
    AskedRequests& asked = outline.asked.emplace_back(budget);
    if (!asked.read(one.recording, one.requests, numbers, budget)) return no_room_to_match(budget);
    Column<int64_t>& size = sizes.emplace_back(budget);
    for (const int32_t row : asked.row) {
      if (!size.push_back(one.requests.log.size[row])) return no_room_to_match(budget);
    }
  }
  for (size_t r = 0; r < all.size(); ++r)
    sequences.push_back({outline.asked[r].symbol.span(), sizes[r].span(), outline.asked[r].before});
  auto found = find_repeats(sequences, budget);
  if (!found) return tl::unexpected(found.error());
  repeats = std::move(*found);
  return {};
}

Status outline_requests(std::span<const FoundRepeat> repeats, int32_t before, int32_t after, Outline& outline,
                        Budget& budget) {
  outline.repeats.clear();
  for (const FoundRepeat& one : repeats) {
    const int32_t fewest = *std::min_element(one.times.begin(), one.times.end());
    const int32_t at_end = std::min(after, fewest);
    outline.repeats.push_back({one, std::min(before, fewest - at_end), at_end, 0});
  }
  outline.kept.clear();
  outline.stands_in.clear();
  outline.ends.clear();
  for (size_t r = 0; r < outline.all.size(); ++r) {
    Column<int32_t>& kept = outline.kept.emplace_back(budget);
    Column<uint8_t>& stands_in = outline.stands_in.emplace_back(budget);
    outline.ends.push_back(outline.asked[r].count());
    const auto keep = [&](int32_t from, int32_t to, bool stand_in) {
      for (int32_t own = from; own < to; ++own) {
        if (!kept.push_back(own) || !stands_in.push_back(stand_in ? 1 : 0)) return false;
      }
      return true;
    };
    int32_t at = 0;
    for (const OutlinedRepeat& one : outline.repeats) {
      const int32_t between = one.begin[r] + one.before * one.period;
      const int32_t ending = one.end(r) - one.after * one.period;
      const bool stand_in = one.between(r) == 0;
      const int32_t turn = stand_in && one.after == 0 ? between - one.period : between;
      if (!keep(at, between, false) || !keep(turn, turn + one.period, stand_in))
        return no_room_to_match(budget);
      at = ending;
    }
    if (!keep(at, outline.asked[r].count(), false)) return no_room_to_match(budget);
  }
  return Merging(outline, budget).run();
}

}  // namespace gpustrata::analysis
