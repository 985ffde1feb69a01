// Attaches to PyTorch's own CUDA allocator and hands its events on as plain values (gpustrata.h), compiled against the PyTorch
// that runs (_run/observe.py). One source for all versions whose entries tell their pools (2.8, 2.13 and 2.15 do, 2.5.1 does
// not): what only some have is asked of the types. Both g++ and clang compile it.
#include <ATen/record_function.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/ApproximateClock.h>
#include <torch/version.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gpustrata.h>  // the library's header

namespace {

namespace native = c10::cuda::CUDACachingAllocator;
using native::TraceEntry;

// Actions cross as numbers.
static_assert(TraceEntry::ALLOC == 0 && TraceEntry::FREE_REQUESTED == 1 && TraceEntry::FREE_COMPLETED == 2 &&
              TraceEntry::SEGMENT_ALLOC == 3 && TraceEntry::SEGMENT_FREE == 4 &&
              TraceEntry::SEGMENT_MAP == 5 && TraceEntry::SEGMENT_UNMAP == 6 && TraceEntry::SNAPSHOT == 7 &&
              TraceEntry::OOM == 8);
constexpr bool kEventsHavePools =
    TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 12;  // in PyTorch's own files

using Hear = void (*)(const gpustrata_observed_event* event);
using HearRegion = void (*)(const char* name, int begins, int device, uint64_t time);
Hear g_hear = nullptr;
HearRegion g_hear_region = nullptr;

template <typename Entry>
auto metadata_of(const Entry& entry, int) -> decltype(entry.user_metadata_.c_str()) {
  return entry.user_metadata_.c_str();
}
template <typename Entry>
const char* metadata_of(const Entry&, long) {
  return nullptr;
}

bool is_none(const std::string& context) {
  return context.size() == 3 && std::memcmp(context.data(), "N/A", 3) == 0;
}

// Each device's allocator keeps a copy of its own, made one after the other, so a copy knows whose it is: a snapshot's entry
// does not say.
class Tracker {
 public:
  explicit Tracker(std::shared_ptr<int> copies) : copies_(std::move(copies)) {}
  Tracker(const Tracker& other) : copies_(other.copies_), device_((*copies_)++) {}
  Tracker(Tracker&&) = default;

  void operator()(const TraceEntry& entry) const {
    gpustrata_observed_event event;
    event.action = entry.action_;
    event.device = device_;
    event.address = entry.addr_;
    event.size = static_cast<int64_t>(entry.size_);
    event.stream = static_cast<int64_t>(reinterpret_cast<intptr_t>(entry.stream_));
    event.pool = {entry.mempool_.first, entry.mempool_.second};
    event.time = static_cast<uint64_t>(entry.time_.approx_t_);
    event.compile_context = is_none(entry.compile_context_) ? nullptr : entry.compile_context_.c_str();
    event.user_metadata = metadata_of(entry, 0);
    g_hear(&event);
  }

 private:
  std::shared_ptr<int> copies_;
  int device_ = -1;
};

// --- State

class Json {
 public:
  void member(const char* name, const std::string& value) { key(name) += quoted(value); }
  void member(const char* name, int64_t value) { key(name) += std::to_string(value); }
  void member(const char* name, size_t value) { member(name, static_cast<int64_t>(value)); }
  void member(const char* name, bool value) { key(name) += value ? "true" : "false"; }
  void member(const char* name, double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    key(name) += text;
    if (std::strpbrk(text, ".eni") == nullptr) text_ += ".0";
  }
  void object(const char* name, const Json& value) { key(name) += value.text(); }
  std::string text() const { return text_ + "}"; }

 private:
  std::string& key(const char* name) {
    if (text_.size() > 1) text_ += ',';
    return text_ += quoted(name) + ":";
  }
  static std::string quoted(const std::string& value) {
    std::string text = "\"";
    for (const char c : value) {
      char escaped[8];
      if (static_cast<unsigned char>(c) < 0x20) {
        std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
        text += escaped;
      } else {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
      }
    }
    return text + "\"";
  }
  std::string text_ = "{";
};

// A member that not every version has, under the name it has in PyTorch's files.
#define OPTIONAL(field, name)                                                             \
  template <typename Config>                                                              \
  auto add_##field(Json& json, const Config& config, int)->decltype((void)config.field) { \
    json.member(name, config.field);                                                      \
  }                                                                                       \
  template <typename Config>                                                              \
  void add_##field(Json&, const Config&, long) {}
OPTIONAL(release_lock_on_malloc, "release_lock_on_cudamalloc")
OPTIONAL(release_lock_on_cudamalloc, "release_lock_on_cudamalloc")
OPTIONAL(pinned_use_host_register, "pinned_use_cuda_host_register")
OPTIONAL(pinned_use_cuda_host_register, "pinned_use_cuda_host_register")
OPTIONAL(graph_capture_record_stream_reuse, "graph_capture_record_stream_reuse")
OPTIONAL(max_round_threshold, "max_round_threshold")
OPTIONAL(max_cached_size, "max_cached_size")
#undef OPTIONAL

