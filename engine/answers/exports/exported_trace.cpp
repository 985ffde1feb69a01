#include "engine/answers/exports/exported_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/ops/op_memory.h"
#include "engine/analysis/steps/marks.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/saturating.h"
#include "engine/replay/device.h"

namespace gpustrata::answers {

namespace {

using model::kNoTime;
using model::Part;
using trace::Action;

constexpr int64_t kStepNs = 1000;  // of what has no times
constexpr int32_t kMostPools = 64;

// c10::DeviceType of the names that readers/trace/trace_parts.cpp gives; what is no trace is CUDA's.
[[nodiscard]] int device_type(std::string_view name) {
  constexpr std::pair<std::string_view, int> kTypes[] = {{"cpu", 0},  {"cuda", 1}, {"hip", 6},
                                                         {"xpu", 12}, {"mps", 13}, {"privateuseone", 20}};
  const size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  for (const auto& [known, type] : kTypes) {
    if (name == known) return type;
  }
  return 1;
}

class Exporter {
 public:
  Exporter(TextOut& out, const model::Recording& recording, size_t only_part)
      : out_(out), rec_(recording), only_(only_part), json_(out.json()) {}

  [[nodiscard]] Status run() {
    find_base();
    json_.begin_object();
    json_.member("schemaVersion", 1);
    json_.member("displayTimeUnit", "ms");
    json_.member("baseTimeNanoseconds", base_ns_);
    json_.key("otherData");
    json_.begin_object();
    json_.member("exporter", "gpustrata");
    if (without_times_) json_.member("times", "The recording has no times: a microsecond is an event.");
    json_.end_object();
    if (rec_.diagnostics.incomplete()) json_.member("gpustrata_damaged", true);
    json_.key("traceEvents");
    json_.begin_array();
    write_spans();
    Status written = {};
    for (size_t i = 0; i < rec_.parts.size() && written && !out_.failed(); ++i) {
      if (is_wanted(i)) written = write_part(rec_.parts[i]);
    }
    json_.end_array();
    json_.end_object();
    out_.end_line(json_);
    return written;
  }

 private:
  [[nodiscard]] bool is_wanted(size_t part) const { return only_ == kAllParts || only_ == part; }

  // -- Times.

  void look_at(const Part& part, int64_t time) {
    if (const auto ns = part.has_clock ? part.clock.nanoseconds(time) : std::nullopt)
      base_ns_ = std::min(base_ns_, *ns);
  }
  void find_base() {
    base_ns_ = std::numeric_limits<int64_t>::max();
    for (size_t i = 0; i < rec_.parts.size(); ++i) {
      if (!is_wanted(i)) continue;
      const Part& part = rec_.parts[i];
      for (const model::DeviceTrace& trace : part.traces) look_at_events(part, trace.events);
      look_at_events(part, part.host_events);
      for (int32_t row = part.annotations.first; row < part.annotations.end(); ++row)
        look_at(part, rec_.annotations.time[row]);
      for (int32_t row = part.spans.first; row < part.spans.end(); ++row)
        look_at(part, rec_.spans.start[row]);
      for (int32_t row = part.series.first; row < part.series.end(); ++row) {
        const model::RowRange points = rec_.series.points[row];
        for (int32_t point = points.first; point < points.end(); ++point)
          look_at(part, rec_.points.time[point]);
      }
    }
    without_times_ = base_ns_ == std::numeric_limits<int64_t>::max();
    if (without_times_) base_ns_ = 0;
  }
  void look_at_events(const Part& part, model::RowRange events) {
    for (int32_t row = events.first; row < events.end(); ++row) look_at(part, rec_.events.time[row]);
  }
  // Nanoseconds after the base; none if the row has no time although others have.
  [[nodiscard]] std::optional<int64_t> after_base(const Part& part, int64_t time, int64_t step) const {
    if (!part.has_clock) return time == kNoTime ? step * kStepNs : saturated_product(time, kStepNs);
    const auto ns = part.clock.nanoseconds(time);
    if (ns) return saturated_difference(*ns, base_ns_);
    return without_times_ ? std::optional(step * kStepNs) : std::nullopt;
  }
  [[nodiscard]] static int64_t saturated_product(int64_t a, int64_t b) {
    int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  }
  void microseconds(std::string_view name, int64_t ns) {
    const uint64_t size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
    json_.key(name);
    json_.raw(fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000));
  }

  // -- Events of a Chrome trace.

