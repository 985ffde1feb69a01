#include "engine/model/recorded_snapshot.h"

#include <utility>

#include "engine/base/json_writer.h"

namespace memstrata::model {

namespace {

// Handles in a row are often equal: the last one is remembered.
template <typename Key, typename Id>
class LastSeen {
 public:
  template <typename Intern>
  [[nodiscard]] Id operator()(const Key& key, Intern&& intern) {
    if (id_.is_none() || !(key == key_)) {
      key_ = key;
      id_ = intern(key);
    }
    return id_;
  }

 private:
  Key key_{};
  Id id_;
};

class Filler {
 public:
  Filler(const trace::Recorder& recorder, Recording& recording) : recorder_(recorder), rec_(recording) {}

  [[nodiscard]] bool tables() {
    return rec_.strings.copy_from(recorder_.strings()) && rec_.frames.copy_from(recorder_.frames()) &&
           rec_.stacks.copy_from(recorder_.stacks());
  }

  [[nodiscard]] bool events(const trace::RecorderRing<trace::TraceEvent>& ring, RowRange& range) {
    EventTable& e = rec_.events;
    range = {static_cast<int32_t>(e.size_rows()), 0};
    if (ring.size() > INT32_MAX - range.first) return false;
    if (!e.reserve(e.size_rows() + static_cast<size_t>(ring.size()))) return false;
    for (int64_t i = 0; i < ring.size(); ++i) {
      const trace::TraceEvent& event = ring[i];
      if (!e.append({.action = event.action,
                     .address = event.address,
                     .size = event.size,
                     .time = event.time_us,
                     .stack = event.stack,
                     .context = event.context,
                     .metadata = event.metadata,
                     .stream = stream(event.stream),
                     .pool = pool(event.pool)})) {
        return false;
      }
    }
    range.count = static_cast<int32_t>(ring.size());
    return true;
  }

  // Expandable segments: one row for each mapped range, as PyTorch lists them.
  [[nodiscard]] bool segments(const alloc::DeviceAllocator& allocator, const SnapshotOptions& options) {
    const alloc::MemoryState& state = allocator.state();
    for (const alloc::SegmentId id : state.segments()) {
      const alloc::Segment& segment = state.segment(id);
      if (options.pool && !(segment.pool == *options.pool)) continue;
      for (alloc::BlockId at = segment.first; !at.is_none();) {
        if (!state.block(at).mapped) {
          at = state.block(at).next;
        } else if (!mapped_range(allocator.ordinal(), state, segment, at)) {
          return false;
        }
      }
    }
    return true;
  }

  [[nodiscard]] bool regions(RowRange& range) {
    const auto& ring = recorder_.regions();
    AnnotationTable& a = rec_.annotations;
    for (int64_t i = 0; i < ring.size(); ++i) {
      const trace::RegionMark& mark = ring[i];
      if (!a.append({mark.name, mark.begins ? Stage::start : Stage::end, mark.device, mark.time_us})) {
        return false;
      }
    }
    range = {0, static_cast<int32_t>(ring.size())};
    return true;
  }

  [[nodiscard]] bool extra(std::string_view key, const JsonWriter& value) {
    const StringId key_id = rec_.strings.intern(key), value_id = rec_.strings.intern(value.text());
    return !key_id.is_none() && !value_id.is_none() && rec_.extras.append({Owner::part, 0, key_id, value_id});
  }

 private:
  [[nodiscard]] StreamId stream(int64_t handle) {
    return last_stream_(handle, [&](int64_t key) { return rec_.stream_of(key); });
  }
  [[nodiscard]] PoolId pool(const trace::PoolKey& pool) {
    return last_pool_(pool, [&](const trace::PoolKey& key) { return rec_.pool_of(key); });
  }
  // PyTorch lists no stack as an empty one here.
  [[nodiscard]] StackId stack_or_empty(StackId stack) {
    if (!stack.is_none()) return stack;
    if (empty_.is_none()) empty_ = rec_.stacks.intern({});
    return empty_;
  }

  // The blocks from `at` to the next unmapped one; `at` becomes that.
  [[nodiscard]] bool mapped_range(int device, const alloc::MemoryState& state, const alloc::Segment& segment,
                                  alloc::BlockId& at) {
    BlockTable& b = rec_.blocks;
    SegmentTable& s = rec_.segments;
    const auto first = static_cast<int32_t>(b.size_rows());
    const uint64_t address = state.block(at).address;
    int64_t total = 0, allocated = 0, active = 0, requested = 0;
    int32_t count = 0;
    for (; !at.is_none() && state.block(at).mapped; at = state.block(at).next, ++count) {
      const alloc::Block& block = state.block(at);
      total += block.size;
      if (block.state == alloc::BlockState::active_allocated) allocated += block.size;
      if (block.is_active()) {
        active += block.size;
        requested += block.requested_size;
      }
      const StackId stack = stack_or_empty(block.is_active() ? block.stack : StackId());
      if (stack.is_none() || !b.append({.address = block.address,
                                        .size = block.size,
                                        .requested_size = block.requested_size,
                                        .state = state_of(block.state),
                                        .stack = stack})) {
        return false;
      }
    }
    return s.append({.device = device,
                     .address = address,
                     .total_size = total,
                     .allocated_size = allocated,
                     .active_size = active,
                     .requested_size = requested,
                     .stream = stream(segment.stream),
                     .pool = pool(segment.pool),
                     .type = segment.small ? SegmentType::small : SegmentType::large,
                     .expandable = segment.expandable ? Tristate::yes : Tristate::no,
                     .stack = stack_or_empty(segment.stack),
                     .blocks = {first, count}});
  }
  [[nodiscard]] static BlockState state_of(alloc::BlockState state) {
    switch (state) {
      case alloc::BlockState::active_allocated:
        return BlockState::active_allocated;
      case alloc::BlockState::active_pending_free:
        return BlockState::active_pending_free;
      case alloc::BlockState::inactive:
        break;
    }
    return BlockState::inactive;
  }

