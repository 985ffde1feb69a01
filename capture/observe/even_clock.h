// Times of a fast clock of unknown unit (a processor's counter), as the time of day.
//
// Its unit is found by comparing it with the monotonic clock at the start and now; the time of day is that of now, so that a clock
// that was set meanwhile changes no distances.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace gpustrata::capture {

class EvenClock {
 public:
  using Now = uint64_t (*)();

  void start(Now fast) {
    now_ = fast;
    start_ = both();
    start_real_ns_ = nanoseconds(CLOCK_REALTIME);
  }
  // Microseconds since the Unix epoch of a time of the fast clock. Asked of many at once: see Conversion.
  struct Conversion {
    uint64_t now = 0;
    double ns_per_tick = 1;
    int64_t real_ns = 0;  // then
    [[nodiscard]] int64_t microseconds(uint64_t time) const {
      const auto ticks = static_cast<double>(static_cast<int64_t>(time - now));
      return (real_ns + static_cast<int64_t>(ticks * ns_per_tick)) / 1000;
    }
  };
  [[nodiscard]] Conversion conversion() const { return conversion_at(both(), nanoseconds(CLOCK_REALTIME)); }
  // As the time of day was at the start, and evenly from there.
  [[nodiscard]] Conversion even_conversion() const {
    const Both here = both();
    return conversion_at(here, start_real_ns_ + here.monotonic_ns - start_.monotonic_ns);
  }
  [[nodiscard]] uint64_t now() const { return now_(); }
  [[nodiscard]] uint64_t ticks_since_start(uint64_t ticks) const { return ticks - start_.fast; }

 private:
  struct Both {
    uint64_t fast = 0;
    int64_t monotonic_ns = 0;
  };
  [[nodiscard]] static int64_t nanoseconds(clockid_t clock) {
    timespec time{};
    (void)clock_gettime(clock, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
  // Of one moment: of some tries, the one that took the shortest.
  [[nodiscard]] Both both() const {
    Both best;
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 16; ++i) {
      const uint64_t before = now_();
      const int64_t monotonic = nanoseconds(CLOCK_MONOTONIC);
      const uint64_t after = now_();
      if (after - before >= shortest) continue;
      shortest = after - before;
      best = {before + shortest / 2, monotonic};
    }
    return best;
  }

  [[nodiscard]] Conversion conversion_at(const Both& here, int64_t real_ns) const {
    const auto ticks = static_cast<double>(here.fast - start_.fast);
    return {here.fast, ticks > 0 ? static_cast<double>(here.monotonic_ns - start_.monotonic_ns) / ticks : 1.0,
            real_ns};
  }

  Now now_ = nullptr;
  Both start_;
  int64_t start_real_ns_ = 0;
};

// Times that are wanted as they come, in order. The unit is found ever better: asked again after as long as was known, and each
// second. For one thread at a time.
class TickTimes {
 public:
  // Never less than before.
  [[nodiscard]] int64_t microseconds(const EvenClock& clock, uint64_t ticks) {
    if (static_cast<int64_t>(ticks - renew_at_) >= 0) renew(clock);
    last_ = std::max(last_, conversion_.microseconds(ticks));
    return last_;
  }

 private:
  void renew(const EvenClock& clock) {
    conversion_ = clock.even_conversion();
    const auto known = static_cast<double>(clock.ticks_since_start(conversion_.now));
    renew_at_ = conversion_.now + static_cast<uint64_t>(std::min(known, 1e9 / conversion_.ns_per_tick));
  }

  EvenClock::Conversion conversion_;
  uint64_t renew_at_ = 0;
  int64_t last_ = 0;
};

}  // namespace gpustrata::capture