  void name_process(int64_t process, std::string_view name) {
    json_.begin_object();
    json_.member("ph", "M");
    json_.member("name", "process_name");
    json_.member("pid", process);
    json_.member("tid", 0);
    json_.member("ts", 0);
    json_.key("args");
    json_.begin_object();
    json_.member("name", name);
    json_.end_object();
    json_.end_object();
  }
  void counter(int64_t process, std::string_view name, int64_t ns, int64_t value) {
    json_.begin_object();
    json_.member("ph", "C");
    json_.member("name", name);
    json_.member("pid", process);
    json_.member("tid", 0);
    microseconds("ts", ns);
    json_.key("args");
    json_.begin_object();
    json_.member("bytes", value);
    json_.end_object();
    json_.end_object();
  }
  void begin_slice(std::string_view category, std::string_view name, int64_t process, int64_t thread,
                   int64_t ns, int64_t duration) {
    json_.begin_object();
    json_.member("ph", "X");
    json_.member("cat", category);
    json_.member("name", name);
    json_.member("pid", process);
    json_.member("tid", thread);
    microseconds("ts", ns);
    microseconds("dur", duration);
  }

  // -- Ops and annotations of a profiler's trace, on processes that are numbered first.

  // Numbers of processes by their texts: threads of one lie side by side.
  [[nodiscard]] int64_t process_of(int32_t thread) const {
    const StringId process = rec_.threads.process[thread];
    return process.is_none() ? 0 : int64_t{1} + process.value;
  }
  void write_spans() {
    std::vector<bool> has_spans(rec_.threads.size_rows());
    int32_t written = 0;  // parts of one trace share their spans
    for (size_t i = 0; i < rec_.parts.size(); ++i) {
      const Part& part = rec_.parts[i];
      if (!is_wanted(i) || part.spans.end() <= written) continue;
      for (int32_t row = part.spans.first; row < part.spans.end() && !out_.failed(); ++row) {
        has_spans[static_cast<size_t>(rec_.spans.thread[row])] = true;
        write_span(part, row);
      }
      written = part.spans.end();
    }
    for (size_t thread = 0; thread < has_spans.size(); ++thread) {
      const auto row = static_cast<int32_t>(thread);
      if (!has_spans[thread] || rec_.threads.name[row].is_none()) continue;
      json_.begin_object();
      json_.member("ph", "M");
      json_.member("name", "thread_name");
      json_.member("pid", process_of(row));
      json_.member("tid", row);
      json_.member("ts", 0);
      json_.key("args");
      json_.begin_object();
      json_.member("name", rec_.strings.view(rec_.threads.name[row]));
      json_.end_object();
      json_.end_object();
    }
  }
  void write_span(const Part& part, int32_t row) {
    const model::SpanTable& spans = rec_.spans;
    const auto ns = after_base(part, spans.start[row], 0);
    if (!ns || spans.duration[row] < 0) return;
    const StringId category = spans.category[row];
    begin_slice(category.is_none() ? "cpu_op" : rec_.strings.view(category),
                rec_.strings.view(spans.name[row]), process_of(spans.thread[row]), spans.thread[row], *ns,
                saturated_product(spans.duration[row], part.clock.tick_ns));
    if (!spans.shapes[row].is_none()) {
      json_.key("args");
      json_.begin_object();
      json_.key("Input Dims");
      json_.raw(rec_.strings.view(spans.shapes[row]));
      json_.end_object();
    }
    json_.end_object();
  }

  // -- Devices.

  [[nodiscard]] Status write_part(const Part& part) {
    if (part.series.count > 0) write_series(part);
    for (const int32_t device : part.devices(rec_.segments)) {
      if (Status written = write_device(part, device); !written) return written;
    }
    if (part.host_events.count > 0 || part.host_segments.count > 0)
      return write_device(part, replay::kHostDevice);
    return {};
  }

  [[nodiscard]] Status write_device(const Part& part, int32_t ordinal) {
    const auto device = replay::Device::open(rec_, part, ordinal);
    if (!device) return tl::unexpected(device.error());
    const bool is_host = ordinal == replay::kHostDevice;
    const bool is_trace = part.kind == model::PartKind::trace;
    const int64_t process = next_process_++;
    const std::string name = is_host    ? "host (pinned)"
                             : is_trace ? analysis::device_name(part, ordinal)
                                        : fmt::format("device {}", ordinal);
    name_process(process, part.name.empty() || is_trace ? name : fmt::format("{} {}", part.name, name));
    Out of{part,
           **device,
           process,
           is_host || device_type(part.name) == 0 ? 0 : device_type(part.name),
           is_host ? -1 : ordinal,
           -1};
    for (const model::DeviceTrace& trace : part.traces) {
      if (trace.device == ordinal && !is_host) of.first_record = trace.first_record;
    }
    if (Status written = write_regions(of); !written) return written;
    write_levels(of);
    return write_pools(of);
  }