  const trace::Recorder& recorder_;
  Recording& rec_;
  StackId empty_;
  LastSeen<int64_t, StreamId> last_stream_;
  LastSeen<trace::PoolKey, PoolId> last_pool_;
};

[[nodiscard]] std::string_view text_of(trace::StackLevel level) {
  constexpr std::string_view kTexts[] = {"", "state", "alloc", "all"};
  return kTexts[static_cast<size_t>(level)];
}

[[nodiscard]] JsonWriter own_key(const trace::Recorder& recorder) {
  JsonWriter json;
  json.begin_object();
  json.key("lost_events");
  json.begin_array();
  for (const auto& device : recorder.devices()) json.value(device->events().lost());
  json.end_array();
  json.member("lost_annotations", recorder.regions().lost());
  json.member("lost_stacks", recorder.lost_stacks());
  json.key("context");
  if (recorder.settings().level == trace::StackLevel::none) {
    json.null();
  } else {
    json.value(text_of(recorder.settings().level));
  }
  json.key("skip_actions");
  json.begin_array();
  for (auto action = trace::Action::alloc; action < trace::Action::first_unknown;
       action = static_cast<trace::Action>(static_cast<int>(action) + 1)) {
    if (recorder.settings().skips(action)) json.value(trace::name_of(action));
  }
  json.end_array();
  json.end_object();
  return json;
}

[[nodiscard]] bool fill(const trace::Recorder& recorder, std::span<alloc::DeviceAllocator* const> allocators,
                        const SnapshotOptions& options, Recording& recording) {
  Filler filler(recorder, recording);
  if (!filler.tables()) return false;
  Part part;
  JsonWriter capacities, overflows;
  capacities.begin_array();
  overflows.begin_array();
  for (size_t i = 0; i < recorder.devices().size(); ++i) {
    const auto& ring = recorder.devices()[i]->events();
    capacities.value(ring.capacity());
    overflows.value(ring.lost() > 0);
    RowRange range;
    if (options.include_traces && !filler.events(ring, range)) return false;
    if (options.include_traces) part.traces.push_back({static_cast<int32_t>(i), range});
  }
  capacities.end_array();
  overflows.end_array();
  for (const alloc::DeviceAllocator* allocator : allocators) {
    if (!filler.segments(*allocator, options)) return false;
  }
  part.segments = {0, static_cast<int32_t>(recording.segments.size_rows())};
  if (!filler.regions(part.annotations)) return false;
  if (!allocators.empty()) {
    part.settings_json = recording.strings.intern(settings_json(allocators.front()->config()));
    if (part.settings_json.is_none()) return false;
  }
  recording.parts.push_back(std::move(part));
  return filler.extra("trace_alloc_max_entries", capacities) &&
         filler.extra("trace_alloc_overflowed", overflows) && filler.extra("memstrata", own_key(recorder));
}

}  // namespace

Status take_snapshot(const trace::Recorder& recorder, std::span<alloc::DeviceAllocator* const> allocators,
                     const SnapshotOptions& options, Recording& recording) {
  if (!fill(recorder, allocators, options, recording)) {
    return fail(ErrorCode::limit_exceeded, -1, "no memory for the snapshot: {} bytes are allowed, {} needed",
                recording.budget.limit(), recording.budget.needed());
  }
  recording.format = "recorded";
  recording.seal();
  for (alloc::DeviceAllocator* allocator : allocators) (void)allocator->note_snapshot();
  return {};
}

std::string settings_json(const alloc::Config& config) {
  JsonWriter json;
  json.begin_object();
  json.member("PYTORCH_CUDA_ALLOC_CONF", config.last_settings);
  json.member("max_split_size",
              config.max_split_size == alloc::kUnlimited ? int64_t{-1} : config.max_split_size);
  json.member("garbage_collection_threshold", config.garbage_collection_threshold);
  json.member("expandable_segments", config.expandable_segments);
  json.member("pinned_num_register_threads", config.pinned_num_register_threads);
  json.member("release_lock_on_cudamalloc", config.release_lock_on_cudamalloc);
  json.member("pinned_use_cuda_host_register", config.pinned_use_cuda_host_register);
  json.member("graph_capture_record_stream_reuse", config.graph_capture_record_stream_reuse);
  json.key("roundup_power2_divisions");
  json.begin_object();
  for (size_t i = 0; i < alloc::Config::kDivisionClasses; ++i) {
    json.member(std::to_string(int64_t{1} << i), config.roundup_power2_divisions[i]);
  }
  json.end_object();
  json.end_object();
  return std::move(json).text();
}

Status annotate_block(const alloc::DeviceAllocator& allocator, trace::Recorder& recorder, uint64_t address,
                      std::string_view text, StackId stack) {
  const alloc::MemoryState& state = allocator.state();
  const alloc::BlockId id = state.live_block_at(address);
  if (id.is_none()) return fail(ErrorCode::wrong_usage, -1, "no live block starts at {:#x}", address);
  const alloc::Segment& segment = state.segment_of(id);
  trace::TraceEvent event;
  event.address = address;
  event.size = state.block(id).requested_size;
  event.stream = segment.stream;
  event.pool = segment.pool;
  event.stack = stack;
  recorder.device(allocator.ordinal()).annotate(event, recorder.text(text));
  return {};
}

}  // namespace memstrata::model