template <typename Config>
std::string settings_of(const Config& config) {
  Json json, divisions;
  json.member("PYTORCH_CUDA_ALLOC_CONF", config.last_allocator_settings);
  json.member("max_split_size", static_cast<int64_t>(config.max_split_size));
  json.member("garbage_collection_threshold", config.garbage_collection_threshold);
  json.member("expandable_segments", config.expandable_segments);
  json.member("pinned_num_register_threads", static_cast<int64_t>(config.pinned_num_register_threads));
  add_release_lock_on_malloc(json, config, 0);
  add_release_lock_on_cudamalloc(json, config, 0);
  add_pinned_use_host_register(json, config, 0);
  add_pinned_use_cuda_host_register(json, config, 0);
  add_graph_capture_record_stream_reuse(json, config, 0);
  add_max_round_threshold(json, config, 0);
  add_max_cached_size(json, config, 0);
  for (size_t i = 0; i < config.roundup_power2_divisions.size(); ++i)
    divisions.member(std::to_string(uint64_t{1} << i).c_str(),
                     static_cast<int64_t>(config.roundup_power2_divisions[i]));
  json.object("roundup_power2_divisions", divisions);
  return json.text();
}

// Without its traces, where a version can.
template <typename Allocator>
auto state_of(Allocator* allocator, int) -> decltype(allocator->snapshot({0, 0}, false)) {
  return allocator->snapshot({0, 0}, false);
}
template <typename Allocator>
auto state_of(Allocator* allocator, long) -> decltype(allocator->snapshot()) {
  return allocator->snapshot();
}

thread_local std::string t_problem;

const char* snapshot(const gpustrata_observed_state* state) {
  try {
    const native::SnapshotInfo info = state_of(native::get(), 0);
    std::vector<gpustrata_observed_block> blocks;
    for (const auto& segment : info.segments) {
      blocks.clear();
      uint64_t address = segment.address;
      for (const auto& block : segment.blocks) {
        blocks.push_back({address, static_cast<int64_t>(block.size),
                          static_cast<int64_t>(block.requested_size), block.allocated, block.active});
        address += block.size;
      }
      gpustrata_observed_segment row;
      row.device = segment.device;
      row.is_large = segment.is_large;
      row.is_expandable = segment.is_expandable;
      row.block_count = static_cast<int32_t>(blocks.size());
      row.address = segment.address;
      row.total_size = static_cast<int64_t>(segment.total_size);
      row.allocated_size = static_cast<int64_t>(segment.allocated_size);
      row.active_size = static_cast<int64_t>(segment.active_size);
      row.requested_size = static_cast<int64_t>(segment.requested_size);
      row.stream = static_cast<int64_t>(reinterpret_cast<intptr_t>(segment.stream));
      row.pool = {segment.owner_private_pool_id.first, segment.owner_private_pool_id.second};
      row.blocks = blocks.data();
      state->segment(state->to, &row);
    }
    state->settings(state->to, info.config_metadata.last_allocator_settings.c_str(),
                    settings_of(info.config_metadata).c_str());
    return nullptr;
  } catch (const std::exception& error) {
    t_problem = error.what();
    return t_problem.c_str();
  }
}

uint64_t now() { return static_cast<uint64_t>(c10::getApproximateTime()); }

void region(const at::RecordFunction& function, int begins) {
  c10::DeviceIndex device = 0;
  if (c10::cuda::GetDevice(&device) != cudaSuccess) return;
  g_hear_region(function.name(), begins, device, now());
}

gpustrata_observable g_allocator;

}  // namespace

// Once a process: there is no detaching. NULL and `*allocator`, or in words why it is not observed.
extern "C" const char* gpustrata_attach(Hear hear, HearRegion hear_region,
                                        const gpustrata_observable** allocator) {
  try {
    if (g_hear == nullptr) {
      native::CUDAAllocator* const own = native::get();
      if (own == nullptr || own->name() != "native") {
        t_problem = "PyTorch's allocator is not its native one, but " +
                    (own == nullptr ? std::string("none") : own->name());
        return t_problem.c_str();
      }
      g_hear = hear;
      g_hear_region = hear_region;
      auto copies = std::make_shared<int>(0);
      const Tracker tracker(copies);
      native::AllocatorTraceTracker function(tracker);
      *copies = 0;  // what is copied from now on is each device's
      own->attachAllocatorTraceTracker(std::move(function));
      g_allocator = {*copies, kEventsHavePools, now, snapshot};
      at::addGlobalCallback(at::RecordFunctionCallback(
                                [](const at::RecordFunction& one) -> std::unique_ptr<at::ObserverContext> {
                                  region(one, 1);
                                  return nullptr;
                                },
                                [](const at::RecordFunction& one, at::ObserverContext*) { region(one, 0); })
                                .scopes({at::RecordScope::USER_SCOPE}));
    }
    *allocator = &g_allocator;
    return nullptr;
  } catch (const std::exception& error) {
    t_problem = error.what();
    return t_problem.c_str();
  }
}
