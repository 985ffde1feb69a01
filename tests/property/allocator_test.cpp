// Random scripts through engine/alloc and through its naive twin: the same trace, layout and statistics after
// every step, and nothing of the engine's books out of order. The twin made wrong in one decision must be
// found out by the same scripts, for each of its decisions: so the scripts reach them all.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"
#include "tests/property/allocator_twin.h"
#include "tests/unit/alloc/invariants.h"

namespace gpustrata::alloc {
namespace {

struct Events final : trace::EventSink {
  void on_event(const trace::TraceEvent& event) override { list.push_back(event); }
  std::vector<trace::TraceEvent> list;
};

// What a script is about: a decision is reached only if several things come together.
enum class Theme : uint8_t {
  everything,
  oversize,  // max_split_size, large blocks in the cache, a device that is too small for them
  garbage,   // a limit with a threshold, large segments that are not split
  pages,     // expandable segments, then none, then again
  pools,     // private pools come and go, memory is short
};
constexpr uint64_t kThemes = 5;

enum class Step : uint8_t { allocate, free, record_stream, done, empty, configure, fraction, route };
constexpr size_t kSteps = 8;

// Scripts differ: what one of them does often, another never does. So what needs several things together, and nothing that
// undoes them in between, comes in some.
struct Habits {
  std::array<uint64_t, kSteps> weight{45, 30, 7, 4, 4, 3, 1, 6};
  // Sizes are one to four of it, so that merged blocks are as large as others; 0 = any sizes.
  int64_t unit = 0;
  int64_t large_segment = 0;  // that of all settings; 0 = any
  uint64_t turns_off_in = 0;  // one in so many changes of use_on_oom says no; 0 = none
  bool pages_first = false;   // expandable segments are on to begin with, then never again
  bool opens = false;         // see Pair::open()
  uint64_t at_once = 1;       // requests, or frees, follow each other, up to so many

  template <typename Below>
  Habits(Theme theme, const Below& below) {
    constexpr std::array<uint64_t, 4> kFactors{0, 1, 1, 4};
    for (size_t i = static_cast<size_t>(Step::record_stream); i < kSteps; ++i)
      weight[i] *= kFactors[below(4)];
    weight[static_cast<size_t>(Step::free)] *= 1 + below(2);
    constexpr std::array<int64_t, 8> kUnits{512,     100 << 10, 512 << 10, 2 << 20,
                                            4 << 20, 5 << 20,   10 << 20,  12 << 20};
    const uint64_t least = theme == Theme::oversize || theme == Theme::pools ? 4 : 0;
    if (theme != Theme::garbage && below(2) == 0) unit = kUnits[least + below(kUnits.size() - least)];
    if (below(2) == 0) large_segment = 12 << 20;
    constexpr std::array<uint64_t, 3> kTurnsOff{0, 3, 10};
    turns_off_in = kTurnsOff[below(kTurnsOff.size())];
    if (below(2) == 0) at_once = 8;
    opens = (theme == Theme::oversize || theme == Theme::pools) && below(4) != 0;
    if (theme != Theme::oversize && !opens) return;
    // Nothing else may take the cached blocks away.
    pages_first = theme == Theme::oversize && below(2) == 0;
    for (const Step step : {Step::empty, Step::route, Step::record_stream}) {
      if (below(4) != 0) weight[static_cast<size_t>(step)] = 0;
    }
  }
};

// Addresses as devices give them: up, down, or anyhow. Far enough apart for everything here.
class Addresses final : public AddressSource {
 public:
  explicit Addresses(uint64_t seed) : kind_(seed % 3) {}
  [[nodiscard]] uint64_t of(int n) const {
    constexpr uint64_t kPlaces = 1 << 16, kApart = uint64_t{1} << 32;
    const auto count = static_cast<uint64_t>(n);
    const uint64_t place = kind_ == 0   ? count
                           : kind_ == 1 ? kPlaces - 1 - count
                                        : count * 40503 % kPlaces;  // odd: each once
    return SimulatedDevice::kFirstAddress + place * kApart;
  }
  [[nodiscard]] uint64_t next(int64_t, bool) override { return of(count_++); }