  struct Out {
    const Part& part;
    const replay::Device& device;
    int64_t process;
    int type, ordinal;
    int32_t first_record;  // of a profiler's trace, else -1
  };

  // None of an event that is not there: a snapshot without a history has pools and blocks, too.
  [[nodiscard]] std::optional<int64_t> time_of(const Out& of, int32_t event) const {
    if (event >= of.device.rows.events.count) return std::nullopt;
    return after_base(of.part, rec_.events.time[of.device.rows.events.first + event], event);
  }

  [[nodiscard]] Status write_regions(const Out& of) {
    if (of.part.kind == model::PartKind::trace) return {};  // its annotations are spans
    const auto regions = analysis::find_regions(rec_, of.part, of.device.rows);
    if (!regions) return tl::unexpected(regions.error());
    const int32_t events = of.device.rows.events.count;
    if (events == 0) return {};
    const auto first = time_of(of, 0), last = time_of(of, events - 1);
    for (const analysis::Region& region : *regions) {
      if (out_.failed()) break;
      const auto from =
          region.from_time == kNoTime ? first : after_base(of.part, region.from_time, region.from_event);
      const auto to = region.to_time == kNoTime ? last : after_base(of.part, region.to_time, region.to_event);
      if (!from || !to || *to < *from) continue;
      begin_slice("user_annotation", in_list(rec_.strings.view(region.name)), of.process, 0, *from,
                  *to - *from);
      json_.end_object();
    }
    return {};
  }

  void write_levels(const Out& of) {
    const replay::BlockLives& lives = of.device.lives;
    const model::RowRange events = of.device.rows.events;
    size_t step = 0;
    int64_t reserved = lives.reserved.initial;
    bool begun = false;
    std::optional<int64_t> last;
    for (int32_t event = 0; event < events.count && !out_.failed(); ++event) {
      // One without a time happened after the one before it.
      const auto ns = time_of(of, event) ? time_of(of, event) : last;
      last = ns;
      const bool changes = step < lives.reserved.event.size() && lives.reserved.event[step] == event;
      for (; step < lives.reserved.event.size() && lives.reserved.event[step] <= event; ++step)
        reserved = lives.reserved.value[step];
      if (!ns) continue;
      if (!begun) {
        counter(of.process, "allocated", *ns, lives.initial_level);
        if (lives.has_reserved) counter(of.process, "reserved", *ns, reserved);
        begun = true;
      } else if (changes) {
        counter(of.process, "reserved", *ns, reserved);
      }
      if (lives.level_after(event) != lives.level_after(event - 1))
        counter(of.process, "allocated", *ns, lives.level_after(event));
      write_record(of, event, *ns, reserved);
    }
  }

  void write_record(const Out& of, int32_t event, int64_t ns, int64_t reserved) {
    const auto row = static_cast<size_t>(of.device.rows.events.first + event);
    const Action action = rec_.events.action[row];
    const bool is_oom = action == Action::oom;
    const int64_t change =
        saturated_difference(of.device.lives.level_after(event), of.device.lives.level_after(event - 1));
    if (!is_oom && change == 0) return;
    json_.begin_object();
    json_.member("ph", "i");
    json_.member("cat", "cpu_instant_event");
    json_.member("s", "t");
    json_.member("name", is_oom ? "[OutOfMemory]" : "[memory]");
    const int32_t thread = of.first_record < 0 ? -1 : rec_.records.thread[of.first_record + event];
    json_.member("pid", thread < 0 ? of.process : process_of(thread));
    json_.member("tid", std::max(thread, 0));
    microseconds("ts", ns);
    json_.key("args");
    json_.begin_object();
    json_.member("Device Type", of.type);
    json_.member("Device Id", of.type == 0 ? -1 : of.ordinal);
    json_.member("Bytes", is_oom ? rec_.events.size[row] : change);
    if (!is_oom) {
      json_.member("Addr", rec_.events.address[row]);
      json_.member("Total Allocated", of.device.lives.level_after(event));
      if (of.device.lives.has_reserved) json_.member("Total Reserved", reserved);
      json_.member("Ev Idx", event);
    }
    json_.end_object();
    json_.end_object();
  }

