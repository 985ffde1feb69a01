#include "engine/model/recorded_snapshot.h"

#include <utility>

#include "engine/base/json_writer.h"
#include "engine/base/memory_refused.h"
#include "engine/model/allocator_rows.h"

namespace gpustrata::model {

namespace {

class Filler {
 public:
  Filler(const trace::Recorder& recorder, Recording& recording)
      : recorder_(recorder), rec_(recording), rows_(recording) {}

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
      if (!rows_.append_event(ring[i])) return false;
    }
    range.count = static_cast<int32_t>(ring.size());
    return true;
  }

  [[nodiscard]] bool segments(const alloc::DeviceAllocator& allocator, const SnapshotOptions& options) {
    return rows_.append_segments(allocator, options.pool);
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
  const trace::Recorder& recorder_;
  Recording& rec_;
  AllocatorRows rows_;
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
    if (options.include_traces)
      part.traces.push_back(
          {.device = static_cast<int32_t>(i), .events = range, .lost_oldest = ring.lost() > 0});
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
         filler.extra("trace_alloc_overflowed", overflows) && filler.extra("gpustrata", own_key(recorder));
}

}  // namespace

Status take_snapshot(const trace::Recorder& recorder, std::span<alloc::DeviceAllocator* const> allocators,
                     const SnapshotOptions& options, Recording& recording) {
  if (!fill(recorder, allocators, options, recording)) {
    return memory_refused(recording.budget, "for the snapshot");
  }
  recording.format = "recorded";
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
  json.member("free_order", alloc::name_of(config.free_order));
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

}  // namespace gpustrata::model