 private:
  uint64_t kind_;
  int count_ = 0;
};

class Pair {
 public:
  explicit Pair(uint64_t seed, twin::Fault fault = twin::Fault::none)
      : random_(seed),
        theme_(static_cast<Theme>(seed % kThemes)),
        habits_(theme_, [this](uint64_t n) { return below(n); }),
        device_bytes_((int64_t{64} << below(theme_ == Theme::everything ? 4 : 3)) << 20),
        order_(kAllFreeOrders[seed / kThemes % kAllFreeOrders.size()]),
        addresses_(seed / kThemes / kAllFreeOrders.size()),
        device_(device_bytes_),
        allocator_(device_, 0, Config{}, &events_, budget_),
        twin_(
            device_bytes_, static_cast<twin::Order>(order_), [this](int n) { return addresses_.of(n); },
            fault) {
    device_.take_addresses_from(addresses_);
    must(allocator_.set_free_order(order_).has_value());
    note(fmt::format("order {}", name_of(order_)));
    if (theme_ != Theme::everything || one_in(2)) configure();
    if (theme_ == Theme::garbage || one_in(3)) fraction();
    if (habits_.opens) open();
  }

  // What differs after a step, or an empty text.
  [[nodiscard]] std::string run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      if (wrong_.empty()) wrong_ = difference();
      // Sums and peaks keep what happened.
      if (wrong_.empty() && (i % 10 == 9 || i + 1 == steps)) wrong_ = other_statistics();
      if (!wrong_.empty()) break;
    }
    return wrong_;
  }
  [[nodiscard]] const std::string& script() const { return script_; }

 private:
  struct Live {
    uint64_t address;
    twin::Place place;
  };

