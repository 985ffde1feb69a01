#include "engine/replay/recorded_settings.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string>
#include <type_traits>

#include "engine/alloc/known_settings.h"
#include "engine/io/encodings/json/text_values.h"

namespace gpustrata::replay {

namespace {

using alloc::Config;

// Takes the values of the settings that count; the text is applied before them, wherever it stands.
class Told {
 public:
  void begin_dict() { ++depth_; }
  void end_dict() { --depth_; }
  void begin_list() { ++depth_; }
  void end_list() { --depth_; }
  void item() {}
  void key(std::string_view name) {
    if (depth_ == 1) {
      key_ = name;
      known_ = true;
      has_host_cache_ = has_host_cache_ || name == "max_cached_size" || name == "max_round_threshold";
      has_stream_reuse_ = has_stream_reuse_ || name == "graph_capture_record_stream_reuse";
    }
    if (depth_ == 2) inner_ = name;
  }
  void none() {}
  void unsigned_value(uint64_t) {}
  template <typename T>
  void value(T given) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (is_at(1, "PYTORCH_CUDA_ALLOC_CONF") || is_at(1, "PYTORCH_ALLOC_CONF")) text_ = given;
      if (is_at(1, "free_order")) order_ = alloc::free_order_of(given);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (is_at(1, "expandable_segments")) expandable_ = given;
    } else {
      if constexpr (std::is_same_v<T, int64_t>) {
        if (is_at(1, "max_split_size") && (given > 0 || given == -1))
          most_ = given > 0 ? given : alloc::kUnlimited;
        if (is_at(2, "roundup_power2_divisions")) add_division(given);
      }
      const auto share = static_cast<double>(given);
      if (is_at(1, "garbage_collection_threshold") && share > 0 && share < 1) threshold_ = share;
    }
  }

  [[nodiscard]] RecordedSettings settings() const {
    RecordedSettings found;
    found.known = known_;
    found.has_host_cache = has_host_cache_;
    found.has_stream_reuse = has_stream_reuse_;
    found.free_order = order_;
    found.config.free_order = order_.value_or(alloc::FreeOrder::address);
    if (text_) {
      alloc::apply_recorded_settings(found.config, *text_);
      found.expandable_segments = found.config.expandable_segments;
    }
    if (expandable_) {
      found.expandable_segments = *expandable_;
      found.config.expandable_segments = *expandable_;
    }
    if (threshold_) found.config.garbage_collection_threshold = *threshold_;
    if (most_) found.config.max_split_size = *most_;
    for (size_t i = 0; i < divisions_.size(); ++i) {
      if (divisions_[i]) found.config.roundup_power2_divisions[i] = *divisions_[i];
    }
    return found;
  }

 private:
  [[nodiscard]] bool is_at(int depth, std::string_view key) const { return depth_ == depth && key_ == key; }

  // The key is the start of a class in MiB. More than 1024 steps, or a number that is no power of two, is nothing the
  // allocator accepts.
  void add_division(int64_t division) {
    int64_t mib = 0;
    const auto [end, error] = std::from_chars(inner_.data(), inner_.data() + inner_.size(), mib);
    if (error != std::errc() || end != inner_.data() + inner_.size() || mib <= 0) return;
    if (division < 0 || division > 1024) return;
    if (division > 0 && !std::has_single_bit(static_cast<uint64_t>(division))) return;
    const auto size_class = static_cast<size_t>(63 - std::countl_zero(static_cast<uint64_t>(mib)));
    if (size_class < divisions_.size()) divisions_[size_class] = static_cast<int32_t>(division);
  }

  int depth_ = 0;
  std::string key_, inner_;
  bool known_ = false, has_host_cache_ = false, has_stream_reuse_ = false;
  std::optional<alloc::FreeOrder> order_;
  std::optional<std::string> text_;
  std::optional<bool> expandable_;
  std::optional<double> threshold_;
  std::optional<int64_t> most_;
  std::array<std::optional<int32_t>, Config::kDivisionClasses> divisions_{};
};

}  // namespace

RecordedSettings recorded_settings(std::string_view settings_json) {
  Told told;
  (void)io::JsonValues<Told>(settings_json, told).run();  // of a text that ends early: what came
  return told.settings();
}

}  // namespace gpustrata::replay
