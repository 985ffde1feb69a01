// gpustrata.h on the caching allocator: status codes, texts, no exception leaves.
#include "capture/gpustrata.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <thread>

#include "capture/front/caching_allocator.h"
#include "capture/front/guarded.h"
#include "capture/front/report.h"
#include "capture/pointers.h"
#include "capture/stacks/cpp_stack.h"
#include "capture/stacks/python_stack.h"
#include "engine/alloc/memory_summary.h"
#include "engine/base/json_writer.h"

namespace gpustrata::capture {
namespace {

[[nodiscard]] trace::PoolKey key_of(gpustrata_pool pool) {
  return {static_cast<int64_t>(pool.graph_id), static_cast<int64_t>(pool.user_id)};
}
[[nodiscard]] std::string_view text_or_empty(const char* text) { return text == nullptr ? "" : text; }

// See gpustrata_describe_devices().
size_t give(std::string_view text, char* to, size_t capacity) {
  if (to != nullptr && capacity > 0) {
    const size_t length = std::min(text.size(), capacity - 1);
    std::memcpy(to, text.data(), length);
    to[length] = 0;
  }
  return text.size();
}

[[nodiscard]] trace::RecordOptions options_of(const gpustrata_history& history) {
  trace::RecordOptions options;
  const auto optional = [](const char* text) {
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
  };
  options.enabled = optional(history.enabled);
  options.context = optional(history.context);
  options.stacks = text_or_empty(history.stacks);
  options.max_entries = history.max_entries;
  options.clear_history = history.clear_history != 0;
  std::string_view rest = text_or_empty(history.skip_actions);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    options.skip_actions.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return options;
}

}  // namespace
}  // namespace gpustrata::capture

using namespace gpustrata;
using namespace gpustrata::capture;

const char* gpustrata_last_error() { return last_error(); }
const char* gpustrata_version() { return GPUSTRATA_VERSION; }

int gpustrata_device_count() {
  return guarded_value(0, [] { return CachingAllocator::instance().device_count(); });
}
size_t gpustrata_describe_devices(char* text, size_t capacity) {
  return guarded_value(size_t{0},
                       [&] { return give(CachingAllocator::instance().device_text(), text, capacity); });
}
gpustrata_status gpustrata_use_simulated_device(int64_t bytes) {
  return guarded([&] { return CachingAllocator::instance().use_simulated_device(bytes); });
}
gpustrata_status gpustrata_memory_info(int device, int64_t* free_bytes, int64_t* total_bytes) {
  return guarded([&]() -> Status {
    const auto info = CachingAllocator::instance().memory_info(device);
    if (!info) return tl::unexpected(info.error());
    if (free_bytes != nullptr) *free_bytes = info->free_bytes;
    if (total_bytes != nullptr) *total_bytes = info->total_bytes;
    return {};
  });
}

// --- Memory
// ----------------------------------------------------------------------------------------------------

gpustrata_status gpustrata_malloc(void** pointer, size_t size, int device, void* stream) {
  if (pointer == nullptr) return refused("gpustrata_malloc() needs a place for the pointer");
  *pointer = nullptr;
  return guarded([&]() -> Status {
    const auto address = CachingAllocator::instance().malloc(size, device, handle_of(stream));
    if (!address) return tl::unexpected(address.error());
    *pointer = pointer_of(*address);
    return {};
  });
}
gpustrata_status gpustrata_release(void* pointer) {
  return guarded([&] { return CachingAllocator::instance().free(address_of(pointer), -1); });
}
gpustrata_status gpustrata_use_on_stream(void* pointer, void* stream) {
  return guarded(
      [&] { return CachingAllocator::instance().record_stream(address_of(pointer), handle_of(stream)); });
}
gpustrata_status gpustrata_empty_cache() {
  return guarded([] { return CachingAllocator::instance().empty_cache(); });
}
gpustrata_status gpustrata_base_allocation(void* pointer, void** base, size_t* size) {
  return guarded([&]() -> Status {
    const auto found = CachingAllocator::instance().base_allocation(address_of(pointer));
    if (!found) return tl::unexpected(found.error());
    if (base != nullptr) *base = pointer_of(found->address);
    if (size != nullptr) *size = static_cast<size_t>(found->size);
    return {};
  });
}
gpustrata_status gpustrata_enable_peer_access(int device, int peer) {
  return guarded([&] { return CachingAllocator::instance().enable_peer_access(device, peer); });
}

// --- Settings, pools
// -------------------------------------------------------------------------------------------

