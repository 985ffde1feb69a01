// Which files a server reads, whatever name is sent to it.
#include "engine/serve/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/serve/served_folder.h"

namespace gpustrata::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

[[nodiscard]] Files files_of(const std::vector<std::string>& paths) {
  auto files = Files::of(paths);
  EXPECT_TRUE(files.has_value());
  return files ? *files : Files();
}

// What a file holds, or why it is not opened.
[[nodiscard]] std::string opened(const Files& files, std::string_view name) {
  const auto found = files.open(name);
  if (!found) return found.error().message;
  std::string text(static_cast<size_t>(found->bytes), ' ');
  return ::read(found->file.get(), text.data(), text.size()) == found->bytes ? text : "not read";
}

[[nodiscard]] std::vector<std::string> names_of(const Files& files) {
  bool left_out = true;
  std::vector<std::string> names;
  for (const ListedFile& file : files.list(left_out)) names.push_back(file.shown.name);
  EXPECT_FALSE(left_out);
  return names;
}

TEST(ServedFiles, NamesInTheOnlyFolderNeedNothingInFront) {
  const ServedFolder folder;
  folder.write("run.pickle", "one");
  folder.write("deep/rank0.json", "two");
  const Files files = files_of({folder.path()});
  EXPECT_THAT(names_of(files), ElementsAre("deep/rank0.json", "run.pickle"));
  EXPECT_EQ(opened(files, "run.pickle"), "one");
  EXPECT_EQ(opened(files, "deep/rank0.json"), "two");
  EXPECT_EQ(opened(files, "deep/../run.pickle"),
            "deep/../run.pickle cannot be opened: it leads out of the folder that is served.");
  EXPECT_EQ(files.about(), folder.path());
}

TEST(ServedFiles, NamesThatLeadOutAreRefused) {
  const ServedFolder outside, folder;
  outside.write("secret.pickle", "secret");
  folder.write("in.pickle", "in");
  folder.link("out.pickle", outside.path("secret.pickle"));
  folder.link("out", outside.path());
  folder.link("inside.pickle", folder.path("in.pickle"));
  const Files files = files_of({folder.path()});
  for (const std::string_view name : {"..", "../x", "a/..", "a/../b", "a/../../b"})
    EXPECT_THAT(opened(files, name), HasSubstr("it leads out of the folder that is served")) << name;
  EXPECT_THAT(opened(files, outside.path("secret.pickle")), HasSubstr("only names below the folder"));
  EXPECT_THAT(opened(files, "out.pickle"), HasSubstr("it lies outside of what is served"));
  EXPECT_THAT(opened(files, "out/secret.pickle"), HasSubstr("it lies outside of what is served"));
  EXPECT_EQ(opened(files, "inside.pickle"), "in");
  // Two dots are a name if more is there.
  EXPECT_THAT(opened(files, "..a"), HasSubstr("there is no such file"));
  EXPECT_THAT(opened(files, "a.."), HasSubstr("there is no such file"));
  EXPECT_THAT(names_of(files), ElementsAre("in.pickle", "inside.pickle"));
}

TEST(ServedFiles, AFolderWhoseNameBeginsAlikeLiesOutside) {
  const ServedFolder both;
  both.write("runs/a.pickle", "a");
  both.write("runs2/b.pickle", "b");
  both.link("runs/b.pickle", both.path("runs2/b.pickle"));
  const Files files = files_of({both.path("runs")});
  EXPECT_EQ(opened(files, "a.pickle"), "a");
  EXPECT_THAT(opened(files, "b.pickle"), HasSubstr("it lies outside of what is served"));
}

