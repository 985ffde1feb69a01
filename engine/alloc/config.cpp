#include "engine/alloc/config.h"
#include "engine/alloc/known_settings.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "engine/alloc/settings_place.h"

namespace gpustrata::alloc {

std::string_view name_of(FreeOrder order) { return word_for(order); }

std::optional<FreeOrder> free_order_of(std::string_view name) {
  for (const FreeOrder order : kAllFreeOrders) {
    if (name == name_of(order)) return order;
  }
  return std::nullopt;
}

int64_t Config::round_size(int64_t n) const {
  if (n < kMinBlockSize) return kMinBlockSize;
  const auto size = static_cast<uint64_t>(n);
  const int exponent = 63 - std::countl_zero(size);  // floor(log2 n)
  const auto division =
      static_cast<uint64_t>(roundup_power2_divisions[static_cast<size_t>(std::clamp(exponent - 20, 0, 15))]);
  uint64_t step = kMinBlockSize;
  if (division > 1 && size > kMinBlockSize * division) {
    if (std::has_single_bit(size)) return n;
    // size > 512 * division, and all are powers of two: so is the step, and at least 512.
    step = (uint64_t{1} << exponent) / division;
  }
  return static_cast<int64_t>((size + step - 1) & ~(step - 1));
}

int64_t Config::segment_size(int64_t rounded) const {
  if (is_small(rounded)) return kSmallBuffer;
  if (rounded < kMinLargeAlloc) return large_segment_size;
  return (rounded + kRoundLarge - 1) / kRoundLarge * kRoundLarge;
}

namespace {

constexpr int64_t kMostMiB = kLargestRequest >> 20;

// Splits at , : [ ] and drops white space anywhere, as PyTorch does.
[[nodiscard]] std::vector<std::string> tokens_of(std::string_view text, std::vector<size_t>& places) {
  std::vector<std::string> tokens;
  bool open = false;  // the last token may grow
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == ' ' || (c >= '\t' && c <= '\r')) continue;
    const bool separator = c == ',' || c == ':' || c == '[' || c == ']';
    if (separator || !open) {
      tokens.emplace_back();
      places.push_back(at);
    }
    tokens.back() += c;
    open = !separator;
  }
  return tokens;
}

[[nodiscard]] std::optional<int64_t> integer_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

[[nodiscard]] std::optional<double> number_of(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() ? std::optional(value) : std::nullopt;
}

[[nodiscard]] bool is_power_of_two(int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<uint64_t>(value));
}

// Walks over the tokens, one key and its value after the other.
class Parser {
 public:
  // What is done about what is not known here.
  enum class Unknown : uint8_t { is_wrong, key_is_passed_over, value_is_passed_over };
  Parser(Config& config, std::string_view text, Unknown unknown)
      : config_(config), tokens_(tokens_of(text, places_)), end_(text.size()), unknown_(unknown) {}

  // After an error: the byte at fault. A separator that is not the fault itself stands for the key before it.
  [[nodiscard]] size_t place_of_error() const {
    size_t token = fault_ ? *fault_ : at_ > 0 ? at_ - 1 : 0;
    if (!fault_ && token > 0 && token < tokens_.size() && tokens_[token] == ":") --token;
    return token < places_.size() ? places_[token] : end_;
  }

  Status parse() {
    if (auto status = find_large_segment_size(); !status && unknown_ != Unknown::value_is_passed_over)
      return status;
    config_.max_split_size = kUnlimited;
    config_.max_non_split_rounding_size = config_.large_segment_size;
    config_.roundup_power2_divisions.fill(0);
    config_.garbage_collection_threshold = 0;
    while (at_ < tokens_.size()) {
      const size_t first = at_;
      const Config before = config_;
      if (auto status = parse_setting(); !status) {
        if (unknown_ != Unknown::value_is_passed_over) return status;
        config_ = before;
        at_ = first;
        pass_over();
        (void)take(",");
      }
    }
    return {};
  }

  [[nodiscard]] std::vector<std::string>& passed_over() { return passed_over_; }

 private:
  Status parse_setting() {
    const std::string key = tokens_[at_++];
    if (is_separator(key)) return wrong("there is a '{}' where a key should be", key);
    if (!take(":")) return wrong("'{}' has no value: write {}:VALUE", key, key);
    if (auto status = parse_value(key); !status) return status;
    if (at_ < tokens_.size() && !take(","))
      return wrong_at(at_, "'{}' after the value of '{}' should be a comma", tokens_[at_], key);
    return {};
  }

  template <typename... Args>
  [[nodiscard]] static tl::unexpected<Error> wrong(fmt::format_string<Args...> text, Args&&... args) {
    return tl::unexpected<Error>(
        Error{ErrorCode::wrong_usage,
              "allocator settings: " + fmt::format(text, std::forward<Args>(args)...) + ".", -1});
  }
  template <typename... Args>
  [[nodiscard]] tl::unexpected<Error> wrong_at(size_t token, fmt::format_string<Args...> text,
                                               Args&&... args) {
    fault_ = token;
    return wrong(text, std::forward<Args>(args)...);
  }
  [[nodiscard]] static bool is_separator(std::string_view token) {
    return token == "," || token == ":" || token == "[" || token == "]";
  }
  bool take(std::string_view token) {
    if (at_ >= tokens_.size() || tokens_[at_] != token) return false;
    ++at_;
    return true;
  }
  // The next token, or an empty text at the end and before a separator.
  [[nodiscard]] std::string take_value() {
    if (at_ >= tokens_.size() || is_separator(tokens_[at_])) return {};
    return tokens_[at_++];
  }

