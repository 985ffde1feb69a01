// Constants of the caching allocator, its settings, and the text that sets them (PYTORCH_CUDA_ALLOC_CONF).
//
// Names and values are those of PyTorch's AllocatorConfig and CUDACachingAllocator. Rounding follows
// roundup_power2_divisions; all sizes are bytes.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/base/words.h"

namespace gpustrata::alloc {

inline constexpr int64_t kMiB = int64_t{1} << 20;
inline constexpr int64_t kMinBlockSize = 512;         // rounding quantum, smallest block
inline constexpr int64_t kSmallSize = kMiB;           // largest rounded size of the small pool
inline constexpr int64_t kSmallBuffer = 2 * kMiB;     // segment, or page, of the small pool
inline constexpr int64_t kMinLargeAlloc = 10 * kMiB;  // from here on a segment of its own size ...
inline constexpr int64_t kRoundLarge = 2 * kMiB;      // ... rounded up to this
inline constexpr int64_t kDefaultLargeSegment = 20 * kMiB;
inline constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
// Largest request that can be rounded and added up without overflow; anything above is out of memory.
inline constexpr int64_t kLargestRequest = int64_t{1} << 60;

// Which of two free blocks of one stream and size serves a request first: versions of PyTorch differ.
// address: up to 2.11, the lower one; block_number: 2.12, whose block was made first (a split makes its front part anew, a
// merge makes none); segment_age: 2.13 and newer, whose segment was got from the device first, in one segment the lower one.
GPUSTRATA_WORDS(FreeOrder, address, block_number, segment_age);
inline constexpr std::array kAllFreeOrders = {FreeOrder::address, FreeOrder::block_number,
                                              FreeOrder::segment_age};
// "address", "block_number", "segment_age".
[[nodiscard]] std::string_view name_of(FreeOrder order);
[[nodiscard]] std::optional<FreeOrder> free_order_of(std::string_view name);

struct Config {
  static constexpr size_t kDivisionClasses = 16;

  FreeOrder free_order = FreeOrder::address;  // of the version: no text sets it

  int64_t max_split_size = kUnlimited;
  int64_t large_segment_size = kDefaultLargeSegment;  // also the page of large expandable segments
  int64_t max_non_split_rounding_size = kDefaultLargeSegment;
  // For sizes in [1 MiB, 2 MiB), [2 MiB, 4 MiB), ... [32 GiB, oo); smaller sizes belong to the first.
  std::array<int32_t, kDivisionClasses> roundup_power2_divisions{};
  double garbage_collection_threshold = 0;  // 0 = off
  bool expandable_segments = false;
  double per_process_memory_fraction = 1.0;  // used when an allocator is made
  bool throw_on_cudamalloc_oom = false;
  bool release_lock_on_cudamalloc = false;  // of no effect here: the lock is the caller's
  bool graph_capture_record_stream_reuse = false;
  // Host memory: kept for the settings of a snapshot, not used.
  bool pinned_use_background_threads = false;
  bool pinned_use_cuda_host_register = false;
  int64_t pinned_num_register_threads = 1;
  int64_t pinned_reserve_segment_size_mb = 0;
  bool pinned_free_catch_all = false;
  // Expandable segments: bytes of address space per segment; 0 = 9/8 of the device. A share of the device, or
  // bytes if `expandable_segments_reserve` was given in G.
  double expandable_segments_reserve_share = 0;
  int64_t expandable_segments_reserve_bytes = 0;
  std::string last_settings;  // the text as given last

  // The block size for a request of n > 0 bytes, n <= kLargestRequest.
  [[nodiscard]] int64_t round_size(int64_t n) const;
  // The device allocation for a rounded size.
  [[nodiscard]] int64_t segment_size(int64_t rounded) const;
  [[nodiscard]] static bool is_small(int64_t rounded) { return rounded <= kSmallSize; }
  // Page of an expandable segment.
  [[nodiscard]] int64_t page_size(bool small) const { return small ? kSmallBuffer : large_segment_size; }
};

// Applies a settings text, e.g. "max_split_size_mb:128,expandable_segments:True". As in PyTorch, every text
// first resets max_split_size, the divisions, the GC threshold and max_non_split_rounding_size; all else
// keeps its value unless named. An error names the key, what was found and what is allowed, and changes
// nothing (PyTorch leaves the settings half changed).
[[nodiscard]] Status apply_settings(Config& config, std::string_view text);

}  // namespace gpustrata::alloc
