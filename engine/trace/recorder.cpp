#include "engine/trace/recorder.h"

#include <algorithm>

namespace gpustrata::trace {

namespace {

// These come with a call of the device, which takes longer than making a chunk.
[[nodiscard]] bool is_slow(Action action) {
  return action >= Action::segment_alloc && action <= Action::snapshot;
}

}  // namespace

void DeviceRecorder::on_event(const TraceEvent& event) {
  const RecordSettings& settings = recorder_.settings();
  if (!settings.enabled || settings.skips(event.action)) return;
  TraceEvent* const kept = events_.push(event);
  if (kept == nullptr) return;
  kept->time_us = clock_.now_us();
  if (settings.level < StackLevel::alloc || event.action == Action::snapshot) kept->stack = {};
  if (event.metadata.is_none()) kept->metadata = recorder_.user_metadata();
  kept->context = recorder_.compile_context();
  if (is_slow(event.action)) events_.prepare();
}

void DeviceRecorder::annotate(const TraceEvent& block, StringId text) {
  TraceEvent event = block;
  event.action = Action::annotate;
  event.metadata = text;
  on_event(event);
}

Recorder::Recorder(Clock& clock, Budget& budget)
    : clock_(clock),
      budget_(budget),
      user_metadata_(strings_.intern("")),
      compile_context_(strings_.intern("N/A")),
      no_context_(compile_context_) {}

Status Recorder::record_memory_history(const RecordOptions& options) {
  const auto settings = checked(options);
  if (!settings) return tl::unexpected(settings.error());
  settings_ = *settings;
  const auto apply = [&](auto& ring) {
    if (settings_.clear) ring.clear();
    if (settings_.enabled) ring.set_capacity(settings_.max_entries);
    ring.prepare();
  };
  for (const auto& device : devices_) apply(device->events_);
  apply(regions_);
  return {};
}

DeviceRecorder& Recorder::device(int ordinal) {
  while (static_cast<int>(devices_.size()) <= ordinal) {
    devices_.push_back(std::make_unique<DeviceRecorder>(*this, clock_, budget_));
    if (settings_.enabled) devices_.back()->events_.set_capacity(settings_.max_entries);
  }
  return *devices_[static_cast<size_t>(ordinal)];
}

FrameId Recorder::frame(std::string_view name, std::string_view filename, int32_t line) {
  Frame frame;
  frame.name = text(name);
  frame.filename = text(filename);
  frame.line = line;
  return frames_.intern(frame);
}

StackId Recorder::stack(std::span<const FrameId> frames) {
  const bool whole =
      std::none_of(frames.begin(), frames.end(), [](FrameId frame) { return frame.is_none(); });
  const StackId id = whole ? stacks_.intern(frames) : StackId();
  if (id.is_none()) ++lost_stacks_;
  return id;
}

void Recorder::mark_region(std::string_view name, int32_t device, bool begins) {
  if (!settings_.enabled) return;
  const StringId id = text(name);
  if (!id.is_none()) regions_.push({id, device, begins, clock_.now_us()});
}

}  // namespace gpustrata::trace