TEST(ServedFiles, OddNamesAreRefusedInWords) {
  const ServedFolder folder;
  folder.write("a.pickle", "a");
  const Files files = files_of({folder.path()});
  EXPECT_THAT(opened(files, ""), HasSubstr("it is empty, too long or holds a zero"));
  EXPECT_THAT(opened(files, std::string_view("a.pickle\0", 9)),
              HasSubstr("it is empty, too long or holds a zero"));
  EXPECT_THAT(opened(files, std::string(4097, 'a')), HasSubstr("it is empty, too long or holds a zero"));
  EXPECT_THAT(opened(files, std::string(4096, 'a')), HasSubstr("cannot be opened"));
  EXPECT_LT(opened(files, std::string(4096, 'a')).size(), 300U);
  EXPECT_THAT(opened(files, "nothing.pickle"),
              HasSubstr("nothing.pickle cannot be opened: there is no such file."));
  EXPECT_THAT(opened(files, "a.pickle/b"), HasSubstr("cannot be opened"));
  EXPECT_EQ(opened(files, "./a.pickle"), "a");
  ASSERT_FALSE(files.open("nothing").has_value());
  EXPECT_EQ(files.open("nothing").error().code, ErrorCode::wrong_usage);
}

TEST(ServedFiles, PipesAndFoldersAreNeitherListedNorOpened) {
  const ServedFolder folder;
  folder.write("folder.pickle/a.txt", "a");
  ASSERT_EQ(mkfifo(folder.path("pipe.pickle").c_str(), 0600), 0);
  const Files files = files_of({folder.path()});
  EXPECT_THAT(names_of(files), IsEmpty());
  EXPECT_THAT(opened(files, "pipe.pickle"), HasSubstr("it is no file"));
  EXPECT_THAT(opened(files, "folder.pickle"), HasSubstr("it is no file"));
  EXPECT_EQ(opened(files, "folder.pickle/a.txt"), "a");  // what is not listed may be named
  EXPECT_FALSE(Files::of({folder.path("pipe.pickle")}).has_value());
  EXPECT_FALSE(Files::of({folder.path("nothing")}).has_value());
}

TEST(ServedFiles, OnlyWhatMayBeASnapshotIsListed) {
  const ServedFolder folder;
  for (const char* name : {"a.pickle", "b.pkl", "c.json", "d.html", "e.htm", "f.gz", "g.zst", "h.zip",
                           "i.snapshot", "j.txt", "k", "l.pickle.part", ".hidden.pickle", ".git/m.pickle"})
    folder.write(name, "x");
  EXPECT_THAT(
      names_of(files_of({folder.path()})),
      ElementsAre("a.pickle", "b.pkl", "c.json", "d.html", "e.htm", "f.gz", "g.zst", "h.zip", "i.snapshot"));
}

TEST(ServedFiles, FoldersBelowTheEighthAreNotLookedInto) {
  const ServedFolder folder;
  folder.write("1/2/3/4/5/6/7/8/a.pickle", "x");
  folder.write("1/2/3/4/5/6/7/8/9/b.pickle", "x");
  EXPECT_THAT(names_of(files_of({folder.path()})), ElementsAre("1/2/3/4/5/6/7/8/a.pickle"));
}

TEST(ServedFiles, ListedWithSizeAndTimeOfChange) {
  const ServedFolder folder;
  folder.write("a.pickle", "12345");
  const timespec times[] = {{1, 0}, {1'000'000, 2'000'999}};
  ASSERT_EQ(utimensat(AT_FDCWD, folder.path("a.pickle").c_str(), times, 0), 0);
  const Files files = files_of({folder.path()});
  bool left_out = true;
  const auto listed = files.list(left_out);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].shown.bytes, 5);
  EXPECT_EQ(listed[0].shown.modified_us, 1'000'000'002'000);  // whole microseconds
  EXPECT_EQ(listed[0].shown.peak_bytes, std::nullopt);
  const auto found = files.open("a.pickle");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->bytes, 5);
  EXPECT_EQ(found->modified_us, listed[0].shown.modified_us);
  EXPECT_EQ(found->stamp, listed[0].stamp);
}

