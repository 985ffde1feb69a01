#include "engine/analysis/fit/run_log.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/memory_refused.h"

namespace gpustrata::analysis {

using simulate::Request;
using simulate::RequestLog;

namespace {

// Of a block among what is freed between the same requests.
struct FreeOrder {
  int64_t order = 0;
  // Of turns that are freed at once, one after another: its place in its turn, and blocks of a turn.
  int32_t rank = 0, width = 1;
  bool reversed = false;  // the last turn comes first
};

// Something that happens between requests.
struct Item {
  int32_t gap;           // before this request of the log, counted from 0
  int64_t order, minor;  // in the gap
  Request request;
  int32_t subject;  // free: the request of the log; a pool: of which recording's log
  uint8_t recording;
  int64_t stream;
};

class Writing {
 public:
  Writing(const Outline& outline, const Deaths& deaths, std::span<const int64_t> times, Budget& budget)
      : outline_(outline), deaths_(deaths), times_(times), budget_(budget) {}

  [[nodiscard]] Result<RunLog> run() {
    if (auto status = count_requests(); !status) return tl::unexpected(status.error());
    if (!place_requests() || !order_frees()) return no_memory();
    if (auto status = add_frees(); !status) return tl::unexpected(status.error());
    for (size_t r = 0; r < outline_.all.size(); ++r) {
      if (!add_items_of(r)) return no_memory();
    }
    if (!write()) return no_memory();
    return std::move(written_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> no_memory() const {
    return memory_refused(budget_, "to foretell the requests");
  }
  [[nodiscard]] const OutlinedRepeat& repeat(int32_t at) const {
    return outline_.repeats[static_cast<size_t>(at)];
  }
  [[nodiscard]] int32_t between(size_t at) const {
    return static_cast<int32_t>(times_[at]) - outline_.repeats[at].before - outline_.repeats[at].after;
  }

  [[nodiscard]] Status count_requests() const {
    int64_t all = outline_.count();
    for (size_t at = 0; at < outline_.repeats.size(); ++at) {
      const OutlinedRepeat& one = outline_.repeats[at];
      if (times_[at] < one.before + one.after)
        return fail(ErrorCode::wrong_usage, -1,
                    "{} is repeated {} times there, which is too few to be told: it takes {}",
                    outline_.line_of(one.first), times_[at], one.before + one.after);
      if (times_[at] > kMostForetoldRequests || (all += times_[at] * one.period) > kMostForetoldRequests)
        return fail(ErrorCode::wrong_usage, -1,
                    "{} is repeated {} times there: more than {} requests in all are not foretold",
                    outline_.line_of(one.first), times_[at], kMostForetoldRequests);
    }
    return {};
  }

  [[nodiscard]] bool place_requests() {
    const auto add = [&](int32_t request, int32_t turn) {
      return request_.push_back(request) && turn_.push_back(turn);
    };
    size_t at = 0;
    for (int32_t request = 0; request < outline_.count();) {
      if (at == outline_.repeats.size() || request != outline_.repeats[at].first) {
        if (!position_.push_back(count()) || !add(request++, 0)) return false;
        continue;
      }
      const OutlinedRepeat& one = outline_.repeats[at];
      const int32_t from = count();
      for (int32_t i = 0; i < one.period; ++i) {
        if (!position_.push_back(from + i)) return false;
      }
      for (int32_t turn = 0; turn < between(at); ++turn) {
        for (int32_t i = 0; i < one.period; ++i) {
          if (!add(request + i, turn)) return false;
        }
      }
      for (int32_t turn = 0; turn < one.before; ++turn)
        fill_turns(from - (one.before - turn) * one.period, one.period, turn - one.before);
      request += one.period;
      ++at;
    }
    // Those behind are there now.
    for (at = 0; at < outline_.repeats.size(); ++at) {
      const OutlinedRepeat& one = outline_.repeats[at];
      for (int32_t turn = between(at); turn < between(at) + one.after; ++turn)
        fill_turns(position_[one.first] + turn * one.period, one.period, turn);
    }
    return true;
  }
  void fill_turns(int32_t from, int32_t count, int32_t turn) {
    for (int32_t i = 0; i < count; ++i) turn_[from + i] = turn;
  }
  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(request_.size()); }
  // Behind the last, too.
  [[nodiscard]] int32_t position_of(int32_t request) const {
    return request < outline_.count() ? position_[request] : count();
  }

  // The gap behind a request of a turn, counted from the first; -1 = there are not so many.
  [[nodiscard]] int32_t gap_behind(int32_t at, int64_t turn, int32_t request) const {
    if (turn < 0 || turn >= times_[static_cast<size_t>(at)]) return -1;
    const OutlinedRepeat& one = repeat(at);
    return position_[one.first] + (static_cast<int32_t>(turn) - one.before) * one.period + request + 1;
  }
  // `own`: its turn, counted from the first.
  [[nodiscard]] int32_t gap_of(const Death& death, int32_t own) const {
    const auto last = [&] { return times_[static_cast<size_t>(death.repeat)] - 1; };
    switch (death.until) {
      case Death::Until::request:
        return death.request == 0 ? 0 : position_of_free(death.request);
      case Death::Until::turn_from_start:
        return gap_behind(death.repeat, death.turn, death.at);
      case Death::Until::turn_from_end:
        return gap_behind(death.repeat, last() - death.turn, death.at);
      case Death::Until::turns_later:
        return gap_behind(death.repeat, int64_t{own} + death.turn, death.at);
      case Death::Until::turns_mirrored:
        return gap_behind(death.repeat, last() - own - death.turn, death.at);
      default:
        return -1;
    }
  }
  // Right behind the request before it.
  [[nodiscard]] int32_t position_of_free(int32_t request) const { return position_of(request - 1) + 1; }

  // The own request of a recording that says what the request is like.
  [[nodiscard]] int32_t typical_own(int32_t request, size_t recording) const {
    const int32_t at = outline_.repeat_of(request);
    if (at < 0) return outline_.own_of(request, recording);
    const OutlinedRepeat& one = repeat(at);
    if (one.between(recording) == 0) return outline_.own_of(request, recording);
    return one.begin[recording] + one.typical_turn(recording) * one.period + request - one.first;
  }

  // As in its own recording. What is freed there later than it was comes first.
  [[nodiscard]] bool order_frees() {
    if (!free_order_.resize(static_cast<size_t>(outline_.count()), {})) return false;
    for (int32_t request = 0; request < outline_.count(); ++request) {
      const size_t source = outline_.source_of(request);
      const AskedRequests& asked = outline_.asked[source];
      const int32_t own = typical_own(request, source);
      const Death& death = deaths_.death[request];
      const int64_t row = asked.free_row[own];
      if (row < 0 || asked.death[own] > outline_.ends[source]) continue;
      const int32_t behind = asked.death[own] - 1;
      const bool is_here =
          death.until != Death::Until::request || outline_.place[source][behind] + 1 == death.request;
      const auto rows = static_cast<int64_t>(asked.ordinal_of_row.size());
      free_order_[request].order = 2 * (is_here ? row - asked.row[behind] : row - rows);
    }
    for (const OutlinedRepeat& one : outline_.repeats) order_turns(one);
    return true;
  }
  // Blocks of all turns that are freed between the same requests: turn by turn, or all of one request after the other.
  void order_turns(const OutlinedRepeat& one) {
    const size_t source = outline_.source_of(one.first);
    if (one.between(source) < 2) return;
    std::map<int32_t, std::vector<int32_t>> together;  // by the request before which they are freed
    for (int32_t request = one.first; request < one.first + one.period; ++request) {
      if (deaths_.death[request].until == Death::Until::request)
        together[deaths_.death[request].request].push_back(request);
    }
    const AskedRequests& asked = outline_.asked[source];
    const auto row = [&](int32_t request, int32_t turn) {
      return asked.free_row[one.begin[source] + (one.before + turn) * one.period + request - one.first];
    };
    for (auto& [until, requests] : together) {
      const int32_t last = one.between(source) - 1;
      const int32_t before =
          asked.row[asked.death[one.begin[source] + one.before * one.period + requests.front() - one.first] -
                    1];
      std::sort(requests.begin(), requests.end(),
                [&](int32_t a, int32_t b) { return row(a, 0) < row(b, 0); });
      const bool by_turn = row(requests.back(), 0) < row(requests.front(), 1);
      const bool by_turn_back = row(requests.front(), 0) > row(requests.back(), 1);
      for (size_t i = 0; i < requests.size(); ++i) {
        FreeOrder& order = free_order_[requests[i]];
        order.reversed = row(requests[i], 1) < row(requests[i], 0);
        if (by_turn || by_turn_back) {
          order.rank = static_cast<int32_t>(i);
          order.width = static_cast<int32_t>(requests.size());
          order.order = 2 * int64_t{row(requests.front(), by_turn ? 0 : last) - before};
        } else {
          order.order = 2 * int64_t{row(requests[i], order.reversed ? last : 0) - before};
        }
      }
    }
  }

  [[nodiscard]] Status add_frees() {
    for (int32_t i = 0; i < count(); ++i) {
      const int32_t request = request_[i];
      const Death& death = deaths_.death[request];
      if (death.until == Death::Until::never) continue;
      const int32_t at = outline_.repeat_of(request);
      const int32_t gap = gap_of(death, at < 0 ? 0 : turn_[i] + repeat(at).before);
      if (gap <= i)
        return fail(ErrorCode::wrong_usage, -1,
                    "{} is repeated {} times there, which is too few to be told: a block of {} is freed in "
                    "a turn that there is not",
                    outline_.line_of(repeat(death.repeat).first), times_[static_cast<size_t>(death.repeat)],
                    outline_.line_of(request));
      const size_t source = outline_.source_of(request);
      const FreeOrder& order = free_order_[request];
      int64_t turn = 0;
      if (at >= 0) turn = order.reversed ? between(static_cast<size_t>(at)) - 1 - turn_[i] : turn_[i];
      if (!items_.push_back({gap, order.order, turn * order.width + order.rank, Request::free, i,
                             static_cast<uint8_t>(source),
                             outline_.asked[source].waits[typical_own(request, source)]}))
        return no_memory();
    }
    return {};
  }

  [[nodiscard]] bool add_items_of(size_t recording) {
    const AskedRequests& asked = outline_.asked[recording];
    const RequestLog& log = outline_.all[recording].requests.log;
    const Column<int32_t>& places = outline_.place[recording];
    const int32_t end = outline_.ends[recording];
    const bool is_base = recording == outline_.last();
    int32_t seen = asked.before;
    int64_t after = -1;                                             // order of the free before, in this gap
    std::set<std::tuple<int32_t, int32_t, Request, int64_t>> done;  // by repeat, place in its turns, stream
    if (seen > end) return true;
    const auto add = [&](size_t row, int64_t order) {
      const Item item{0,
                      order,
                      0,
                      log.request[row],
                      log.subject[row],
                      static_cast<uint8_t>(recording),
                      log.request[row] == Request::empty_cache ? 0 : log.stream[row]};
      const Turn turn = outline_.turn_of(recording, seen);
      if (!outline_.is_between(recording, turn)) return add_at(position_of(places[seen]), item);
      // A flush of what has nothing cached leaves no trace, nor does a stream whose work nobody waits for: what one turn
      // does, all do. The end of a pool is that of the turn in the middle.
      if (item.request != Request::release_pool) {
        if (!done.insert({turn.repeat, turn.at, item.request, item.stream}).second) return true;
      } else if (turn.turn != repeat(turn.repeat).typical_turn(recording)) {
        return true;
      }
      const OutlinedRepeat& one = repeat(turn.repeat);
      for (int32_t i = 0; i < between(static_cast<size_t>(turn.repeat)); ++i) {
        if (!add_at(position_[one.first] + i * one.period + turn.at, item)) return false;
      }
      return true;
    };
    for (auto at = static_cast<size_t>(outline_.all[recording].requests.present); at < log.size_rows();
         ++at) {
      const int64_t here = static_cast<int64_t>(at) - (seen > 0 ? asked.row[seen - 1] : -1);
      switch (log.request[at]) {
        case Request::allocate:
          ++seen;
          after = -1;
          if (seen > end) return true;
          break;
        case Request::free: {
          const int32_t own = asked.ordinal_of_row[log.subject[at]];
          if (own < 0 || own >= end) break;
          const int32_t request = places[own];
          const Death& death = deaths_.death[request];
          if (death.until == Death::Until::never) break;
          if (death.until != Death::Until::request || death.request == places[seen])
            after = std::max(after, free_order_[request].order);
          break;
        }
        case Request::empty_cache:
          if (!add(at, is_base ? 2 * here : after + 1)) return false;
          break;
        case Request::finish_stream:
        case Request::release_pool:
          if (is_base && !add(at, 2 * here)) return false;
          break;
        default:
          break;
      }
    }
    return true;
  }
  [[nodiscard]] bool add_at(int32_t gap, Item item) {
    item.gap = gap;
    return items_.push_back(item);
  }

  [[nodiscard]] bool pool_of(size_t recording, int32_t place, int32_t& found) {
    found = -1;
    if (place < 0) return true;
    const trace::PoolKey key = outline_.all[recording].requests.log.pools[place];
    const auto [at, is_new] = pools_.try_emplace(key, static_cast<int32_t>(pools_.size()));
    found = at->second;
    return !is_new || written_.log.pools.push_back(key);
  }

  [[nodiscard]] bool write() {
    std::sort(items_.data(), items_.data() + items_.size(), [](const Item& a, const Item& b) {
      return std::tie(a.gap, a.order, a.minor, a.recording, a.subject) <
             std::tie(b.gap, b.order, b.minor, b.recording, b.subject);
    });
    const Item* item = items_.begin();
    for (int32_t i = 0; i <= count(); ++i) {
      int32_t emptied_at = -1;  // one call, however many recordings show it
      for (; item != items_.end() && item->gap <= i; ++item) {
        if (item->request == Request::empty_cache) {
          const auto rows = static_cast<int32_t>(written_.log.size_rows());
          if (emptied_at == rows) continue;
          emptied_at = rows + 1;
        }
        if (!write(*item)) return false;
      }
      if (i < count() && !write_request(i)) return false;
    }
    written_.log.seal();
    return true;
  }

  [[nodiscard]] bool append(const RequestLog::Row& row, int32_t request, int32_t turn) {
    return written_.log.append(row) && written_.request.push_back(request) && written_.turn.push_back(turn);
  }

  [[nodiscard]] bool write(const Item& item) {
    RequestLog::Row row;
    row.request = item.request;
    if (item.request == Request::free) {
      row.subject = row_[item.subject];
      // Only the base's streams are finished where it says so.
      if (item.stream >= 0 && item.recording == outline_.last()) {
        RequestLog::Row waits = row;
        waits.request = Request::record_stream;
        waits.stream = item.stream;
        if (!append(waits, -1, 0)) return false;
      }
      return append(row, -1, 0);
    }
    row.stream = item.stream;
    if (item.request != Request::finish_stream && !pool_of(item.recording, item.subject, row.subject))
      return false;
    return append(row, -1, 0);
  }

  [[nodiscard]] bool write_request(int32_t i) {
    const int32_t request = request_[i];
    const size_t source = outline_.source_of(request);
    const RequestLog& log = outline_.all[source].requests.log;
    const int32_t from = outline_.asked[source].row[typical_own(request, source)];
    RequestLog::Row row;
    row.request = Request::allocate;
    row.size = log.size[from];
    // Handles of streams are those of a run.
    stream_ = log.request[from] == Request::present ? 0
              : source == outline_.last()           ? log.stream[from]
                                                    : stream_;
    row.stream = stream_;
    if (log.request[from] == Request::allocate && !pool_of(source, log.subject[from], row.subject))
      return false;
    if (source == outline_.last()) row.stack = log.stack[from];
    return row_.push_back(static_cast<int32_t>(written_.log.size_rows())) && append(row, request, turn_[i]);
  }

  const Outline& outline_;
  const Deaths& deaths_;
  std::span<const int64_t> times_;
  Budget& budget_;
  // by request: in the log's requests; of turns between: in the first of them
  Column<int32_t> position_{budget_};
  Column<int32_t> request_{budget_}, turn_{budget_};  // by request of the log
  Column<FreeOrder> free_order_{budget_};             // by request
  Column<Item> items_{budget_};
  Column<int32_t> row_{budget_};  // by request of the log
  RunLog written_{budget_};
  std::map<trace::PoolKey, int32_t> pools_;  // there are at most 32768 in a recording
  int64_t stream_ = 0;
};

}  // namespace

RequestedPeak requested_peak(const RequestLog& log, std::span<const int64_t> sizes) {
  RequestedPeak peak;
  int64_t level = 0;
  for (size_t row = 0; row < log.size_rows(); ++row) {
    if (log.request[row] == Request::allocate || log.request[row] == Request::present) {
      if (level > (int64_t{1} << 62) - sizes[row]) return {INT64_MAX, static_cast<int32_t>(row), true};
      level += sizes[row];
      if (level > peak.bytes) {
        peak.bytes = level;
        peak.row = static_cast<int32_t>(row);
      }
    } else if (log.request[row] == Request::free) {
      level -= sizes[static_cast<size_t>(log.subject[row])];
    }
  }
  return peak;
}

int64_t own_peak(const Outline& outline, size_t recording) {
  const AskedRequests& asked = outline.asked[recording];
  const RequestLog& log = outline.all[recording].requests.log;
  const int32_t end = outline.ends[recording];
  const auto rows =
      end < asked.count() && end >= asked.before ? static_cast<size_t>(asked.row[end]) : log.size_rows();
  int64_t level = 0, peak = 0;
  for (size_t row = 0; row < rows; ++row) {
    const bool is_free = log.request[row] == Request::free;
    const int32_t own = asked.ordinal_of_row[is_free ? static_cast<size_t>(log.subject[row]) : row];
    if (own < 0 || own >= end) continue;
    level += is_free ? -log.size[log.subject[row]] : log.size[row];
    peak = std::max(peak, level);
  }
  return peak;
}

Result<RunLog> run_log(const Outline& outline, const Deaths& deaths, std::span<const int64_t> times,
                       Budget& budget) {
  return Writing(outline, deaths, times, budget).run();
}

}  // namespace gpustrata::analysis
