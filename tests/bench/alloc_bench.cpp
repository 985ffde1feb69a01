// Budget "malloc + free from cache": 100 ns median with 10,000 live blocks of mixed sizes, without recording.
//
//   alloc_bench [pairs in thousands, default 400]
//
// One pair frees a random block and allocates one of another size, on a filled cache: the device is not
// asked. References in the same run, with the same sequence of sizes: malloc and free of the C library, and a
// pool as PyTorch builds it (std::set of free blocks by size and address, split and merge, a hash map of live
// blocks). Times are of batches of 64 pairs; the median and the 99th percentile of the batches are printed
// per pair. Checks: no call of operator new while pairs run, no event, the allocator's books agree, and its
// placement is that of the reference pool, address for address.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <random>
#include <set>
#include <unordered_map>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"
#include "tests/unit/alloc/invariants.h"

namespace {

int64_t operator_new_calls = 0;

}  // namespace

void* operator new(size_t size) {
  ++operator_new_calls;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace {

using namespace gpustrata;

constexpr size_t kLive = 10'000;
constexpr size_t kBatch = 64;

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "alloc_bench: %s\n", why);
  std::exit(1);
}

// Small tensors, activations, a few large buffers; bytes.
int64_t random_size(std::mt19937_64& random) {
  const int exponent = 5 + static_cast<int>(random() % 18);  // 32 bytes to 4 MiB
  return (int64_t{1} << exponent) + static_cast<int64_t>(random() % (uint64_t{1} << exponent));
}

struct Pair {
  size_t slot;  // whose block is freed
  int64_t size;
};

struct Times {
  double median = 0, slowest_percent = 0;
};

// allocate(size) -> handle, release(handle)
template <typename Handle, typename Allocate, typename Release>
Times run(const std::vector<int64_t>& first, const std::vector<Pair>& pairs, std::vector<Handle>& live,
          Allocate&& allocate, Release&& release, int64_t* calls) {
  live.clear();
  live.reserve(first.size());
  for (const int64_t size : first) live.push_back(allocate(size));
  std::vector<double> batches;
  batches.reserve(pairs.size() / kBatch + 1);
  const size_t warm = pairs.size() / 4 / kBatch * kBatch;
  for (size_t at = 0; at + kBatch <= pairs.size(); at += kBatch) {
    if (at == warm) *calls = operator_new_calls;
    const auto start = std::chrono::steady_clock::now();
    for (size_t i = at; i < at + kBatch; ++i) {
      Handle& slot = live[pairs[i].slot];
      release(slot);
      slot = allocate(pairs[i].size);
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (at >= warm) batches.push_back(took.count() / kBatch);
  }
  *calls = operator_new_calls - *calls;
  std::sort(batches.begin(), batches.end());
  return {batches[batches.size() / 2], batches[batches.size() * 99 / 100]};
}

// Best fit over std::set, one stream, the rules of the default settings.
class SetPool {
 public:
  ~SetPool() {
    for (const auto& [address, block] : live_) delete block;
    for (const auto& free : free_) {
      for (const Block* block : free) delete block;
    }
  }
  uint64_t allocate(int64_t size) {
    size = size < 512 ? 512 : (size + 511) / 512 * 512;
    const bool small = size <= 1 << 20;
    auto& free = free_[small ? 1 : 0];
    Block key{nullptr, nullptr, size, 0, small, false};
    Block* block;
    if (const auto found = free.lower_bound(&key); found != free.end()) {
      block = *found;
      free.erase(found);
    } else {
      const int64_t bytes = small             ? 2 << 20
                            : size < 10 << 20 ? 20 << 20
                                              : (size + (2 << 20) - 1) / (2 << 20) * (2 << 20);
      block = new Block{nullptr, nullptr, bytes, next_, small, false};
      next_ += static_cast<uint64_t>(bytes);
    }
    const int64_t rest = block->size - size;
    if (small ? rest >= 512 : rest > 1 << 20) {
      auto* after =
          new Block{block, block->next, rest, block->address + static_cast<uint64_t>(size), small, false};
      if (block->next != nullptr) block->next->previous = after;
      block->next = after;
      block->size = size;
      free.insert(after);
    }
    block->used = true;
    live_[block->address] = block;
    return block->address;
  }
  void release(uint64_t address) {
    const auto found = live_.find(address);
    Block* block = found->second;
    live_.erase(found);
    block->used = false;
    auto& free = free_[block->small ? 1 : 0];
    if (Block* before = block->previous; before != nullptr && !before->used) {
      free.erase(before);
      before->size += block->size;
      before->next = block->next;
      if (block->next != nullptr) block->next->previous = before;
      delete block;
      block = before;
    }
    if (Block* after = block->next; after != nullptr && !after->used) {
      free.erase(after);
      block->size += after->size;
      block->next = after->next;
      if (after->next != nullptr) after->next->previous = block;
      delete after;
    }
    free.insert(block);
  }

 private:
  struct Block {
    Block *previous, *next;
    int64_t size;
    uint64_t address;
    bool small, used;
  };
  struct Less {
    bool operator()(const Block* a, const Block* b) const {
      return a->size != b->size ? a->size < b->size : a->address < b->address;
    }
  };
  std::set<Block*, Less> free_[2];
  std::unordered_map<uint64_t, Block*> live_;
  uint64_t next_ = alloc::SimulatedDevice::kFirstAddress;
};

void print(const char* what, const Times& times, int64_t calls) {
  std::printf("%-44s median %6.1f ns, 99%% %6.1f ns, operator new %lld\n", what, times.median,
              times.slowest_percent, static_cast<long long>(calls));
}

struct NoSink final : trace::EventSink {
  void on_event(const trace::TraceEvent& event) override { last = event; }
  trace::TraceEvent last;
};

}  // namespace