// Bytes of the names: "a" FF, a cut sequence, and an encoded surrogate; then text that only looks so.
TEST(ServedFiles, NamesThatAreNoUtf8AreShownAsTextThatOpensThem) {
  const ServedFolder folder;
  folder.write("a\xFF.pickle", "one");
  folder.write("b\xC3/\xED\xA0\x80.pickle", "two");
  folder.write("c\\xFF.pickle", "three");
  folder.write("d\xC3\xA9.pickle", "four");
  const Files files = files_of({folder.path()});
  EXPECT_THAT(names_of(files), ElementsAre("a\\xFF.pickle", "b\\xC3/\\xED\\xA0\\x80.pickle", "c\\xFF.pickle",
                                           "d\xC3\xA9.pickle"));
  EXPECT_EQ(opened(files, "a\\xFF.pickle"), "one");
  EXPECT_EQ(opened(files, "a\xFF.pickle"), "one");
  EXPECT_EQ(opened(files, "b\\xC3/\\xED\\xA0\\x80.pickle"), "two");
  EXPECT_EQ(opened(files, "c\\xFF.pickle"), "three");
  EXPECT_EQ(opened(files, "d\xC3\xA9.pickle"), "four");
  // No other byte can be written so: 2F is a slash, 2E a dot.
  EXPECT_THAT(opened(files, "b\\xC3\\x2F\\xED\\xA0\\x80.pickle"), HasSubstr("there is no such file"));
  EXPECT_EQ(bytes_of_shown("\\x2E\\x7F\\x80\\xfg\\xF"), "\\x2E\\x7F\x80\\xfg\\xF");
  // The name of a file that is served alone.
  EXPECT_EQ(opened(files_of({folder.path("a\xFF.pickle")}), "a\\xFF.pickle"), "one");
}

TEST(ServedFiles, AFileThatWasReplacedIsAnotherOneWhateverItsSizeAndTime) {
  const ServedFolder folder;
  folder.write("a.pickle", "one");
  const Files files = files_of({folder.path()});
  const auto before = files.open("a.pickle");
  ASSERT_TRUE(before.has_value());
  struct stat status {};
  ASSERT_EQ(stat(folder.path("a.pickle").c_str(), &status), 0);
  const timespec times[] = {status.st_atim, status.st_mtim};
  folder.write("b.pickle", "two");
  std::filesystem::rename(folder.path("b.pickle"), folder.path("a.pickle"));
  ASSERT_EQ(utimensat(AT_FDCWD, folder.path("a.pickle").c_str(), times, 0), 0);
  const auto after = files.open("a.pickle");
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->bytes, before->bytes);
  EXPECT_EQ(after->modified_us, before->modified_us);
  EXPECT_NE(after->stamp, before->stamp);
}

TEST(ServedFiles, SeveralPathsHaveNamesOfTheirOwn) {
  const ServedFolder folder;
  folder.write("x/a.pickle", "1");
  folder.write("y/a.pickle", "2");
  folder.write("x/runs/b.pickle", "3");
  folder.write("y/runs/b.pickle", "4");
  const Files files = files_of(
      {folder.path("x/a.pickle"), folder.path("y/a.pickle"), folder.path("x/runs"), folder.path("y/runs")});
  EXPECT_THAT(names_of(files), ElementsAre("a.pickle", "a.pickle (2)", "runs (2)/b.pickle", "runs/b.pickle"));
  EXPECT_EQ(opened(files, "a.pickle"), "1");
  EXPECT_EQ(opened(files, "a.pickle (2)"), "2");
  EXPECT_EQ(opened(files, "runs/b.pickle"), "3");
  EXPECT_EQ(opened(files, "runs (2)/b.pickle"), "4");
  EXPECT_THAT(opened(files, "b.pickle"), HasSubstr("it is none of the files that are served"));
  EXPECT_THAT(opened(files, "runs (2)/../a.pickle"), HasSubstr("it leads out"));
  EXPECT_EQ(files.about(), folder.path("x/a.pickle") + " and 3 more");
}

TEST(ServedFiles, AFileThatBecameALinkIsRefused) {
  const ServedFolder folder;
  folder.write("a.pickle", "a");
  folder.write("b.pickle", "b");
  const Files files = files_of({folder.path("a.pickle")});
  EXPECT_EQ(opened(files, "a.pickle"), "a");
  std::filesystem::remove(folder.path("a.pickle"));
  folder.link("a.pickle", folder.path("b.pickle"));
  EXPECT_THAT(opened(files, "a.pickle"), HasSubstr("it lies outside of what is served"));
}

}  // namespace
}  // namespace gpustrata::serve
