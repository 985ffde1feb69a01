// What an allocator that is observed has at one moment of each of its devices, as it tells it.
#pragma once

#include <string>
#include <vector>

#include "capture/gpustrata.h"

namespace gpustrata::capture {

struct ObservedState {
  struct Segment {
    gpustrata_observed_segment row;  // without its blocks
    std::vector<gpustrata_observed_block> blocks;
  };
  std::vector<Segment> segments;
  std::string settings_text;  // as PYTORCH_CUDA_ALLOC_CONF says it
  std::string settings;       // JSON, as `allocator_settings` of a snapshot

  // What hears of it; for as long as this is there.
  [[nodiscard]] gpustrata_observed_state hearing() {
    return {this,
            [](void* to, const gpustrata_observed_segment* told) {
              Segment segment{*told, {told->blocks, told->blocks + told->block_count}};
              segment.row.blocks = nullptr;
              static_cast<ObservedState*>(to)->segments.push_back(std::move(segment));
            },
            [](void* to, const char* text, const char* json) {
              static_cast<ObservedState*>(to)->settings_text = text;
              static_cast<ObservedState*>(to)->settings = json;
            }};
  }
};

}  // namespace gpustrata::capture
