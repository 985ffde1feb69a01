// The history side of the caching allocator: what is recorded, and the way into a file.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "capture/front/all_locks.h"
#include "capture/front/caching_allocator.h"
#include "capture/front/report.h"
#include "capture/front/thread_state.h"
#include "capture/recorder/snapshot_file.h"
#include "capture/stacks/cpp_stack.h"
#include "capture/stacks/named_stacks.h"
#include "engine/io/writers/torch_snapshot.h"
#include "engine/model/recorded_snapshot.h"

namespace gpustrata::capture {

using trace::StackLevel;

namespace {

// Memory that the tables of a dump may take.
constexpr int64_t kDumpBytes = int64_t{1} << 40;
constexpr int kMostOomDumps = 16;

thread_local std::vector<std::string> t_regions;  // open ones, innermost last

// "run.pickle", "run.1.pickle", "run.2.pickle", ...
[[nodiscard]] std::string numbered(const std::string& path, int number) {
  if (number == 0) return path;
  const size_t folder = path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/') + 1;
  const size_t dot = path.find_last_of('.');
  const size_t cut = dot == std::string::npos || dot <= folder ? path.size() : dot;
  return fmt::format("{}.{}{}", path.substr(0, cut), number, path.substr(cut));
}

}  // namespace

Status CachingAllocator::record_memory_history(const trace::RecordOptions& options) {
  if (Status usable = refuse_in_child(); !usable) return usable;
  if (options.enabled) {
    prepare_cpp_stacks();
    if (const std::string why = why_cpp_stacks_are_slow(); options.stacks != "python" && !why.empty())
      report(why);
  }
  std::shared_ptr<KeptJournal> ended;  // given back, and so closed, without the locks
  const AllLocks locks(*this);
  if (journal_ && options.enabled && !options.skip_actions.empty())
    return fail(ErrorCode::wrong_usage, -1,
                "a journal needs all events: end it before skip_actions are given");
  if (Status set = recorder_.record_memory_history(options); !set) return set;
  if (!options.enabled) ended = take_journal();
  const trace::RecordSettings& settings = recorder_.settings();
  python_only_ = settings.stacks == trace::StackKind::python;
  recording_ = settings.enabled;
  stack_level_ = static_cast<int>(settings.enabled ? settings.level : StackLevel::none);
  return {};
}

Status CachingAllocator::set_user_metadata(std::string_view text) {
  if (Status usable = refuse_in_child(); !usable) return usable;
  const std::lock_guard guard(recorder_lock_);
  t_user_metadata = text.empty() ? StringId() : recorder_.text(text);
  if (journal_) journal_->note_text(t_user_metadata, text);
  if (!text.empty() && t_user_metadata.is_none())
    return fail(ErrorCode::limit_exceeded, -1, "no memory for a metadata text of {} bytes", text.size());
  return {};
}

Status CachingAllocator::begin_region(std::string_view name, int device) {
  if (Status usable = refuse_in_child(); !usable) return usable;
  t_regions.emplace_back(name);
  const std::lock_guard guard(recorder_lock_);
  recorder_.begin_region(name, device);
  tell_region(name, device, true);
  return {};
}

Status CachingAllocator::end_region(int device) {
  if (Status usable = refuse_in_child(); !usable) return usable;
  if (t_regions.empty()) return fail(ErrorCode::wrong_usage, -1, "this thread has no open region to end");
  const std::string name = std::move(t_regions.back());
  t_regions.pop_back();
  const std::lock_guard guard(recorder_lock_);
  recorder_.end_region(name, device);
  tell_region(name, device, false);
  return {};
}

Status CachingAllocator::annotate(uint64_t address, std::string_view text) {
  const StackId stack = origin(StackLevel::alloc).stack;
  std::unique_lock<std::mutex> guard;
  const Result<Device*> owner = lock_owner(address, -1, guard);
  if (!owner) return tl::unexpected(owner.error());
  const std::lock_guard recorder_guard(recorder_lock_);
  if (journal_) journal_->note_text(recorder_.text(text), text);
  Status annotated = model::annotate_block(*(*owner)->allocator, recorder_, address, text, stack);
  if (annotated) (*owner)->told->tell_newest(trace::Action::annotate);
  return annotated;
}

Result<std::unique_ptr<model::Recording>> CachingAllocator::copy_state(Budget& budget) {
  auto recording = std::make_unique<model::Recording>(budget);
  const AllLocks locks(*this);
  std::vector<alloc::DeviceAllocator*> allocators;
  for (const auto& device : devices_) {
    if (device->allocator) allocators.push_back(device->allocator.get());
  }
  if (const Status taken = model::take_snapshot(recorder_, allocators, {}, *recording); !taken)
    return tl::unexpected(taken.error());
  // PyTorch's devices are there once CUDA has begun, used or not: each notes a snapshot.
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i]->allocator) continue;
    trace::TraceEvent event;
    event.action = trace::Action::snapshot;
    recorder_.device(static_cast<int>(i)).on_event(event);
  }
  return recording;
}

Status CachingAllocator::dump(io::ByteSink& sink, double seconds) {
  if (Status usable = refuse_in_child(); !usable) return usable;
  (void)open();  // without a device there is an empty snapshot to write
  Budget budget(kDumpBytes);
  const auto recording = copy_state(budget);
  if (!recording) return tl::unexpected(recording.error());
  if (Status named = name_stacks(stacks_, **recording, symbols_, seconds); !named) return named;
  (*recording)->seal();
  return io::write_torch_snapshot(**recording, sink);
}

Status CachingAllocator::dump_to_file(const std::string& path) {
  if (Status usable = refuse_in_child(); !usable) return usable;
  auto file = SnapshotFile::create(path);
  if (!file) return tl::unexpected(file.error());
  if (Status dumped = dump(*file, kNamingSeconds); !dumped) return dumped;
  return file->commit();
}

Status CachingAllocator::set_oom_dump(std::string_view path) {
  if (Status usable = refuse_in_child(); !usable) return usable;
  const std::lock_guard guard(oom_lock_);
  oom_path_ = path;
  oom_dumps_ = 0;
  return {};
}

// No lock is held: the oom event is in the history already.
void CachingAllocator::dump_after_oom() {
  std::string path;
  {
    const std::lock_guard guard(oom_lock_);
    if (oom_path_.empty() || oom_dumps_ >= kMostOomDumps) return;
    path = numbered(oom_path_, oom_dumps_++);
  }
  const Status dumped = dump_to_file(path);
  report(dumped ? fmt::format("out of memory; its snapshot is {}", path)
                : fmt::format("out of memory, and no snapshot of it: {}", dumped.error().message));
}

}  // namespace gpustrata::capture
