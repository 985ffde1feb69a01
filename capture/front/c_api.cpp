// memstrata.h on the caching allocator: status codes, texts, no exception leaves.
#include "capture/memstrata.h"

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

namespace memstrata::capture {
namespace {

[[nodiscard]] trace::PoolKey key_of(memstrata_pool pool) {
  return {static_cast<int64_t>(pool.graph_id), static_cast<int64_t>(pool.user_id)};
}
[[nodiscard]] std::string_view text_or_empty(const char* text) { return text == nullptr ? "" : text; }

// See memstrata_describe_devices().
size_t give(std::string_view text, char* to, size_t capacity) {
  if (to != nullptr && capacity > 0) {
    const size_t length = std::min(text.size(), capacity - 1);
    std::memcpy(to, text.data(), length);
    to[length] = 0;
  }
  return text.size();
}

[[nodiscard]] trace::RecordOptions options_of(const memstrata_history& history) {
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
}  // namespace memstrata::capture

using namespace memstrata;
using namespace memstrata::capture;

const char* memstrata_last_error() { return last_error(); }
const char* memstrata_version() { return MEMSTRATA_VERSION; }

int memstrata_device_count() {
  return guarded_value(0, [] { return CachingAllocator::instance().device_count(); });
}
size_t memstrata_describe_devices(char* text, size_t capacity) {
  return guarded_value(size_t{0},
                       [&] { return give(CachingAllocator::instance().device_text(), text, capacity); });
}
memstrata_status memstrata_use_simulated_device(int64_t bytes) {
  return guarded([&] { return CachingAllocator::instance().use_simulated_device(bytes); });
}
memstrata_status memstrata_memory_info(int device, int64_t* free_bytes, int64_t* total_bytes) {
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

memstrata_status memstrata_malloc(void** pointer, size_t size, int device, void* stream) {
  if (pointer == nullptr) return refused("memstrata_malloc() needs a place for the pointer");
  *pointer = nullptr;
  return guarded([&]() -> Status {
    const auto address = CachingAllocator::instance().malloc(size, device, handle_of(stream));
    if (!address) return tl::unexpected(address.error());
    *pointer = pointer_of(*address);
    return {};
  });
}
memstrata_status memstrata_release(void* pointer) {
  return guarded([&] { return CachingAllocator::instance().free(address_of(pointer), -1); });
}
memstrata_status memstrata_use_on_stream(void* pointer, void* stream) {
  return guarded(
      [&] { return CachingAllocator::instance().record_stream(address_of(pointer), handle_of(stream)); });
}
memstrata_status memstrata_empty_cache() {
  return guarded([] { return CachingAllocator::instance().empty_cache(); });
}
memstrata_status memstrata_base_allocation(void* pointer, void** base, size_t* size) {
  return guarded([&]() -> Status {
    const auto found = CachingAllocator::instance().base_allocation(address_of(pointer));
    if (!found) return tl::unexpected(found.error());
    if (base != nullptr) *base = pointer_of(found->address);
    if (size != nullptr) *size = static_cast<size_t>(found->size);
    return {};
  });
}
memstrata_status memstrata_enable_peer_access(int device, int peer) {
  return guarded([&] { return CachingAllocator::instance().enable_peer_access(device, peer); });
}

// --- Settings, pools
// -------------------------------------------------------------------------------------------

memstrata_status memstrata_set_allocator_settings(const char* settings) {
  return guarded([&] { return CachingAllocator::instance().set_config(text_or_empty(settings)); });
}
memstrata_status memstrata_set_memory_fraction(double fraction, int device) {
  return guarded([&] { return CachingAllocator::instance().set_memory_fraction(fraction, device); });
}
double memstrata_get_memory_fraction(int device) {
  return guarded_value(-1.0, [&] {
    const auto fraction = CachingAllocator::instance().memory_fraction(device);
    if (fraction) return *fraction;
    set_last_error(fraction.error().message);
    return -1.0;
  });
}
memstrata_status memstrata_pool_begin(int device, memstrata_pool pool) {
  return guarded([&] {
    const auto accepts = [thread = std::this_thread::get_id()](int64_t) {
      return std::this_thread::get_id() == thread;
    };
    return CachingAllocator::instance().begin_allocate_to_pool(device, key_of(pool), accepts);
  });
}
memstrata_status memstrata_pool_end(int device, memstrata_pool pool) {
  return guarded([&] { return CachingAllocator::instance().end_allocate_to_pool(device, key_of(pool)); });
}
memstrata_status memstrata_pool_release(int device, memstrata_pool pool) {
  return guarded([&] { return CachingAllocator::instance().release_pool(device, key_of(pool)); });
}

// --- History
// ---------------------------------------------------------------------------------------------------

void memstrata_default_history(memstrata_history* history) {
  if (history != nullptr) *history = {"all", "all", "all", std::numeric_limits<int64_t>::max(), 0, nullptr};
}
memstrata_status memstrata_record_memory_history(const memstrata_history* history) {
  return guarded([&] {
    return CachingAllocator::instance().record_memory_history(history == nullptr ? trace::RecordOptions()
                                                                                 : options_of(*history));
  });
}
memstrata_status memstrata_set_user_metadata(const char* text) {
  return guarded([&] { return CachingAllocator::instance().set_user_metadata(text_or_empty(text)); });
}
memstrata_status memstrata_region_begin(const char* name, int device) {
  return guarded([&] { return CachingAllocator::instance().begin_region(text_or_empty(name), device); });
}
memstrata_status memstrata_region_end(int device) {
  return guarded([&] { return CachingAllocator::instance().end_region(device); });
}
memstrata_status memstrata_annotate(void* pointer, const char* text) {
  return guarded(
      [&] { return CachingAllocator::instance().annotate(address_of(pointer), text_or_empty(text)); });
}
memstrata_status memstrata_dump_snapshot(const char* path) {
  return guarded([&] { return CachingAllocator::instance().dump_to_file(std::string(text_or_empty(path))); });
}
memstrata_status memstrata_snapshot(char** bytes, size_t* size) {
  if (bytes == nullptr || size == nullptr)
    return refused("memstrata_snapshot() needs places for bytes and size");
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
void memstrata_free_bytes(char* bytes) { std::free(bytes); }
memstrata_status memstrata_set_oom_dump(const char* path) {
  return guarded([&] { return CachingAllocator::instance().set_oom_dump(text_or_empty(path)); });
}
const char* memstrata_cpp_unwinder() { return cpp_unwinder().data(); }
void memstrata_stop_python_stacks() { stop_python_stacks(); }

// --- Statistics
// ------------------------------------------------------------------------------------------------

size_t memstrata_memory_stats(int device, char* text, size_t capacity) {
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
size_t memstrata_memory_summary(int device, int abbreviated, char* text, size_t capacity) {
  return guarded_value(size_t{0}, [&]() -> size_t {
    const auto stats = CachingAllocator::instance().stats(device);
    if (!stats) return set_last_error(stats.error().message), 0;
    return give(alloc::memory_summary(*stats, device, abbreviated != 0), text, capacity);
  });
}
memstrata_status memstrata_reset_peak_memory_stats(int device) {
  return guarded([&] { return CachingAllocator::instance().reset_peak_stats(device); });
}
memstrata_status memstrata_reset_accumulated_memory_stats(int device) {
  return guarded([&] { return CachingAllocator::instance().reset_accumulated_stats(device); });
}
