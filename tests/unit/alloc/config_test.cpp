#include "engine/alloc/config.h"

#include "engine/alloc/known_settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/unit/files.h"

namespace gpustrata::alloc {
namespace {

Config config_of(std::string_view text) {
  Config config;
  const Status status = apply_settings(config, text);
  EXPECT_TRUE(status.has_value()) << text << ": " << (status ? "" : status.error().message);
  return config;
}

TEST(Rounding, FollowsTheReferenceTable) {
  std::ifstream file(tests::test_path("data/alloc/rounding.tsv"));
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::istringstream columns(line);
    std::string settings, pool;
    int64_t request = 0, rounded = 0, segment = 0;
    columns >> settings >> request >> rounded >> pool >> segment;
    const Config config = config_of(settings == "-" ? "" : settings);
    EXPECT_EQ(config.round_size(request), rounded) << line;
    EXPECT_EQ(Config::is_small(rounded), pool == "small") << line;
    EXPECT_EQ(config.segment_size(rounded), segment) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 53);
}

TEST(Rounding, TheLargestRequestDoesNotOverflow) {
  EXPECT_EQ(config_of("").round_size(kLargestRequest), kLargestRequest);
  EXPECT_EQ(config_of("roundup_power2_divisions:1").round_size(kLargestRequest - 1), kLargestRequest);
  EXPECT_EQ(config_of("roundup_power2_divisions:2").round_size(kLargestRequest - 1), kLargestRequest);
}

TEST(Settings, EveryKeyIsUnderstood) {
  const Config config = config_of(
      "backend:native, max_split_size_mb : 128,max_non_split_rounding_mb:64,large_segment_size_mb:32,"
      "garbage_collection_threshold:0.75,expandable_segments:True,per_process_memory_fraction:0.5,"
      "throw_on_cudamalloc_oom:True,release_lock_on_cudamalloc:True,graph_capture_record_stream_reuse:True,"
      "pinned_use_background_threads:True,pinned_use_cuda_host_register:True,pinned_num_register_threads:8,"
      "pinned_reserve_segment_size_mb:16,pinned_free_catch_all:True,expandable_segments_reserve:40G,"
      "roundup_power2_divisions:[256:1,512:2,>:8],");
  EXPECT_EQ(config.max_split_size, 128 * kMiB);
  EXPECT_EQ(config.max_non_split_rounding_size, 64 * kMiB);
  EXPECT_EQ(config.large_segment_size, 32 * kMiB);
  EXPECT_EQ(config.garbage_collection_threshold, 0.75);
  EXPECT_TRUE(config.expandable_segments && config.throw_on_cudamalloc_oom &&
              config.release_lock_on_cudamalloc && config.graph_capture_record_stream_reuse);
  EXPECT_EQ(config.per_process_memory_fraction, 0.5);
  EXPECT_TRUE(config.pinned_use_background_threads && config.pinned_use_cuda_host_register &&
              config.pinned_free_catch_all);
  EXPECT_EQ(config.pinned_num_register_threads, 8);
  EXPECT_EQ(config.pinned_reserve_segment_size_mb, 16);
  EXPECT_EQ(config.expandable_segments_reserve_bytes, int64_t{40} << 30);
  // The first entry counts for all below it, > for all after the last one.
  const std::array<int32_t, 16> expected = {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 8, 8, 8, 8, 8, 8};
  EXPECT_EQ(config.roundup_power2_divisions, expected);
}

TEST(Settings, ClassesBetweenTwoEntriesKeepZero) {
  const std::array<int32_t, 16> expected = {4, 4, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(config_of("roundup_power2_divisions:[4:4,16:2]").roundup_power2_divisions, expected);
  EXPECT_EQ(config_of("roundup_power2_divisions:[1048576:4]").roundup_power2_divisions[15], 4);
}

TEST(Settings, ANewTextResetsSomeAndKeepsOthers) {
  Config config = config_of(
      "max_split_size_mb:64,roundup_power2_divisions:4,garbage_collection_threshold:0.5,"
      "expandable_segments:True,large_segment_size_mb:32,max_non_split_rounding_mb:100");
  ASSERT_TRUE(apply_settings(config, "").has_value());
  EXPECT_EQ(config.max_split_size, kUnlimited);
  EXPECT_EQ(config.roundup_power2_divisions[3], 0);
  EXPECT_EQ(config.garbage_collection_threshold, 0);
  EXPECT_TRUE(config.expandable_segments);
  EXPECT_EQ(config.large_segment_size, 32 * kMiB);
  EXPECT_EQ(config.max_non_split_rounding_size, 32 * kMiB);
}

TEST(Settings, TheLargeSegmentSizeCountsWhereverItStands) {
  Config config;
  EXPECT_FALSE(apply_settings(config, "max_split_size_mb:20,large_segment_size_mb:32").has_value());
  EXPECT_TRUE(apply_settings(config, "max_split_size_mb:32,large_segment_size_mb:32").has_value());
}

TEST(Settings, WrongTextsAreRefusedInWordsAndChangeNothing) {
  const struct {
    const char* text;
    const char* what;
  } kCases[] = {
      {"foo:1", "unknown key 'foo'"},
      {"max_split_size_mb:2", "max_split_size_mb must be a whole number of at least 20"},
      {"max_split_size_mb:1e2", "not '1e2'"},
      {"max_split_size_mb", "write max_split_size_mb:VALUE"},
      {"max_split_size_mb:", "not ''"},
      {"max_split_size_mb:64 expandable_segments:True", "not '64expandable_segments'"},
      {"max_split_size_mb:64:65", "should be a comma"},
      {",", "where a key should be"},
      {"large_segment_size_mb:10", "above 10"},
      {"max_non_split_rounding_mb:19", "max_non_split_rounding_mb"},
      {"garbage_collection_threshold:1.2", "above 0 and below 1"},
      {"garbage_collection_threshold:0", "above 0 and below 1"},
      {"garbage_collection_threshold:nan", "above 0 and below 1"},
      {"expandable_segments:true", "exactly True or False"},
      {"expandable_segments:1", "exactly True or False"},
      {"per_process_memory_fraction:1.1", "from 0 to 1"},
      {"roundup_power2_divisions:3", "power of two"},
      {"roundup_power2_divisions:0", "power of two"},
      {"roundup_power2_divisions:[3:4]", "no power of two"},
      {"roundup_power2_divisions:[4:3]", "neither 0 nor a power of two"},
      {"roundup_power2_divisions:[4:4", "no closing"},
      {"roundup_power2_divisions:[]", "MIB:DIVISIONS"},
      {"backend:cudaMallocAsync", "only 'native' works here"},
      {"expandable_segments_reserve:much", "share of the device"},
  };
  for (const auto& one : kCases) {
    Config config = config_of("max_split_size_mb:64");
    const Status status = apply_settings(config, one.text);
    ASSERT_FALSE(status.has_value()) << one.text;
    EXPECT_NE(status.error().message.find(one.what), std::string::npos)
        << one.text << ": " << status.error().message;
    EXPECT_EQ(config.max_split_size, 64 * kMiB) << one.text;
    EXPECT_EQ(config.last_settings, "max_split_size_mb:64");
  }
}

TEST(Settings, KeysOfOtherMemoryAreKnown) {
  Config config;
  const std::string text =
      "pinned_max_round_threshold_mb:64,pinned_max_cached_size_mb:512,pinned_use_hip_host_register:True,"
      "release_lock_on_hipmalloc:True,expandable_segments_handle_type:fabric,max_split_size_mb:64";
  ASSERT_TRUE(apply_settings(config, text).has_value());
  EXPECT_EQ(config.max_split_size, 64 * kMiB);
  EXPECT_EQ(config.last_settings, text);
  EXPECT_FALSE(apply_settings(config, "pinned_max_cached_size_mb:").has_value());
}

TEST(Settings, UnknownKeysArePassedOverWithTheirValues) {
  Config config;
  const auto unknown = apply_known_settings(
      config, "by_class:[1:2,3:4],max_split_size_mb:64,of_2031:x,roundup_power2_divisions:4");
  ASSERT_TRUE(unknown.has_value());
  EXPECT_EQ(*unknown, (std::vector<std::string>{"by_class", "of_2031"}));
  EXPECT_EQ(config.max_split_size, int64_t{64} << 20);
  EXPECT_EQ(config.roundup_power2_divisions[0], 4);
  // A wrong value of a known key is an error, and nothing is changed.
  EXPECT_FALSE(apply_known_settings(config, "of_2031:x,max_split_size_mb:1").has_value());
  EXPECT_EQ(config.max_split_size, int64_t{64} << 20);
  EXPECT_FALSE(apply_known_settings(config, "of_2031:[x").value().empty());  // ends in the middle
}

}  // namespace
}  // namespace gpustrata::alloc
