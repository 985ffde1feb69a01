#include "engine/analysis/fit/asked_requests.h"

#include <algorithm>
#include <compare>

namespace gpustrata::analysis {

using simulate::Request;
using simulate::RequestLog;

bool AskedRequests::read(const model::Recording& recording, const simulate::RecordedRequests& requests,
                         StackNumbers& symbols, Budget& budget) {
  const RequestLog& log = requests.log;
  const size_t rows = log.size_rows();
  ShownStacks shown(recording);
  Column<int32_t> known(budget);
  if (!shown.prepare() || !known.resize(recording.stacks.size() + 1, -1) || !ordinal_of_row.resize(rows, -1))
    return false;
  const auto symbol_of = [&](StackId stack) {
    int32_t& one = known[stack.is_none() ? known.size() - 1 : stack.index()];
    if (one < 0) one = symbols.of(shown.key(stack));
    return one;
  };
  // Frees that come with what was there: that waits, and is no memory that anybody has.
  const auto present = static_cast<size_t>(requests.present);
  Column<uint8_t> is_waiting(budget);
  if (!is_waiting.resize(present, 0)) return false;
  for (size_t at = 0; at < present; ++at) {
    if (log.request[at] == Request::free) is_waiting[log.subject[at]] = 1;
  }
  const auto add = [&](size_t at) {
    ordinal_of_row[at] = count();
    const int32_t one = symbol_of(log.stack[at]);
    return one >= 0 && row.push_back(static_cast<int32_t>(at)) && symbol.push_back(one) &&
           death.push_back(kNotFreed) && free_row.push_back(-1) && waits.push_back(-1);
  };
  const auto asks = [&](size_t at) {
    return log.request[at] == Request::allocate || log.request[at] == Request::present;
  };
  for (size_t at = 0; at < rows; ++at) {
    if (asks(at) && (at >= present || is_waiting[at] == 0) && !add(at)) return false;
    if (at < present) {
      before = count();
      continue;
    }
    if (log.request[at] != Request::free && log.request[at] != Request::record_stream) continue;
    const int32_t of = ordinal_of_row[log.subject[at]];
    if (of < 0) continue;
    if (log.request[at] == Request::record_stream) {
      waits[of] = log.stream[at];
    } else {
      death[of] = count();
      free_row[of] = static_cast<int32_t>(at);
    }
  }
  return order_what_was_before(log, budget);
}

bool AskedRequests::order_what_was_before(const RequestLog& log, Budget& budget) {
  struct One {
    int32_t death, symbol;
    int64_t size;
    int32_t row, free_row;
    int64_t waits;
    auto operator<=>(const One&) const = default;
  };
  Column<One> all(budget);
  for (int32_t i = 0; i < before; ++i) {
    if (!all.push_back({death[i], symbol[i], log.size[row[i]], row[i], free_row[i], waits[i]})) return false;
  }
  std::sort(all.data(), all.data() + all.size());
  for (int32_t i = 0; i < before; ++i) {
    const One& one = all[i];
    row[i] = one.row;
    symbol[i] = one.symbol;
    death[i] = one.death;
    free_row[i] = one.free_row;
    waits[i] = one.waits;
    ordinal_of_row[one.row] = i;
  }
  return true;
}

}  // namespace gpustrata::analysis