  uint64_t below(uint64_t n) { return random_() % n; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  int64_t stream() { return !one_in(4) ? 0 : static_cast<int64_t>(below(3)); }
  void must(bool succeeded) {
    if (!succeeded && wrong_.empty()) wrong_ = "the engine refused the step";
  }
  twin::PoolName pool() { return {0, static_cast<int64_t>(1 + below(2))}; }
  static PoolKey key(twin::PoolName name) { return {name.first, name.second}; }
  void note(const std::string& step) { script_ += step + "; "; }

  int64_t mib(uint64_t least, uint64_t most) {
    return static_cast<int64_t>(least + below(most - least + 1)) << 20;
  }
  int64_t size() {
    if (habits_.unit > 0 && !one_in(8)) return habits_.unit * static_cast<int64_t>(1 + below(4));
    // Few sizes, so that blocks of exactly the sizes that the rules compare with are in the cache.
    if (theme_ == Theme::oversize ? !one_in(4) : theme_ == Theme::pools && one_in(2))
      return mib(10, 60) / (4 << 20) * (4 << 20);
    if (theme_ == Theme::garbage && !one_in(4)) return mib(10, 24);
    if (theme_ == Theme::pages && !one_in(4)) return int64_t{512 << 10} << below(5);
    switch (below(6)) {
      case 0:
        return 1 + static_cast<int64_t>(below(4096));
      case 1:
        return 1 + static_cast<int64_t>(below(1 << 20));
      case 2:  // around the limits of the rules
        return (int64_t{1} << (19 + below(6))) + 512 * (static_cast<int64_t>(below(5)) - 2);
      case 3:
        return (static_cast<int64_t>(1 + below(30)) << 20) - static_cast<int64_t>(below(2)) * 512;
      case 4:
        return 1 + static_cast<int64_t>(below(12 << 20));
      default:
        return 1 + static_cast<int64_t>(below(60 << 20));
    }
  }

  // Cached blocks that only some requests may have: of a pool that serves when memory is short, of expandable segments.
  void open() {
    const auto some = [&](auto&& act) {
      for (uint64_t left = 1 + below(6); left > 0; --left) act();
    };
    const auto fill_and_free = [&] {
      some([&] { allocate(); });
      some([&] { free(); });
    };
    if (theme_ == Theme::pools) {
      const twin::PoolName name = pool();
      begin(name, std::nullopt);
      some([&] { allocate(); });
      use_on_oom(name, true);
      end(name);
      some([&] { free(); });
    } else if (habits_.pages_first) {
      fill_and_free();
      configure();
    }
    fill_and_free();
  }

  void step() {
    if (theme_ == Theme::pools && one_in(6)) return route();
    if (theme_ == Theme::oversize && one_in(10)) return configure();
    if (theme_ == Theme::pages && one_in(12)) return empty();
    if (theme_ == Theme::garbage && one_in(16)) return fraction();
    const auto& weight = habits_.weight;
    uint64_t at = below(std::accumulate(weight.begin(), weight.end(), uint64_t{0}));
    size_t what = 0;
    for (; at >= weight[what]; ++what) at -= weight[what];
    const auto several = [&](auto&& act) {
      for (uint64_t left = 1 + below(habits_.at_once); left > 0; --left) act();
    };
    switch (static_cast<Step>(what)) {
      case Step::allocate:
        return several([&] { allocate(); });
      case Step::free:
        return several([&] { free(); });
      case Step::record_stream:
        return record_stream();
      case Step::done:
        return done();
      case Step::empty:
        return empty();
      case Step::configure:
        return configure();
      case Step::fraction:
        return fraction();
      case Step::route:
        return route();
    }
  }

  void allocate() {
    const int64_t bytes = size(), s = stream();
    note(fmt::format("m b{} {} {}", ++names_, bytes, s));
    const auto address = allocator_.malloc(bytes, s);
    const auto place = twin_.malloc(bytes, s);
    must(address.has_value() == place.has_value());
    if (address && place) live_.push_back({*address, *place});
  }
  void free() {
    if (live_.empty()) return;
    const size_t i = below(live_.size());
    note(fmt::format("f (block at {:#x})", live_[i].address));
    must(allocator_.free(live_[i].address).has_value());
    twin_.free(live_[i].place);
    live_.erase(live_.begin() + static_cast<ptrdiff_t>(i));
  }
  void record_stream() {
    if (live_.empty()) return;
    const Live& block = live_[below(live_.size())];
    const int64_t s = stream();
    note(fmt::format("rs (block at {:#x}) {}", block.address, s));
    (void)allocator_.record_stream(block.address, s);
    twin_.record_stream(block.place, s);
  }
  void done() {
    const int64_t s = stream();
    note(fmt::format("done {}", s));
    device_.finish(s);
    twin_.done(s);
  }
  void empty() {
    const twin::PoolName name = one_in(2) ? twin::PoolName{} : pool();
    note(fmt::format("empty {} {}", name.first, name.second));
    allocator_.empty_cache(key(name));
    twin_.empty(name);
  }
  void configure() {
    // What is not reset by a new text stays as it was.
    twin::Settings settings;
    settings.expandable = settings_.expandable;
    settings.large_segment = settings_.large_segment;
    std::string text;
    if (theme_ == Theme::pages || habits_.pages_first || one_in(theme_ == Theme::oversize ? 2 : 3)) {
      settings.expandable = theme_ == Theme::pages ? !one_in(4) : one_in(2);
      if (habits_.pages_first) settings.expandable = !is_configured_;
      text += fmt::format("expandable_segments:{},", settings.expandable ? "True" : "False");
    }
    if (one_in(theme_ == Theme::oversize ? 2 : 6)) {
      settings.large_segment =
          habits_.large_segment > 0 ? habits_.large_segment : static_cast<int64_t>(12 + below(3) * 10) << 20;
      text += fmt::format("large_segment_size_mb:{},", settings.large_segment >> 20);
    }
    settings.max_non_split = settings.large_segment;
    if (theme_ == Theme::oversize || one_in(theme_ == Theme::pools ? 2 : 3)) {
      settings.max_split = settings.large_segment + mib(0, 8) / (2 << 20) * (2 << 20);
      text += fmt::format("max_split_size_mb:{},", settings.max_split >> 20);
      if (one_in(2)) {
        settings.max_non_split = settings.large_segment + mib(0, 8) / (2 << 20) * (2 << 20);
        text += fmt::format("max_non_split_rounding_mb:{},", settings.max_non_split >> 20);
      }
    }
    if (one_in(4)) {
      settings.divisions = 1 << below(5);
      text += fmt::format("roundup_power2_divisions:{},", settings.divisions);
    }
    if (theme_ == Theme::garbage || one_in(4)) {
      settings.gc_threshold = 0.25 * static_cast<double>(1 + below(3));
      text += fmt::format("garbage_collection_threshold:{},", settings.gc_threshold);
    }
    note("conf " + text);
    is_configured_ = true;
    settings_ = settings;
    must(allocator_.set_config(text).has_value());
    twin_.configure(settings);
  }
  void fraction() {
    const double share =
        one_in(theme_ == Theme::garbage ? 3 : 4) ? 1.0 : 0.125 * static_cast<double>(2 + below(6));
    note(fmt::format("fraction {}", share));
    must(allocator_.set_memory_fraction(share).has_value());
    twin_.fraction(share);
  }
  void route() {
    const twin::PoolName name = pool();
    const int users = twin_.users(name);
    const bool routed = routed_.contains(name);
    if (routed && !one_in(3)) return end(name);
    if (users > (routed ? 1 : 0) && one_in(2)) {
      note(fmt::format("release {} {}", name.first, name.second));
      must(allocator_.release_pool(key(name)).has_value());
      return twin_.release(name);
    }
    if (users > 0 && one_in(theme_ == Theme::pools ? 2 : 4)) {
      if (one_in(3)) {
        note(fmt::format("nosplit {} {}", name.first, name.second));
        must(allocator_.set_no_split(key(name)).has_value());
        return twin_.set_no_split(name);
      }
      return use_on_oom(name, habits_.turns_off_in == 0 || !one_in(habits_.turns_off_in));
    }
    if (routed || users == 0) return;
    begin(name, one_in(3) ? std::optional(stream()) : std::nullopt);
  }
  void begin(twin::PoolName name, std::optional<int64_t> only) {
    note(only ? fmt::format("begins {} {} {}", name.first, name.second, *only)
              : fmt::format("begin {} {}", name.first, name.second));
    routed_.insert(name);
    DeviceAllocator::StreamFilter accepts;
    if (only) accepts = [s = *only](int64_t asked) { return asked == s; };
    must(allocator_.begin_allocate_to_pool(key(name), accepts).has_value());
    twin_.begin(name, only);
  }
  void end(twin::PoolName name) {
    note(fmt::format("end {} {}", name.first, name.second));
    routed_.erase(name);
    must(allocator_.end_allocate_to_pool(key(name)).has_value());
    twin_.end(name);
  }
  void use_on_oom(twin::PoolName name, bool use) {
    note(fmt::format("useoom {} {} {}", name.first, name.second, use));
    must(allocator_.set_use_on_oom(key(name), use).has_value());
    twin_.set_use_on_oom(name, use);
  }

  [[nodiscard]] std::string place_of(uint64_t address) const {
    const auto& ranges = device_.ranges();
    size_t nearest = 0;
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i] <= address && (ranges[nearest] > address || ranges[i] > ranges[nearest])) nearest = i;
    }
    return fmt::format("S{}+{}", nearest, address - ranges[nearest]);
  }
  [[nodiscard]] std::string difference() {
    if (std::string wrong = check_invariants(allocator_.state()); !wrong.empty()) return wrong;
    if (std::string wrong = allocator_.check_pools(); !wrong.empty()) return wrong;
    for (; compared_ < std::min(events_.list.size(), twin_.trace().size()); ++compared_) {
      const trace::TraceEvent& event = events_.list[compared_];
      const std::string place = event.action == trace::Action::oom ? fmt::format("free={}", event.address)
                                                                   : place_of(event.address);
      std::string line = fmt::format("{} {} {}", name_of(event.action), place, event.size);
      if (event.stream != 0) line += fmt::format(" @{}", event.stream);
      if (line != twin_.trace()[compared_])
        return fmt::format("event {}: {}, the twin has {}", compared_, line, twin_.trace()[compared_]);
    }
    if (events_.list.size() != twin_.trace().size())
      return fmt::format("{} events, the twin has {}", events_.list.size(), twin_.trace().size());
    if (layout() != twin_.layout()) return "another layout";
    return {};
  }
  [[nodiscard]] std::string other_statistics() const {
    const std::map<std::string, int64_t> expected = twin_.stats();
    for (const NamedStat& stat : flat_stats(allocator_.stats())) {
      if (stat.name == "max_split_size") continue;
      const auto found = expected.find(stat.name);
      const int64_t value = found == expected.end() ? 0 : found->second;
      if (stat.value != value) return fmt::format("{} is {}, the twin has {}", stat.name, stat.value, value);
    }
    return {};
  }
  [[nodiscard]] std::vector<std::string> layout() const {
    std::vector<std::string> lines;
    const MemoryState& state = allocator_.state();
    for (const SegmentId id : state.segments()) {
      const Segment& segment = state.segment(id);
      bool open = false;
      for (BlockId i = segment.first; !i.is_none(); i = state.block(i).next) {
        const Block& block = state.block(i);
        if (block.mapped && !open) {
          lines.push_back(fmt::format("{} {}{}", place_of(block.address), segment.small ? 'S' : 'L',
                                      segment.expandable ? "x" : ""));
          if (segment.pool != PoolKey{})
            lines.back() += fmt::format("p{}.{}", segment.pool.graph_id, segment.pool.user_id);
          lines.back() += fmt::format("@{}:", segment.stream);
        }
        open = block.mapped;
        if (open) lines.back() += fmt::format(" {}{}", "AP-"[static_cast<int>(block.state)], block.size);
      }
    }
    return lines;
  }

  std::mt19937_64 random_;
  Theme theme_;
  Habits habits_;
  int64_t device_bytes_;
  Budget budget_{int64_t{1} << 28};
  Events events_;
  FreeOrder order_;
  Addresses addresses_;
  SimulatedDevice device_;
  DeviceAllocator allocator_;
  twin::Allocator twin_;
  twin::Settings settings_;
  bool is_configured_ = false;
  std::set<twin::PoolName> routed_;
  std::vector<Live> live_;
  size_t compared_ = 0;
  std::string wrong_;
  int names_ = 0;
  std::string script_;
};

