// The file of a recording: what was told, beside the allocator's own state, which it must lead to.
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/observe/observed_state.h"
#include "capture/observe/observer.h"
#include "capture/stacks/named_stacks.h"
#include "engine/base/json_writer.h"
#include "engine/io/writers/torch_snapshot.h"

namespace gpustrata::capture {

using trace::Action;
using trace::TraceEvent;

namespace {

constexpr int64_t kDumpBytes = int64_t{1} << 40;
constexpr double kNamingSeconds = 60;

// What was told leads to what is there: of every allocation that was told and not freed there is a block with its request; and
// if all was told there is no other. In words what differs, else empty. Private pools are left out: a checkpoint brings their
// blocks back in its own way.
[[nodiscard]] std::string difference(const ObservedState& state, int device,
                                     const DeviceHistory::Copy& copy) {
  struct Live {
    int64_t requested;
    int64_t stream;
  };
  std::unordered_map<uint64_t, Live> live;
  for (const TraceEvent& event : copy.events) {
    if (event.pool != trace::PoolKey{}) continue;
    if (event.action == Action::alloc) live[event.address] = {event.size, event.stream};
    if (event.action == Action::free_completed) live.erase(event.address);
  }
  size_t unknown = 0;
  for (const ObservedState::Segment& segment : state.segments) {
    if (segment.row.device != device || key_of(segment.row.pool) != trace::PoolKey{}) continue;
    for (const gpustrata_observed_block& block : segment.blocks) {
      if (block.is_active == 0) continue;
      const auto found = live.find(block.address);
      if (found == live.end()) {
        ++unknown;
      } else if (found->second.requested != block.requested_size ||
                 found->second.stream != segment.row.stream) {
        return fmt::format("of the block at {:#x} {} bytes were told, but it has {}", block.address,
                           found->second.requested, block.requested_size);
      } else {
        live.erase(found);
      }
    }
  }
  if (!live.empty()) return fmt::format("{} allocations were told that are not there", live.size());
  if (copy.has_all && unknown > 0) return fmt::format("{} blocks are there that were not told", unknown);
  return {};
}

class Filler {
 public:
  Filler(model::Recording& recording, bool has_pools, EvenClock::Conversion clock)
      : rec_(recording), has_pools_(has_pools), clock_(clock), empty_(0) {}

  // Stack 0 of RawStacks is the empty one, which is what PyTorch lists for none here.
  [[nodiscard]] StackId listed(const std::unordered_map<uint64_t, StackId>& stacks, uint64_t address) const {
    const auto found = stacks.find(address);
    return found == stacks.end() || found->second.is_none() ? empty_ : found->second;
  }

  [[nodiscard]] bool event(const TraceEvent& event) {
    return rec_.events.append({.action = event.action,
                               .address = event.address,
                               .size = event.size,
                               .time = clock_.microseconds(static_cast<uint64_t>(event.time_us)),
                               .stack = event.stack,
                               .context = event.context,
                               .metadata = event.metadata,
                               .stream = rec_.stream_of(event.stream),
                               .pool = has_pools_ ? rec_.pool_of(event.pool) : PoolId()});
  }

  [[nodiscard]] bool segment(const ObservedState::Segment& segment, const LiveStacks& live) {
    const gpustrata_observed_segment& row = segment.row;
    const auto first = static_cast<int32_t>(rec_.blocks.size_rows());
    for (const gpustrata_observed_block& block : segment.blocks) {
      const model::BlockState state = block.is_allocated != 0 ? model::BlockState::active_allocated
                                      : block.is_active != 0  ? model::BlockState::active_pending_free
                                                              : model::BlockState::inactive;
      if (!rec_.blocks.append({.address = block.address,
                               .size = block.size,
                               .requested_size = block.requested_size,
                               .state = state,
                               .stack = block.is_active != 0 ? listed(live.blocks, block.address) : empty_}))
        return false;
    }
    return rec_.segments.append(
        {.device = row.device,
         .address = row.address,
         .total_size = row.total_size,
         .allocated_size = row.allocated_size,
         .active_size = row.active_size,
         .requested_size = row.requested_size,
         .stream = rec_.stream_of(row.stream),
         .pool = rec_.pool_of(key_of(row.pool)),
         .type = row.is_large != 0 ? model::SegmentType::large : model::SegmentType::small,
         .expandable = row.is_expandable != 0 ? model::Tristate::yes : model::Tristate::no,
         .stack = listed(live.segments, row.address),
         .blocks = {first, static_cast<int32_t>(segment.blocks.size())}});
  }

  [[nodiscard]] bool region(StringId name, bool begins, int32_t device, uint64_t time) {
    return rec_.annotations.append(
        {name, begins ? model::Stage::start : model::Stage::end, device, clock_.microseconds(time)});
  }

