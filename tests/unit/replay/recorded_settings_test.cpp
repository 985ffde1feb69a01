#include "engine/replay/recorded_settings.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/numbers.h"

namespace gpustrata::replay {
namespace {

TEST(RecordedSettings, AKeyHasMoreToSayThanTheText) {
  const RecordedSettings found = recorded_settings(
      R"({"expandable_segments":true,"max_split_size":67108864,"garbage_collection_threshold":0.8,)"
      R"("roundup_power2_divisions":{"1":4,"256":2,"5x":8,"512":3},)"
      R"("PYTORCH_CUDA_ALLOC_CONF":"expandable_segments:False,max_split_size_mb:32,per_process_memory_fraction:0.5"})");
  EXPECT_TRUE(found.known);
  EXPECT_EQ(found.expandable_segments, true);
  EXPECT_TRUE(found.config.expandable_segments);
  EXPECT_EQ(found.config.max_split_size, 64 * kMiB);
  EXPECT_EQ(found.config.garbage_collection_threshold, 0.8);
  EXPECT_EQ(found.config.roundup_power2_divisions[0], 4);
  EXPECT_EQ(found.config.roundup_power2_divisions[8], 2);  // 256 = 2^8
  EXPECT_EQ(found.config.roundup_power2_divisions[9], 0);  // 3 is no power of two
  EXPECT_EQ(found.memory_fraction(), 0.5);
}

TEST(RecordedSettings, WhatIsNotKnownCostsItselfOnly) {
  // A key of another version, a value that this one refuses, and a text in the middle of nothing.
  const RecordedSettings found = recorded_settings(
      R"({"PYTORCH_CUDA_ALLOC_CONF":"of_2031:[1:2,3:4],max_split_size_mb:64,backend:other,,]x,)"
      R"(garbage_collection_threshold:7,expandable_segments:True,per_process_memory_fraction:0.25"})");
  EXPECT_EQ(found.config.max_split_size, 64 * kMiB);
  EXPECT_EQ(found.config.garbage_collection_threshold, 0);
  EXPECT_EQ(found.expandable_segments, true);
  EXPECT_EQ(found.memory_fraction(), 0.25);
}

TEST(RecordedSettings, KeysOfAnotherVersionCostThemselvesOnly) {
  // A number beyond any double, a key that comes twice, more keys than anybody has, and a text that ends early.
  std::string json =
      R"({"huge":1e999999,"twice":1,"twice":2,"max_split_size":"x","deep":[[[[[[[[[[1]]]]]]]]]])";
  for (int i = 0; i < 100; ++i) json += ",\"key" + std::to_string(i) + "\":null";
  json += R"(,"expandable_segments":true,"max_split_size":41943040,"cut)";
  const RecordedSettings found = recorded_settings(json);
  EXPECT_EQ(found.expandable_segments, true);
  EXPECT_EQ(found.config.max_split_size, 40 * kMiB);
}

TEST(RecordedSettings, NothingIsSaid) {
  for (const char* const json : {"", "{}", "[]", "null", "7"}) {
    const RecordedSettings found = recorded_settings(json);
    EXPECT_FALSE(found.known) << json;
    EXPECT_FALSE(found.expandable_segments.has_value()) << json;
    EXPECT_FALSE(found.memory_fraction().has_value()) << json;
  }
}

TEST(RecordedSettings, MinusOneIsNoLimit) {
  const RecordedSettings found =
      recorded_settings(R"({"max_split_size":-1,"PYTORCH_CUDA_ALLOC_CONF":"max_split_size_mb:64"})");
  EXPECT_EQ(found.config.max_split_size, alloc::kUnlimited);
}

TEST(RecordedSettings, TellTheOrderOfFreeBlocksOrWhatOnlySomeVersionsWrite) {
  EXPECT_EQ(recorded_settings(R"({"free_order": "segment_age"})").free_order, alloc::FreeOrder::segment_age);
  EXPECT_FALSE(recorded_settings(R"({"free_order": "of 2031"})").free_order.has_value());
  EXPECT_TRUE(recorded_settings(R"({"max_cached_size": 5})").has_host_cache);
  EXPECT_TRUE(recorded_settings(R"({"max_round_threshold": 5})").has_host_cache);
  EXPECT_TRUE(recorded_settings(R"({"graph_capture_record_stream_reuse": false})").has_stream_reuse);
  const RecordedSettings old = recorded_settings(R"({"max_split_size": -1})");
  EXPECT_FALSE(old.has_host_cache || old.has_stream_reuse || old.free_order);
}

TEST(RecordedSettings, TheTextHasAnotherNameSince29) {
  EXPECT_EQ(
      recorded_settings(R"({"PYTORCH_ALLOC_CONF": "large_segment_size_mb:64"})").config.large_segment_size,
      int64_t{64} << 20);
}

}  // namespace
}  // namespace gpustrata::replay
