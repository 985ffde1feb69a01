// How far journals are written, and whether somebody writes them.
#include "engine/serve/journals.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/serve/journal_bytes.h"
#include "tests/unit/serve/served_folder.h"

namespace gpustrata::serve {
namespace {

using answers::JournalState;
using testing::ElementsAre;

// A file, mapped as who writes a journal maps it.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const OpenFile file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct stat status {};
    EXPECT_EQ(fstat(file.get(), &status), 0);
    inode = status.st_ino;
    at_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    EXPECT_NE(at_, MAP_FAILED);
  }
  ~MappedFile() { munmap(at_, kBytes); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  void put(uint64_t at, uint64_t value) const {
    std::memcpy(static_cast<char*>(at_) + at, &value, sizeof value);
  }

  uint64_t inode = 0;

 private:
  static constexpr size_t kBytes = 4096;
  void* at_ = nullptr;
};

[[nodiscard]] std::optional<JournalHead> head_of(const std::string& text) {
  return journal_head(std::as_bytes(std::span(text)));
}

TEST(JournalHeads, TellHowFarItIsWritten) {
  JournalBytes journal;
  journal.process = 77;
  journal.head = 144;
  journal.events = 2;
  EXPECT_EQ(head_of(journal.text()), (JournalHead{5000, 77, 144, 2, false}));
  journal.closed = 1;
  EXPECT_EQ(head_of(journal.text()), (JournalHead{5000, 77, 144, 2, true}));
}

TEST(JournalHeads, EventsThatNobodyCountedAreNotKnown) {
  JournalBytes journal;
  EXPECT_EQ(head_of(journal.text())->events, 0);  // nothing is written at all
  journal.head = 144;
  EXPECT_EQ(head_of(journal.text())->events, std::nullopt);
}

TEST(JournalHeads, OtherFilesHaveNone) {
  std::string text = JournalBytes().text();
  EXPECT_FALSE(head_of(text.substr(0, 511)).has_value());
  EXPECT_FALSE(head_of("").has_value());
  text[30] = 'x';  // a part of what is checked
  EXPECT_FALSE(head_of(text).has_value());
}

TEST(JournalWriters, AreProcessesThatHaveTheFileMapped) {
  const ServedFolder folder;
  folder.write("run.gpustrata", JournalBytes().text());
  const int64_t self = getpid();
  Writer known;
  uint64_t inode = 0;
  {
    const MappedFile mapped(folder.path("run.gpustrata"));
    inode = mapped.inode;
    EXPECT_TRUE(known.writes(self, inode));
    EXPECT_FALSE(Writer().writes(self, inode + 1));
    EXPECT_FALSE(Writer().writes(JournalBytes().process, inode));
  }
  EXPECT_FALSE(Writer().writes(self, inode));  // of that number, but another process
  EXPECT_TRUE(known.writes(self, inode));      // the same process as before
}

TEST(ServedJournals, SayWhoWritesThemAndHowFar) {
  const ServedFolder folder;
  JournalBytes left, closed, own;
  closed.closed = 1;
  own.process = getpid();
  folder.write("left.gpustrata", left.text());
  folder.write("deep/closed.gpustrata", closed.text());
  folder.write("own.gpustrata", own.text());
  folder.write("odd.gpustrata", "no journal");
  folder.write("run.pickle", "no journal");
  const MappedFile mapped(folder.path("own.gpustrata"));
  const auto files = Files::of({folder.path()});
  ASSERT_TRUE(files.has_value());
  Journals journals(*files);
  const auto states = [&] {
    std::vector<std::pair<std::string, JournalState>> told;
    for (const auto& one : journals.look().journals) told.emplace_back(one.name, one.state);
    return told;
  };
  EXPECT_THAT(states(), ElementsAre(std::pair("deep/closed.gpustrata", JournalState::closed),
                                    std::pair("left.gpustrata", JournalState::left),
                                    std::pair("own.gpustrata", JournalState::written)));
  mapped.put(io::journal::kHeadAt, 72);
  mapped.put(io::journal::kEventsAt, 1);
  const auto now = journals.look().journals.back();
  EXPECT_EQ(now.position, 72);
  EXPECT_EQ(now.events, 1);
  EXPECT_EQ(now.process, getpid());
}

TEST(ServedJournals, WhatGrowsIsWrittenWhereverItsProcessIs) {
  const ServedFolder folder;
  folder.write("run.gpustrata", JournalBytes().text());
  const auto files = Files::of({folder.path("run.gpustrata")});
  ASSERT_TRUE(files.has_value());
  Journals journals(*files);
  EXPECT_EQ(journals.look().journals.at(0).state, JournalState::left);
  MappedFile(folder.path("run.gpustrata")).put(io::journal::kHeadAt, 72);
  EXPECT_EQ(journals.look().journals.at(0).state, JournalState::written);
}

TEST(ServedJournals, WhatIsWrittenIsAnotherContentThoughNoTimeMoves) {
  const ServedFolder folder;
  folder.write("run.gpustrata", JournalBytes().text());
  const auto files = Files::of({folder.path()});
  ASSERT_TRUE(files.has_value());
  bool left_out = false;
  const Stamp before = files->list(left_out).at(0).stamp;
  EXPECT_EQ(before, files->open("run.gpustrata")->stamp);
  MappedFile(folder.path("run.gpustrata")).put(io::journal::kHeadAt, 72);
  EXPECT_NE(files->open("run.gpustrata")->stamp.journal, before.journal);
}

}  // namespace
}  // namespace gpustrata::serve
