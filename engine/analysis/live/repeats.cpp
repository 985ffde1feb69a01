#include "engine/analysis/live/repeats.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/analysis/stacks/own_frame.h"
#include "engine/analysis/steps/call_sites.h"
#include "engine/base/charge.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

constexpr int32_t kMostLookedBelow = 200;  // calls that are looked below
constexpr double kNearlyAll = 0.9;         // of the bytes below a call: its parts have no more to tell
constexpr double kLeastOfAll = 0.002;      // of the bytes below a call: all blocks of a line and size
constexpr double kMostOfIt = 0.5;          // of what the parts tell: the whole tells it better
constexpr int32_t kFewestInLevel = 3;      // two of the same are two calls on one line

class RepeatFinder {
 public:
  RepeatFinder(const model::Recording& recording, const replay::BlockLives& lives, int32_t event)
      : recording_(recording), lives_(lives), event_(event), calls_(recording) {}

  [[nodiscard]] Result<std::vector<Repeat>> run() {
    if (!calls_.walk({lives_.events.first, 0}) || !take_blocks()) return no_memory();
    std::vector<int32_t> all;
    if (!charge_.more(static_cast<int64_t>(rank_.size() * sizeof(int32_t)))) return no_memory();
    all.reserve(rank_.size());
    for (size_t i = 0; i < rank_.size(); ++i) all.push_back(static_cast<int32_t>(i));
    least_bytes_ = static_cast<int64_t>(kLeastRepeated * static_cast<double>(lives_.level_after(event_)));
    std::vector<Found> found;
    if (!look_below(CallSites::kRoot, all, found)) return no_memory();
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return a.all_bytes > b.all_bytes; });
    std::vector<Repeat> repeats;
    for (Found& one : found) {
      if (!add_with_levels(one, -1, repeats)) return no_memory();
    }
    return repeats;
  }

 private:
  static tl::unexpected<Error> no_memory() {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to look for what repeats.");
  }

  struct Found {
    int32_t below = 0;              // the innermost site that all lie below
    int32_t count = 0, blocks = 0;  // whole ones; blocks of one
    int64_t bytes = 0, all_bytes = 0;
    std::vector<int32_t> of;  // blocks of the whole ones
  };

  // Blocks by their number here: in the order in which they were allocated.
  [[nodiscard]] bool take_blocks() {
    for (int32_t rank = lives_.from_start; rank < lives_.count(); ++rank) {
      if (!lives_.is_live_after(rank, event_) || lives_.size[rank] <= 0) continue;
      const auto row = static_cast<size_t>(lives_.events.first + lives_.born[rank]);
      const int32_t site = calls_.of_stack(recording_.events.stack[row]);
      if (site == CallSites::kRoot) continue;
      if (!rank_.push_back(rank) || !site_.push_back(site)) return false;
    }
    Column<int32_t> order(recording_.budget);
    if (!key_.resize(rank_.size(), 0) || !order.reserve(rank_.size()) || !times_.resize(rank_.size(), 0) ||
        !bytes_.resize(rank_.size(), 0) || !child_.resize(calls_.sites.size(), -1))
      return false;
    for (size_t i = 0; i < rank_.size(); ++i) {
      if (!order.push_back(static_cast<int32_t>(i))) return false;
    }
    const auto what = [&](int32_t block) { return std::tuple(site_[block], size_of(block)); };
    std::sort(order.data(), order.data() + order.size(),
              [&](int32_t a, int32_t b) { return what(a) < what(b); });
    int32_t key = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && what(order[i]) != what(order[i - 1])) ++key;
      key_[order[i]] = key;
    }
    return true;
  }
  [[nodiscard]] int64_t size_of(int32_t block) const { return lives_.size[rank_[block]]; }
  [[nodiscard]] int64_t bytes_of(const std::vector<int32_t>& blocks) const {
    int64_t bytes = 0;
    for (const int32_t block : blocks) add_saturated(bytes, size_of(block));
    return bytes;
  }

  // ---- one level

  // What repeats below a call, or below what it calls; more of it first.
  [[nodiscard]] bool look_below(int32_t at, const std::vector<int32_t>& blocks, std::vector<Found>& found) {
    if (++tried_ > kMostLookedBelow || blocks.size() < kFewestRepeats) return true;
    const int64_t bytes = bytes_of(blocks);
    if (bytes < least_bytes_) return true;
    Found here;
    if (!find_period(blocks, here)) return false;
    if (here.all_bytes < least_bytes_) here = {};
    if (here.count > 0 && static_cast<double>(here.all_bytes) >= kNearlyAll * static_cast<double>(bytes)) {
      found.push_back(std::move(here));
      return true;
    }
    std::vector<Found> inside;
    const int32_t common = common_site(blocks, at);
    if (!for_parts(common, blocks, [&](int32_t site, const std::vector<int32_t>& part) {
          return look_below(site, part, inside);
        }))
      return false;
    int64_t inside_bytes = 0;
    for (const Found& one : inside) add_saturated(inside_bytes, one.all_bytes);
    if (here.count > 0 &&
        static_cast<double>(here.all_bytes) >= kMostOfIt * static_cast<double>(inside_bytes)) {
      found.push_back(std::move(here));
    } else {
      for (Found& one : inside) found.push_back(std::move(one));
    }
    return true;
  }

  // Calls `look` for what lies below each line that is called from a site.
  template <typename Look>
  [[nodiscard]] bool for_parts(int32_t site, const std::vector<int32_t>& blocks, const Look& look) {
    set_children(site);
    std::vector<std::pair<int32_t, int32_t>> parts;  // child, block
    parts.reserve(blocks.size());
    for (const int32_t block : blocks) {
      if (child_[site_[block]] >= 0) parts.emplace_back(child_[site_[block]], block);
    }
    std::sort(parts.begin(), parts.end());
    std::vector<int32_t> part;
    for (size_t i = 0; i < parts.size();) {
      const int32_t child = parts[i].first;
      part.clear();
      for (; i < parts.size() && parts[i].first == child; ++i) part.push_back(parts[i].second);
      if (!look(child, part)) return false;
    }
    return true;
  }
  // Per site: which of the lines called from `site` it lies below; -1 = none.
  void set_children(int32_t site) {
    for (size_t i = 0; i < calls_.sites.size(); ++i) {  // callers have lower numbers
      const int32_t caller = calls_.sites[i].caller;
      child_[i] = caller < 0 ? -1 : caller == site ? static_cast<int32_t>(i) : child_[caller];
    }
  }
  [[nodiscard]] int32_t common_site(const std::vector<int32_t>& blocks, int32_t none) const {
    int32_t common = blocks.empty() ? none : site_[blocks[0]], last = -1;
    for (const int32_t block : blocks) {
      if (site_[block] == last) continue;
      last = site_[block];
      common = calls_.parting(common, last).at;
    }
    return common;
  }

  // The shortest piece that comes again, to the end but for one that is not whole.
  [[nodiscard]] bool find_period(const std::vector<int32_t>& blocks, Found& found) {
    int64_t bytes = 0;
    for (const int32_t block : blocks) {
      ++times_[key_[block]];
      add_saturated(bytes_[key_[block]], size_of(block));
      add_saturated(bytes, size_of(block));
    }
    const auto least = static_cast<int64_t>(kLeastOfAll * static_cast<double>(bytes));
    std::vector<int32_t> often;
    often.reserve(blocks.size());
    for (const int32_t block : blocks) {
      if (times_[key_[block]] >= kFewestRepeats && bytes_[key_[block]] >= least) often.push_back(block);
    }
    for (const int32_t block : blocks) times_[key_[block]] = 0, bytes_[key_[block]] = 0;
    const size_t all = often.size();
    if (all < kFewestRepeats) return true;
    Column<int32_t> border(recording_.budget);  // of each beginning: its longest end that it begins with, too
    if (!border.resize(all + 1, 0)) return false;
    const auto key_at = [&](size_t i) { return key_[often[i]]; };
    size_t length = 0;
    for (size_t i = 1; i < all; ++i) {
      while (length > 0 && key_at(i) != key_at(length)) length = static_cast<size_t>(border[length]);
      if (key_at(i) == key_at(length)) ++length;
      border[i + 1] = static_cast<int32_t>(length);
    }
    for (size_t whole = all; whole >= kFewestRepeats; --whole) {
      const size_t piece = whole - static_cast<size_t>(border[whole]);
      if (whole < piece * kFewestRepeats || all - whole > piece) continue;
      found.count = static_cast<int32_t>(whole / piece);
      found.blocks = static_cast<int32_t>(piece);
      often.resize(piece * static_cast<size_t>(found.count));
      for (size_t i = 0; i < piece; ++i) add_saturated(found.bytes, size_of(often[i]));
      found.all_bytes = bytes_of(often);
      found.below = common_site(often, CallSites::kRoot);
      found.of = std::move(often);
      return true;
    }
    return true;
  }

  // ---- levels, in words of the program

  [[nodiscard]] bool add_with_levels(Found& one, int32_t outer, std::vector<Repeat>& repeats) {
    const auto here = static_cast<int32_t>(repeats.size());
    const int32_t count = outer < 0 ? one.count : one.count / count_of(outer, repeats);
    if (!charge_.more(static_cast<int64_t>(one.of.size() * sizeof(int32_t)))) return false;
    Repeat& repeat = repeats.emplace_back();
    repeat.outer = outer;
    repeat.count = count;
    repeat.bytes = one.bytes;
    repeat.blocks = one.blocks;
    repeat.place = place_of(one);
    set_largest_line(one, repeat);
    repeat.ranks.reserve(one.of.size());
    for (const int32_t block : one.of) repeat.ranks.push_back(rank_[block]);
    std::vector<Found> inner;
    if (!for_parts(one.below, one.of, [&](int32_t, const std::vector<int32_t>& part) {
          return look_for_level(part, one.count, inner);
        }))
      return false;
    std::stable_sort(inner.begin(), inner.end(),
                     [](const Found& a, const Found& b) { return a.all_bytes > b.all_bytes; });
    for (Found& level : inner) {
      if (!add_with_levels(level, here, repeats)) return false;
    }
    return true;
  }
  // In all repeats of the outer ones together.
  [[nodiscard]] static int32_t count_of(int32_t index, const std::vector<Repeat>& repeats) {
    const Repeat& one = repeats[static_cast<size_t>(index)];
    return one.outer < 0 ? one.count : one.count * count_of(one.outer, repeats);
  }

  // `outer` times all of it is there: does it come several times in each?
  [[nodiscard]] bool look_for_level(const std::vector<int32_t>& part, int32_t outer,
                                    std::vector<Found>& inner) {
    if (++tried_ > kMostLookedBelow || bytes_of(part) < least_bytes_) return true;
    Found level;
    if (!find_period(part, level)) return false;
    if (level.count > 0 && level.of.size() == part.size() && level.count % outer == 0 &&
        level.count / outer >= kFewestInLevel) {
      inner.push_back(std::move(level));
      return true;
    }
    const int32_t common = common_site(part, CallSites::kRoot);
    return for_parts(common, part, [&](int32_t, const std::vector<int32_t>& below) {
      return look_for_level(below, outer, inner);
    });
  }

  [[nodiscard]] Origin origin(int32_t site) const { return origin_of(recording_, calls_.sites[site].frame); }
  [[nodiscard]] bool is_own(int32_t site) const {
    return origin(site) == Origin::own || origin(site) == Origin::package;
  }
  // The nearest line of the program at a site or around it; the site itself where there is none.
  [[nodiscard]] int32_t own_line(int32_t site) const {
    for (int32_t one = site; one > CallSites::kRoot; one = calls_.sites[one].caller) {
      if (is_own(one)) return one;
    }
    return site;
  }
  // The same, but not above `outer`, and of a package only where nothing nearer than that is the program's own.
  [[nodiscard]] int32_t line_within(int32_t site, int32_t outer) const {
    int32_t of_package = -1, last = site;
    for (int32_t one = site; one > CallSites::kRoot; one = calls_.sites[one].caller) {
      last = one;
      const Origin of = origin(one);
      if (of == Origin::own) return one;
      if (of == Origin::package && of_package < 0) of_package = one;
      if (one == outer) break;
    }
    return of_package >= 0 ? of_package : own_line(last);
  }

  // Lines of one function below which they lie; where these are no lines of the program, that which calls them.
  [[nodiscard]] LoopPlace place_of(const Found& one) {
    set_children(one.below);
    int32_t first = -1, last = -1;
    for (const int32_t block : one.of) {
      const int32_t child = child_[site_[block]];
      const bool same =
          child >= 0 && (first < 0 || calls_.sites[child].function == calls_.sites[first].function);
      if (!same) {
        first = -1;
        break;
      }
      if (first < 0 || calls_.line(child) < calls_.line(first)) first = child;
      if (last < 0 || calls_.line(child) > calls_.line(last)) last = child;
    }
    if (first < 0 || !is_own(first)) first = last = own_line(one.below);
    LoopPlace place;
    if (first <= CallSites::kRoot) return place;
    place.function = calls_.sites[first].frame;
    place.first_line = calls_.line(first);
    place.last_line = calls_.line(last);
    const int32_t caller = calls_.sites[first].caller;
    const int32_t call = caller > CallSites::kRoot ? own_line(caller) : CallSites::kRoot;
    if (call > CallSites::kRoot && is_own(call)) place.call = calls_.sites[call].frame;
    return place;
  }

  void set_largest_line(const Found& one, Repeat& repeat) const {
    struct Line {
      FrameId frame;
      int64_t bytes;
    };
    std::vector<Line> lines;
    const auto where = [&](FrameId frame) {
      const trace::Frame& text = recording_.frames[frame];
      return std::tuple(text.name, text.filename, text.line, frame);
    };
    for (size_t i = 0; i < static_cast<size_t>(one.blocks); ++i) {
      const int32_t site = line_within(site_[one.of[i]], one.below);
      lines.push_back({calls_.sites[site].frame, size_of(one.of[i])});
    }
    std::sort(lines.begin(), lines.end(),
              [&](const Line& a, const Line& b) { return where(a.frame) < where(b.frame); });
    const auto is_one = [&](FrameId a, FrameId b) {
      const trace::Frame &x = recording_.frames[a], &y = recording_.frames[b];
      return x.name == y.name && x.filename == y.filename && x.line == y.line;
    };
    for (size_t i = 0; i < lines.size();) {
      const FrameId frame = lines[i].frame;
      int64_t bytes = 0;
      for (; i < lines.size() && is_one(lines[i].frame, frame); ++i) add_saturated(bytes, lines[i].bytes);
      if (bytes <= repeat.line_bytes) continue;
      repeat.line = frame;
      repeat.line_bytes = bytes;
    }
    if (repeat.line_bytes == repeat.bytes && repeat.place.first_line == repeat.place.last_line &&
        is_one(repeat.line, repeat.place.function))
      repeat.line = {};
  }

  const model::Recording& recording_;
  const replay::BlockLives& lives_;
  const int32_t event_;
  CallSites calls_;
  Charge charge_{recording_.budget};
  Column<int32_t> site_{recording_.budget}, key_{recording_.budget}, rank_{recording_.budget};  // per block
  Column<int32_t> child_{recording_.budget};  // per site: see set_children()
  Column<int32_t> times_{recording_.budget};  // per key
  Column<int64_t> bytes_{recording_.budget};
  int64_t least_bytes_ = 0;
  int32_t tried_ = 0;
};

}  // namespace

Result<std::vector<Repeat>> find_repeats(const model::Recording& recording, const replay::BlockLives& lives,
                                         int32_t event) {
  return RepeatFinder(recording, lives, event).run();
}

}  // namespace gpustrata::analysis