gpustrata_status gpustrata_set_allocator_settings(const char* settings) {
  return guarded([&] { return CachingAllocator::instance().set_config(text_or_empty(settings)); });
}
gpustrata_status gpustrata_set_free_order(const char* order) {
  return guarded([&] { return CachingAllocator::instance().set_free_order(text_or_empty(order)); });
}
gpustrata_status gpustrata_set_memory_fraction(double fraction, int device) {
  return guarded([&] { return CachingAllocator::instance().set_memory_fraction(fraction, device); });
}
double gpustrata_get_memory_fraction(int device) {
  return guarded_value(-1.0, [&] {
    const auto fraction = CachingAllocator::instance().memory_fraction(device);
    if (fraction) return *fraction;
    set_last_error(fraction.error().message);
    return -1.0;
  });
}
gpustrata_status gpustrata_pool_begin(int device, gpustrata_pool pool) {
  return guarded([&] {
    const auto accepts = [thread = std::this_thread::get_id()](int64_t) {
      return std::this_thread::get_id() == thread;
    };
    return CachingAllocator::instance().begin_allocate_to_pool(device, key_of(pool), accepts);
  });
}
gpustrata_status gpustrata_pool_end(int device, gpustrata_pool pool) {
  return guarded([&] { return CachingAllocator::instance().end_allocate_to_pool(device, key_of(pool)); });
}
gpustrata_status gpustrata_pool_release(int device, gpustrata_pool pool) {
  return guarded([&] { return CachingAllocator::instance().release_pool(device, key_of(pool)); });
}

// --- History
// ---------------------------------------------------------------------------------------------------

void gpustrata_default_history(gpustrata_history* history) {
  if (history != nullptr) *history = {"all", "all", "all", std::numeric_limits<int64_t>::max(), 0, nullptr};
}
gpustrata_status gpustrata_record_memory_history(const gpustrata_history* history) {
  return guarded([&] {
    return CachingAllocator::instance().record_memory_history(history == nullptr ? trace::RecordOptions()
                                                                                 : options_of(*history));
  });
}
gpustrata_status gpustrata_set_user_metadata(const char* text) {
  return guarded([&] { return CachingAllocator::instance().set_user_metadata(text_or_empty(text)); });
}
gpustrata_status gpustrata_region_begin(const char* name, int device) {
  return guarded([&] { return CachingAllocator::instance().begin_region(text_or_empty(name), device); });
}
gpustrata_status gpustrata_region_end(int device) {
  return guarded([&] { return CachingAllocator::instance().end_region(device); });
}
gpustrata_status gpustrata_annotate(void* pointer, const char* text) {
  return guarded(
      [&] { return CachingAllocator::instance().annotate(address_of(pointer), text_or_empty(text)); });
}
gpustrata_status gpustrata_dump_snapshot(const char* path) {
  return guarded([&] { return CachingAllocator::instance().dump_to_file(std::string(text_or_empty(path))); });
}
gpustrata_status gpustrata_snapshot(char** bytes, size_t* size) {
  if (bytes == nullptr || size == nullptr)
    return refused("gpustrata_snapshot() needs places for bytes and size");
  *bytes = nullptr;
  *size = 0;
  return guarded([&]() -> Status {
    Budget budget(std::numeric_limits<int64_t>::max() / 2);
    io::MemorySink sink(budget);
    if (Status dumped = CachingAllocator::instance().dump(sink, kNamingSeconds); !dumped) return dumped;
    *bytes = static_cast<char*>(std::malloc(sink.bytes().size()));
    if (*bytes == nullptr)
      return fail(ErrorCode::limit_exceeded, -1, "no memory for a snapshot of {} bytes", sink.bytes().size());
    *size = sink.bytes().size();
    std::memcpy(*bytes, sink.bytes().data(), *size);
    return {};
  });
}
void gpustrata_free_bytes(char* bytes) { std::free(bytes); }
gpustrata_status gpustrata_set_oom_dump(const char* path) {
  return guarded([&] { return CachingAllocator::instance().set_oom_dump(text_or_empty(path)); });
}
gpustrata_status gpustrata_journal(const char* path, int64_t max_size) {
  return guarded([&] {
    CachingAllocator& allocator = CachingAllocator::instance();
    const std::string_view name = text_or_empty(path);
    if (Status ended = allocator.end_journal(); !ended || name.empty()) return ended;
    return allocator.begin_journal(std::string(name), max_size == 0 ? JournalOptions().max_size : max_size);
  });
}
const char* gpustrata_cpp_unwinder() { return cpp_unwinder().data(); }
void gpustrata_stop_python_stacks() { stop_python_stacks(); }

// --- Statistics
// ------------------------------------------------------------------------------------------------

size_t gpustrata_memory_stats(int device, char* text, size_t capacity) {
  return guarded_value(size_t{0}, [&]() -> size_t {
    const auto stats = CachingAllocator::instance().stats(device);
    if (!stats) return set_last_error(stats.error().message), 0;
    JsonWriter json;
    json.begin_object();
    for (const alloc::NamedStat& stat : alloc::flat_stats(*stats)) json.member(stat.name, stat.value);
    json.end_object();
    return give(json.text(), text, capacity);
  });
}
size_t gpustrata_memory_summary(int device, int abbreviated, char* text, size_t capacity) {
  return guarded_value(size_t{0}, [&]() -> size_t {
    const auto stats = CachingAllocator::instance().stats(device);
    if (!stats) return set_last_error(stats.error().message), 0;
    return give(alloc::memory_summary(*stats, device, abbreviated != 0), text, capacity);
  });
}
gpustrata_status gpustrata_reset_peak_memory_stats(int device) {
  return guarded([&] { return CachingAllocator::instance().reset_peak_stats(device); });
}
gpustrata_status gpustrata_reset_accumulated_memory_stats(int device) {
  return guarded([&] { return CachingAllocator::instance().reset_accumulated_stats(device); });
}