int main(int count, char** arguments) {
  const long thousands = count > 1 ? std::atol(arguments[1]) : 400;
  if (thousands <= 0) stop("usage: alloc_bench [pairs in thousands]");
  std::mt19937_64 random(20261121);
  std::vector<int64_t> first;
  for (size_t i = 0; i < kLive; ++i) first.push_back(random_size(random));
  std::vector<Pair> pairs;
  for (long i = 0; i < thousands * 1000; ++i) pairs.push_back({random() % kLive, random_size(random)});

  // The device and settings are large enough that the cache serves every pair once it is warm.
  for (const bool with_sink : {false, true}) {
    Budget budget(int64_t{1} << 30);
    alloc::SimulatedDevice device(int64_t{1} << 40);
    NoSink sink;
    alloc::DeviceAllocator allocator(device, 0, alloc::Config{}, with_sink ? &sink : nullptr, budget);
    std::vector<uint64_t> live, reference_live;
    int64_t calls = 0, reference_calls = 0;
    const Times times = run(
        first, pairs, live,
        [&](int64_t size) {
          const auto address = allocator.malloc(size, 0);
          if (!address) stop("out of memory");
          return *address;
        },
        [&](uint64_t address) {
          if (!allocator.free(address)) stop("a free failed");
        },
        &calls);
    if (!alloc::check_invariants(allocator.state()).empty() || !allocator.check_pools().empty())
      stop("the allocator's books do not agree");
    print(with_sink ? "allocator, events to an empty sink" : "allocator, no recording", times, calls);
    std::printf("  %zu blocks, %zu segments\n", allocator.state().block_count(),
                allocator.state().segment_count());
    if (with_sink) continue;
    SetPool pool;
    const Times set_times = run(
        first, pairs, reference_live, [&](int64_t size) { return pool.allocate(size); },
        [&](uint64_t address) { pool.release(address); }, &reference_calls);
    if (live != reference_live) stop("the blocks lie elsewhere than in the reference pool");
    print("pool of std::set and unordered_map", set_times, reference_calls);
  }
  std::vector<void*> live;
  int64_t calls = 0;
  const Times times = run(
      first, pairs, live, [](int64_t size) { return std::malloc(static_cast<size_t>(size)); },
      [](void* memory) { std::free(memory); }, &calls);
  print("malloc and free of the C library", times, calls);
  for (void* memory : live) std::free(memory);
  return 0;
}