  // Bytes in use of each private pool, where there are few.
  [[nodiscard]] Status write_pools(const Out& of) {
    const auto attributes = analysis::block_attributes(rec_, of.part, of.device.lives);
    if (!attributes) return tl::unexpected(attributes.error());
    if (rec_.pools.size() < 2 || rec_.pools.size() > kMostPools) return {};
    const replay::BlockLives& lives = of.device.lives;
    Column<int32_t> by_end(rec_.budget);  // ranks, as they are freed
    for (int32_t rank = 0; rank < lives.count(); ++rank) {
      const PoolId pool = attributes->pool[rank];
      if (!pool.is_none() && pool.value > 0 && lives.freed[rank] < lives.events.count &&
          !by_end.push_back(rank))
        return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the levels of pools");
    }
    std::sort(by_end.data(), by_end.data() + by_end.size(),
              [&](int32_t a, int32_t b) { return lives.freed[a] < lives.freed[b]; });
    std::vector<int64_t> levels(rec_.pools.size(), 0);
    std::vector<uint8_t> is_used(rec_.pools.size(), 0);
    const auto tell = [&](PoolId pool, int32_t event) {
      is_used[pool.index()] = 1;
      if (const auto ns = time_of(of, std::max(event, 0)))
        counter(of.process, fmt::format("pool {}", pool_text(pool)), *ns, levels[pool.index()]);
    };
    size_t next_end = 0;
    int32_t rank = 0;
    for (int32_t event = -1; event < lives.events.count && !out_.failed(); ++event) {
      for (; next_end < by_end.size() && lives.freed[by_end[next_end]] == event; ++next_end) {
        const PoolId pool = attributes->pool[by_end[next_end]];
        add_saturated(levels[pool.index()], -lives.size[by_end[next_end]]);
        tell(pool, event);
      }
      for (; rank < lives.count() && lives.born[rank] <= event; ++rank) {
        const PoolId pool = attributes->pool[rank];
        if (pool.is_none() || pool.value == 0) continue;
        add_saturated(levels[pool.index()], lives.size[rank]);
        tell(pool, event);
      }
    }
    return {};
  }
  [[nodiscard]] std::string pool_text(PoolId pool) const {
    const model::Pool& key = rec_.pools[pool.index()];
    return fmt::format("{}:{}", static_cast<uint64_t>(key.graph_id), static_cast<uint64_t>(key.user_id));
  }

  // -- Numbers over time.

  void write_series(const Part& part) {
    const int64_t process = next_process_++;
    name_process(process, part.name.empty() ? "counters" : part.name);
    for (int32_t row = part.series.first; row < part.series.end() && !out_.failed(); ++row) {
      const std::string_view name = rec_.strings.view(rec_.series.name[row]);
      const int32_t device = rec_.series.device[row];
      const bool is_time = rec_.series.unit[row] == model::Unit::nanoseconds;
      const std::string shown =
          device == model::kUnknownDevice ? in_list(name) : fmt::format("{} {}", in_list(name), device);
      const bool names_steps = part.series_are == model::SeriesAre::operators && row == part.series.first;
      const model::RowRange points = rec_.series.points[row];
      for (int32_t point = points.first; point < points.end() && !out_.failed(); ++point) {
        const auto ns = after_base(part, rec_.points.time[point], point - points.first);
        if (!ns) continue;
        const int64_t value = rec_.points.value[point];
        const StringId label = rec_.points.label[point];
        const std::string text = label.is_none() ? std::string() : in_list(rec_.strings.view(label));
        if (value != model::kNoValue && !is_time) counter(process, shown, *ns, value);
        if (is_time || names_steps) {
          begin_slice("user_annotation", text, process, 0, *ns,
                      is_time ? std::max<int64_t>(value, 0) : kStepNs);
          json_.end_object();
        } else if (value == model::kNoValue) {
          mark(process, text, *ns);
        }
      }
    }
  }
  void mark(int64_t process, std::string_view name, int64_t ns) {
    json_.begin_object();
    json_.member("ph", "i");
    json_.member("s", "p");
    json_.member("name", name);
    json_.member("pid", process);
    json_.member("tid", 0);
    microseconds("ts", ns);
    json_.end_object();
  }

  TextOut& out_;
  const model::Recording& rec_;
  size_t only_;
  JsonWriter json_;
  int64_t base_ns_ = 0;
  bool without_times_ = false;
  // Of devices: behind every number of process_of().
  int64_t next_process_ = 1'000'000'000;
};

}  // namespace

Status export_trace(TextOut& out, const model::Recording& recording, size_t only_part) {
  return Exporter(out, recording, only_part).run();
}

}  // namespace gpustrata::answers