  // Other keys are checked against it, wherever it stands.
  Status find_large_segment_size() {
    for (size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (tokens_[i] != "large_segment_size_mb" || tokens_[i + 1] != ":") continue;
      const auto mib = integer_of(tokens_[i + 2]);
      if (!mib || *mib <= 10 || *mib > kMostMiB)
        return wrong_at(i + 2, "large_segment_size_mb must be a whole number above 10, not '{}'",
                        tokens_[i + 2]);
      config_.large_segment_size = *mib << 20;
    }
    return {};
  }

  Status parse_value(const std::string& key) {
    struct Flag {
      std::string_view key;
      bool Config::*member;
    };
    static constexpr Flag kFlags[] = {
        {"expandable_segments", &Config::expandable_segments},
        {"throw_on_cudamalloc_oom", &Config::throw_on_cudamalloc_oom},
        {"release_lock_on_cudamalloc", &Config::release_lock_on_cudamalloc},
        {"graph_capture_record_stream_reuse", &Config::graph_capture_record_stream_reuse},
        {"pinned_use_background_threads", &Config::pinned_use_background_threads},
        {"pinned_use_cuda_host_register", &Config::pinned_use_cuda_host_register},
        {"pinned_free_catch_all", &Config::pinned_free_catch_all},
    };
    for (const Flag& flag : kFlags) {
      if (flag.key != key) continue;
      const std::string value = take_value();
      if (value != "True" && value != "False")
        return wrong("{} must be exactly True or False, not '{}'", key, value);
      config_.*flag.member = value == "True";
      return {};
    }
    if (key == "max_split_size_mb") return parse_mib(key, config_.max_split_size);
    if (key == "max_non_split_rounding_mb") return parse_mib(key, config_.max_non_split_rounding_size);
    if (key == "large_segment_size_mb") {
      (void)take_value();  // checked already
      return {};
    }
    if (key == "roundup_power2_divisions") return parse_divisions();
    if (key == "garbage_collection_threshold") {
      const std::string value = take_value();
      const auto share = number_of(value);
      if (!share || !(*share > 0 && *share < 1))
        return wrong("garbage_collection_threshold must be above 0 and below 1, not '{}'", value);
      config_.garbage_collection_threshold = *share;
      return {};
    }
    if (key == "per_process_memory_fraction") {
      const std::string value = take_value();
      const auto share = number_of(value);
      if (!share || !(*share >= 0 && *share <= 1))
        return wrong("per_process_memory_fraction must be from 0 to 1, not '{}'", value);
      config_.per_process_memory_fraction = *share;
      return {};
    }
    if (key == "expandable_segments_reserve") return parse_reserve();
    if (key == "pinned_num_register_threads")
      return parse_count(key, 1, 128, config_.pinned_num_register_threads);
    if (key == "pinned_reserve_segment_size_mb")
      return parse_count(key, 0, kMostMiB, config_.pinned_reserve_segment_size_mb);
    if (key == "backend") {
      const std::string value = take_value();
      if (value == "native") return {};
      if (value == "cudaMallocAsync")
        return wrong("backend:cudaMallocAsync leaves all decisions to the driver; only 'native' works here");
      return wrong("backend must be native, not '{}'", value);
    }
    // Of host memory and of other devices: taken, of no effect here.
    static constexpr std::string_view kElsewhere[] = {
        "pinned_max_round_threshold_mb", "pinned_max_cached_size_mb", "pinned_use_hip_host_register",
        "release_lock_on_hipmalloc", "expandable_segments_handle_type"};
    if (std::find(std::begin(kElsewhere), std::end(kElsewhere), key) != std::end(kElsewhere))
      return take_value().empty() ? Status(wrong("'{}' has no value: write {}:VALUE", key, key)) : Status();
    if (unknown_ != Unknown::is_wrong) {
      passed_over_.push_back(key);
      pass_over();
      return {};
    }
    if (key == "expandable_segments_reserve_by_class")
      return wrong("expandable_segments_reserve_by_class is not known here; use expandable_segments_reserve");
    return wrong("unknown key '{}'", key);
  }

  // Up to the comma before the next key; commas in brackets belong to the value.
  void pass_over() {
    for (int depth = 0; at_ < tokens_.size() && (depth > 0 || tokens_[at_] != ","); ++at_)
      depth += tokens_[at_] == "[" ? 1 : tokens_[at_] == "]" ? -1 : 0;
  }