constexpr uint64_t kFirstShort = 1, kFirstLong = 100'000;
constexpr int kShortScripts = 1500, kLongScripts = 10;

[[nodiscard]] std::string run_one(uint64_t seed, twin::Fault fault, std::string* script = nullptr) {
  Pair pair(seed, fault);
  std::string wrong = pair.run(seed >= kFirstLong ? 500 : 60);
  if (script != nullptr) *script = pair.script();
  return wrong;
}

// GPUSTRATA_ROUNDS multiplies the scripts, for a long run by hand.
void compare_random_scripts(uint64_t first_seed, int scripts) {
  const char* factor = std::getenv("GPUSTRATA_ROUNDS");
  scripts *= factor == nullptr ? 1 : std::max(1, std::atoi(factor));
  for (int i = 0; i < scripts; ++i) {
    const uint64_t seed = first_seed + static_cast<uint64_t>(i);
    std::string script;
    const std::string wrong = run_one(seed, twin::Fault::none, &script);
    ASSERT_EQ(wrong, "") << "seed " << seed << ": " << script;
  }
}

TEST(AllocatorProperty, ShortScriptsGiveWhatTheTwinGives) {
  compare_random_scripts(kFirstShort, kShortScripts);
}
TEST(AllocatorProperty, LongScriptsGiveWhatTheTwinGives) { compare_random_scripts(kFirstLong, kLongScripts); }

// Half of the short scripts above find every fault, so all of them would find it in the engine, with some to spare.
class PlantedFault : public testing::TestWithParam<size_t> {};
TEST_P(PlantedFault, IsFoundByHalfOfTheShortScripts) {
  constexpr int kHalf = kShortScripts / 2;
  int scripts = 0;
  const auto fault = static_cast<twin::Fault>(GetParam());
  while (scripts < kHalf && run_one(kFirstShort + static_cast<uint64_t>(scripts), fault).empty()) ++scripts;
  RecordProperty("scripts", scripts + 1);
  EXPECT_LT(scripts, kHalf) << twin::kFaultTexts[GetParam()];
}
INSTANTIATE_TEST_SUITE_P(Allocator, PlantedFault, testing::Range<size_t>(1, twin::kFaultTexts.size()));

}  // namespace
}  // namespace gpustrata::alloc
