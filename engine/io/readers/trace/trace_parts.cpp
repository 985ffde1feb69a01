#include "engine/io/readers/trace/trace_parts.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "engine/base/saturating.h"
#include "engine/io/readers/trace/trace_matching.h"
#include "engine/io/readers/trace/trace_nesting.h"
#include "engine/io/readers/trace/trace_order.h"

namespace gpustrata::io::traces {

using model::Diag;
using trace::Action;

namespace {

// c10::DeviceType, as PyTorch writes them.
constexpr std::array<std::string_view, 21> kDeviceNames = {
    "cpu",   "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",  "fpga", "maia", "xla",          "vulkan",
    "metal", "xpu",  "mps",    "meta",   "hpu",    "ve",    "lazy", "ipu",  "mtia", "privateuseone"};

[[nodiscard]] std::string name_of_type(int64_t type) {
  if (type >= 0 && static_cast<size_t>(type) < kDeviceNames.size())
    return std::string(kDeviceNames[static_cast<size_t>(type)]);
  return fmt::format("device type {}", type);
}

// The host last: what is shown first is what runs out.
[[nodiscard]] auto rank_of(const Device& device) {
  return std::tuple(device.type == 0, device.type, device.id);
}

class Maker {
 public:
  Maker(model::Recording& recording, Rows& rows, const model::Clock& clock)
      : rec_(recording), rows_(rows), clock_(clock) {}

  [[nodiscard]] bool run() {
    rows_.give_back_reserve();
    const model::RowRange spans = rows_.spans();
    bool whole = sort_spans(rec_, spans, rows_.threads());
    if (!whole) rec_.spans.truncate(static_cast<size_t>(spans.first));  // without an order they are of no use
    whole = sort_records() && surround(rec_, rows_, order_, places_) && add_devices() && whole;
    if (rec_.parts.size() == parts_before_) add_part({});
    if (rows_.drafts.empty()) rec_.diagnostics.add(Diag::no_memory_records);
    return whole;
  }

 private:
  [[nodiscard]] bool sort_records() {
    const Column<Draft>& drafts = rows_.drafts;
    if (!all_rows(order_, drafts.size())) return false;
    sort_unless_sorted(order_.data(), order_.data() + order_.size(), [&](uint32_t a, uint32_t b) {
      const Draft &x = drafts[a], &y = drafts[b];
      return std::tuple(x.start, x.index, a) < std::tuple(y.start, y.index, b);
    });
    return true;
  }

  [[nodiscard]] bool add_devices() {
    std::vector<int32_t> devices(rows_.devices.size());
    for (size_t i = 0; i < devices.size(); ++i) devices[i] = static_cast<int32_t>(i);
    const auto device = [&](int32_t i) -> const Device& { return rows_.devices[static_cast<size_t>(i)]; };
    std::sort(devices.begin(), devices.end(),
              [&](int32_t a, int32_t b) { return rank_of(device(a)) < rank_of(device(b)); });
    Column<uint32_t> starts(rec_.budget);
    if (!group(order_, devices.size(), starts, rec_.budget,
               [&](uint32_t i) { return rows_.drafts[i].device; }))
      return false;
    for (size_t i = 0; i < devices.size(); ++i) {
      const Device& one = device(devices[i]);
      if (i == 0 || device(devices[i - 1]).type != one.type) add_part(name_of_type(one.type));
      const auto at = static_cast<size_t>(devices[i]);
      if (!add_device(one.id, order_.span().subspan(starts[at], starts[at + 1] - starts[at]))) return false;
    }
    return true;
  }

  void add_part(std::string name) {
    model::Part& part = rec_.parts.emplace_back();
    part.kind = model::PartKind::trace;
    part.name = std::move(name);
    part.clock = clock_;
    part.spans = rows_.spans();
  }

  [[nodiscard]] bool add_device(int32_t ordinal, std::span<const uint32_t> records) {
    model::DeviceTrace trace;
    trace.device = ordinal;
    trace.events.first = static_cast<int32_t>(rec_.events.size_rows());
    trace.first_record = static_cast<int32_t>(rec_.records.size_rows());
    Matching matching(rec_.budget);
    int64_t base = -1, last = model::kUnknownSize;
    bool whole = true;
    for (const uint32_t i : records) {
      const Draft& draft = rows_.drafts[i];
      if (draft.allocated != model::kUnknownSize && !draft.is_oom) {
        if (base < 0) base = std::max<int64_t>(saturated_difference(draft.allocated, draft.bytes), 0);
        const bool jumps = last != model::kUnknownSize && saturated_sum(last, draft.bytes) != draft.allocated;
        if (jumps) rec_.diagnostics.add(Diag::totals_jump);
        last = draft.allocated;
      }
      whole = add_record(draft, i, matching);
      if (!whole) break;
      ++trace.events.count;
    }
    if (base > matching.freed_older()) {
      const int64_t bytes = base - matching.freed_older();
      trace.from_start = {static_cast<int32_t>(rec_.blocks.size_rows()), 1};
      whole = rec_.blocks.append({.address = kOlder,
                                  .size = bytes,
                                  .requested_size = bytes,
                                  .state = model::BlockState::active_allocated}) &&
              whole;
      if (!whole) trace.from_start = {};
    }
    rec_.parts.back().traces.push_back(trace);
    return whole;
  }

  [[nodiscard]] bool add_record(const Draft& draft, uint32_t i, Matching& matching) {
    const int64_t bytes = draft.bytes < 0 ? saturated_difference(0, draft.bytes) : draft.bytes;
    uint64_t address = model::kUnknownFree;
    if (!draft.is_oom && !matching.place(draft, bytes, address)) return false;
    const Action action = draft.is_oom      ? Action::oom
                          : draft.bytes < 0 ? Action::free_completed
                                            : Action::alloc;
    if (!rec_.events.append({.action = action,
                             .address = address,
                             .size = bytes,
                             .time = draft.start,
                             .stack = places_.stack[i]})) {
      return false;
    }
    if (rec_.records.append({.thread = draft.thread,
                             .op = places_.op[i],
                             .total_allocated = draft.allocated,
                             .total_reserved = draft.reserved})) {
      return true;
    }
    rec_.events.truncate(rec_.events.size_rows() - 1);
    return false;
  }

  model::Recording& rec_;
  Rows& rows_;
  model::Clock clock_;
  size_t parts_before_ = rec_.parts.size();
  Column<uint32_t> order_{rec_.budget};  // of drafts: by time, then by device
  Surroundings places_{rec_.budget};
};

}  // namespace

bool make_parts(model::Recording& recording, Rows& rows, const model::Clock& clock) {
  return Maker(recording, rows, clock).run();
}

}  // namespace gpustrata::io::traces