  Status parse_mib(const std::string& key, int64_t& bytes) {
    const std::string value = take_value();
    const auto mib = integer_of(value);
    const int64_t least = config_.large_segment_size >> 20;
    if (!mib || *mib < least)
      return wrong("{} must be a whole number of at least {} (large_segment_size_mb), not '{}'", key, least,
                   value);
    bytes = std::min(*mib, kUnlimited >> 20) << 20;
    return {};
  }

  Status parse_count(const std::string& key, int64_t least, int64_t most, int64_t& count) {
    const std::string value = take_value();
    const auto number = integer_of(value);
    if (!number || *number < least || *number > most)
      return wrong("{} must be a whole number from {} to {}, not '{}'", key, least, most, value);
    count = *number;
    return {};
  }

  [[nodiscard]] static std::optional<int32_t> division_of(const std::string& text, bool zero_allowed) {
    const auto value = integer_of(text);
    if (!value || *value > (1 << 30)) return std::nullopt;
    if (!is_power_of_two(*value) && !(zero_allowed && *value == 0)) return std::nullopt;
    return static_cast<int32_t>(*value);
  }

  // "4", or "[256:1,512:2,>:8]": an entry is the start of a class in MiB; the first one also counts for all
  // classes below, > for all classes after the last one named; classes between two named ones keep 0.
  Status parse_divisions() {
    auto& divisions = config_.roundup_power2_divisions;
    if (!take("[")) {
      const std::string value = take_value();
      const auto division = division_of(value, false);
      if (!division)
        return wrong("roundup_power2_divisions must be a power of two or a list, not '{}'", value);
      divisions.fill(*division);
      return {};
    }
    size_t after_last = 0;
    bool first = true;
    while (first || !take("]")) {
      if (!first && !take(",")) return wrong("the list of roundup_power2_divisions has no closing ']'");
      const std::string start = take_value();
      if (start.empty() || !take(":"))
        return wrong("roundup_power2_divisions: an entry of the list should be MIB:DIVISIONS");
      const std::string value = take_value();
      const auto division = division_of(value, true);
      if (!division) return wrong("roundup_power2_divisions: '{}' is neither 0 nor a power of two", value);
      if (start == ">") {
        std::fill(divisions.begin() + static_cast<ptrdiff_t>(after_last), divisions.end(), *division);
      } else {
        const auto mib = integer_of(start);
        if (!mib || !is_power_of_two(*mib))
          return wrong("roundup_power2_divisions: '{}' MiB is no power of two", start);
        const size_t index = std::min<size_t>(
            static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(*mib))), Config::kDivisionClasses - 1);
        if (first) std::fill_n(divisions.begin(), index, *division);
        divisions[index] = *division;
        after_last = index + 1;
      }
      first = false;
    }
    return {};
  }

  // A share of the device ("0.5"), or GiB ("40G").
  Status parse_reserve() {
    std::string value = take_value();
    const std::string given = value;
    const bool in_gib = !value.empty() && value.back() == 'G';
    if (in_gib) value.pop_back();
    const auto number = number_of(value);
    if (!number || !(*number > 0) || *number > static_cast<double>(1 << 20))
      return wrong("expandable_segments_reserve must be a share of the device or GiB, as in 40G, not '{}'",
                   given);
    config_.expandable_segments_reserve_share = in_gib ? 0 : *number;
    config_.expandable_segments_reserve_bytes =
        in_gib ? static_cast<int64_t>(*number * static_cast<double>(int64_t{1} << 30)) : 0;
    return {};
  }

  Config& config_;
  std::vector<size_t> places_;  // by token, its first byte
  std::vector<std::string> tokens_;
  size_t end_;
  Unknown unknown_;
  std::vector<std::string> passed_over_;  // keys
  size_t at_ = 0;
  std::optional<size_t> fault_;  // a token that is not the one before at_
};

using Unknown = Parser::Unknown;

// The keys that were passed over. Error: `place` is the byte at fault.
[[nodiscard]] Result<std::vector<std::string>> apply(Config& config, std::string_view text, size_t& place,
                                                     Unknown unknown) {
  Config changed = config;
  Parser parser(changed, text, unknown);
  if (auto status = parser.parse(); !status) {
    place = parser.place_of_error();
    return tl::unexpected(std::move(status.error()));
  }
  changed.last_settings = std::string(text);
  config = std::move(changed);
  return std::move(parser.passed_over());
}

}  // namespace

Status apply_settings(Config& config, std::string_view text, size_t& place) {
  if (auto applied = apply(config, text, place, Unknown::is_wrong); !applied)
    return tl::unexpected(std::move(applied.error()));
  return {};
}

Status apply_settings(Config& config, std::string_view text) {
  size_t place = 0;
  return apply_settings(config, text, place);
}

Result<std::vector<std::string>> apply_known_settings(Config& config, std::string_view text) {
  size_t place = 0;
  return apply(config, text, place, Unknown::key_is_passed_over);
}

void apply_recorded_settings(Config& config, std::string_view text) {
  size_t place = 0;
  (void)apply(config, text, place, Unknown::value_is_passed_over);  // nothing of it is wrong
}

}  // namespace gpustrata::alloc
