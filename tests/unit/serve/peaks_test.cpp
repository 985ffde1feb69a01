// Peaks for the list of files: what is known, what is still to be found out, and what cannot be.
#include "engine/serve/peaks.h"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/unit/serve/served_folder.h"

namespace gpustrata::serve {
namespace {

using testing::HasSubstr;

[[nodiscard]] ListedFile listed_file(std::string name, int64_t bytes = 10, int64_t modified_ns = 1,
                                     int64_t changed_ns = 1) {
  ListedFile file;
  file.shown.name = std::move(name);
  file.shown.bytes = bytes;
  file.stamp = {1, 1, bytes, modified_ns, changed_ns};
  return file;
}

[[nodiscard]] std::string taken_name(KnownPeaks& known) {
  const ListedFile* const next = known.take();
  return next == nullptr ? "nothing" : next->shown.name;
}

TEST(KnownPeaksOfFiles, AreExaminedInTheOrderOfTheList) {
  KnownPeaks known;
  std::vector files = {listed_file("a"), listed_file("b")};
  EXPECT_FALSE(known.has_more());
  EXPECT_EQ(known.look_up(files), 2);
  EXPECT_TRUE(known.has_more());
  EXPECT_EQ(taken_name(known), "a");
  known.examined({1000, ""});
  EXPECT_EQ(known.look_up(files), 1);
  EXPECT_EQ(files[0].shown.peak_bytes, 1000);
  EXPECT_EQ(files[1].shown.peak_bytes, std::nullopt);
  EXPECT_EQ(taken_name(known), "b");
  known.examined({std::nullopt, "This is no snapshot."});
  EXPECT_EQ(known.look_up(files), 0);
  EXPECT_EQ(files[1].shown.error, "This is no snapshot.");
  EXPECT_FALSE(known.has_more());
  EXPECT_EQ(taken_name(known), "nothing");
}

TEST(KnownPeaksOfFiles, WhatIsBeingWrittenIsNotExamined) {
  KnownPeaks known;
  std::vector files = {listed_file("a")};
  files[0].is_being_written = true;
  EXPECT_EQ(known.look_up(files), 0);
  EXPECT_EQ(taken_name(known), "nothing");
}

TEST(KnownPeaksOfFiles, WhatIsBeingExaminedCountsAndIsNotTakenAgain) {
  KnownPeaks known;
  std::vector files = {listed_file("a"), listed_file("b")};
  EXPECT_EQ(known.look_up(files), 2);
  EXPECT_EQ(taken_name(known), "a");
  EXPECT_EQ(known.look_up(files), 2);  // somebody looks at the list meanwhile
  known.examined({1000, ""});
  EXPECT_EQ(taken_name(known), "b");
  known.examined({2000, ""});
  EXPECT_EQ(taken_name(known), "nothing");
}

TEST(KnownPeaksOfFiles, AFileThatChangesIsAnotherOne) {
  KnownPeaks known;
  std::vector files = {listed_file("a")};
  EXPECT_EQ(known.look_up(files), 1);
  EXPECT_EQ(taken_name(known), "a");
  // While it is examined its size or a time of it changes: what is found out is of the one that was.
  for (const ListedFile& changed :
       {listed_file("a", 11), listed_file("a", 10, 2), listed_file("a", 10, 1, 2)}) {
    std::vector later = {changed};
    EXPECT_EQ(known.look_up(later), 1);
    EXPECT_TRUE(known.has_more());
  }
  known.examined({1000, ""});
  std::vector later = {listed_file("a", 10, 2)};
  EXPECT_EQ(known.look_up(later), 1);
  EXPECT_EQ(later[0].shown.peak_bytes, std::nullopt);
  EXPECT_EQ(known.look_up(files), 0);
  EXPECT_EQ(files[0].shown.peak_bytes, 1000);
}

TEST(KnownPeaksOfFiles, FilesOfMoreThanAGiBAreLeft) {
  KnownPeaks known;
  std::vector files = {listed_file("a", (int64_t{1} << 30) + 1)};
  EXPECT_EQ(known.look_up(files), 0);
  files[0].shown.bytes = int64_t{1} << 30;
  EXPECT_EQ(known.look_up(files), 1);
}

TEST(KnownPeaksOfFiles, WhatIsNoLongerListedIsNotExamined) {
  KnownPeaks known;
  std::vector files = {listed_file("a"), listed_file("b")};
  EXPECT_EQ(known.look_up(files), 2);
  std::vector fewer = {listed_file("b")};
  EXPECT_EQ(known.look_up(fewer), 1);
  EXPECT_EQ(taken_name(known), "b");
  known.examined({});
  EXPECT_EQ(taken_name(known), "nothing");
}

// Asks as the page does until nothing is left to be examined; false: there always is.
[[nodiscard]] bool comes_to_an_end(Peaks& peaks, std::vector<ListedFile>& files) {
  for (int asked = 0; asked < 400; ++asked) {
    if (peaks.look_up(files) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST(PeaksOfFiles, AreTheHighestOfTheDevicesOrWhyThereIsNone) {
  const ServedFolder folder;
  folder.write("a.json", small_snapshot(3));
  folder.write("b.json", "[]");
  const auto files = Files::of({folder.path()});
  ASSERT_TRUE(files.has_value());
  Sessions sessions(*files, {});
  Peaks peaks(*files, sessions, int64_t{1} << 28);
  bool left_out = false;
  auto listed = files->list(left_out);
  ASSERT_EQ(listed.size(), 2U);
  ASSERT_TRUE(comes_to_an_end(peaks, listed));
  EXPECT_EQ(listed[0].shown.peak_bytes, 3000);
  EXPECT_EQ(listed[0].shown.error, "");
  EXPECT_EQ(listed[1].shown.peak_bytes, std::nullopt);
  EXPECT_NE(listed[1].shown.error, "");
}

TEST(PeaksOfFiles, AFileThatCannotBeOpenedIsKnownToo) {
  const ServedFolder folder;
  folder.write("here.json", small_snapshot());
  const auto files = Files::of({folder.path()});
  ASSERT_TRUE(files.has_value());
  Sessions sessions(*files, {});
  Peaks peaks(*files, sessions, int64_t{1} << 28);
  std::vector listed = {listed_file("gone.json")};
  ASSERT_TRUE(comes_to_an_end(peaks, listed));
  EXPECT_EQ(listed[0].shown.peak_bytes, std::nullopt);
  EXPECT_THAT(listed[0].shown.error, HasSubstr("there is no such file"));
}

}  // namespace
}  // namespace gpustrata::serve