  [[nodiscard]] bool extra(std::string_view key, const JsonWriter& value) {
    const StringId key_id = rec_.strings.intern(key), value_id = rec_.strings.intern(value.text());
    return !key_id.is_none() && !value_id.is_none() &&
           rec_.extras.append({model::Owner::part, 0, key_id, value_id});
  }

 private:
  model::Recording& rec_;
  bool has_pools_;
  EvenClock::Conversion clock_;
  StackId empty_;
};

}  // namespace

Result<std::unique_ptr<Observation>> Observer::take() {
  const std::lock_guard guard(control_);
  if (!is_on_) return fail(ErrorCode::wrong_usage, -1, "nothing is observed");
  if (journal_ != nullptr) return fail(ErrorCode::wrong_usage, -1, "what is observed goes to a journal");
  ObservedState state;
  std::vector<DeviceHistory::Copy> copies;
  if (Status visited = visit_all([&](int, DeviceHistory& history,
                                     const gpustrata_observed_event&) { copies.push_back(history.copy()); },
                                 state.hearing());
      !visited)
    return tl::unexpected(visited.error());
  for (size_t i = 0; i < copies.size(); ++i) {
    if (const std::string differs = difference(state, static_cast<int>(i), copies[i]); !differs.empty())
      return fail(ErrorCode::wrong_usage, -1, "what was told of device {} is not what its allocator has: {}",
                  i, differs);
  }

  auto observation = std::make_unique<Observation>(kDumpBytes);
  model::Recording& rec = observation->recording;
  Filler filler(rec, allocator_->events_have_pools != 0, clock_.conversion());
  model::Part part;
  bool fits = true;
  JsonWriter capacities, overflows, own;
  capacities.begin_array();
  overflows.begin_array();
  own.begin_object();
  own.member("observed", true);
  own.key("lost_events");
  own.begin_array();
  std::vector<LiveStacks> live;
  {
    const std::lock_guard texts_guard(texts_lock_);
    fits = rec.strings.copy_from(texts_);
    for (int64_t i = 0; fits && i < regions_.size(); ++i) {
      const RegionMark& mark = regions_[i];
      fits = filler.region(mark.name, mark.begins, mark.device, mark.time);
    }
    part.annotations = {0, static_cast<int32_t>(regions_.size())};
  }
  for (size_t i = 0; fits && i < copies.size(); ++i) {
    DeviceHistory::Copy& copy = copies[i];
    capacities.value(copy.capacity);
    overflows.value(copy.lost > 0);
    own.value(copy.lost);
    observation->lost += copy.lost;
    observation->events.push_back(static_cast<int64_t>(copy.events.size()));
    const auto first = static_cast<int32_t>(rec.events.size_rows());
    fits = rec.events.reserve(rec.events.size_rows() + copy.events.size());
    for (const TraceEvent& event : copy.events) {
      fits = fits && filler.event(event);
      copy.older.add(event);
    }
    part.traces.push_back({static_cast<int32_t>(i), {first, static_cast<int32_t>(copy.events.size())}});
    live.push_back(std::move(copy.older));
  }
  capacities.end_array();
  overflows.end_array();
  own.end_array();
  own.member("lost_annotations", regions_.lost());
  own.member("lost_stacks", stacks_.lost());
  own.key("context");
  if (stacks_wanted_ == GPUSTRATA_STACKS_NONE) {
    own.null();
  } else {
    own.value("all");
  }
  own.key("skip_actions");
  own.begin_array();
  own.end_array();
  own.end_object();
  observation->segments.resize(copies.size());
  for (const ObservedState::Segment& segment : state.segments) {
    const auto device = static_cast<size_t>(segment.row.device);
    if (device >= live.size()) continue;
    ++observation->segments[device];
    fits = fits && filler.segment(segment, live[device]);
  }
  part.segments = {0, static_cast<int32_t>(rec.segments.size_rows())};
  part.settings_json = rec.strings.intern(state.settings);
  rec.parts.push_back(std::move(part));
  fits = fits && filler.extra("trace_alloc_max_entries", capacities) &&
         filler.extra("trace_alloc_overflowed", overflows) && filler.extra("gpustrata", own);
  if (!fits)
    return fail(ErrorCode::limit_exceeded, -1, "no memory for the snapshot: {} bytes are needed",
                rec.budget.needed());
  rec.format = "recorded";
  return observation;
}

Status Observer::write(Observation& observation, io::ByteSink& sink) {
  if (Status named = name_stacks(stacks_, observation.recording, symbols_, kNamingSeconds,
                                 reinterpret_cast<const void*>(allocator_->snapshot));
      !named)
    return named;
  observation.recording.seal();
  return io::write_torch_snapshot(observation.recording, sink);
}

}  // namespace gpustrata::capture
