// The settings a snapshot says its allocator had: of all that is asked about them, this is what reads them.
//
// Source: `allocator_settings` (2023 on): the text of PYTORCH_CUDA_ALLOC_CONF for what has no key of its own; max_split_size
// with -1 = unlimited, garbage_collection_threshold, expandable_segments, roundup_power2_divisions by size in MiB. A key
// that is not known, or not what it should be, costs itself only: what the text says then counts, else the allocator's
// default. What was set by a call (set_per_process_memory_fraction) is in no file.
#pragma once

#include <optional>
#include <string_view>

#include "engine/alloc/config.h"

namespace gpustrata::replay {

struct RecordedSettings {
  bool known = false;  // the snapshot has settings
  alloc::Config config;
  std::optional<bool> expandable_segments;     // none = the file does not say
  std::optional<alloc::FreeOrder> free_order;  // of gpustrata's own recordings and simulations
  // Keys that only some versions of PyTorch write.
  bool has_host_cache = false;    // max_cached_size, max_round_threshold: 2.13 and newer
  bool has_stream_reuse = false;  // graph_capture_record_stream_reuse: about 2.10 and newer
  // Of the device, below 1; none = no limit that the file tells.
  [[nodiscard]] std::optional<double> memory_fraction() const {
    const double share = config.per_process_memory_fraction;
    return share < 1 ? std::optional(share) : std::nullopt;
  }
};

// `settings_json` is model::Part::settings_json; it may be empty. O(its length).
[[nodiscard]] RecordedSettings recorded_settings(std::string_view settings_json);

}  // namespace gpustrata::replay
