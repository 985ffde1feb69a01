// A journal holds what was told to it, whatever ends the program that wrote it.
#include "capture/recorder/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"
#include "engine/base/units.h"
#include "engine/io/any_reader.h"
#include "engine/model/recording.h"

namespace gpustrata::tests {
namespace {

using capture::Journal;
using capture::JournalOptions;
using capture::JournalSink;
using testing::HasSubstr;

constexpr int64_t kMiB = int64_t{1} << 20;

struct OpenedJournal {
  explicit OpenedJournal(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    io::AnyReader reader(recording);
    status = io::push(reader, std::as_bytes(std::span(bytes.data(), bytes.size())));
    if (status) status = reader.finish();
  }
  Budget budget{int64_t{2} << 30};
  model::Recording recording{budget};
  Status status;
};

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "journal_test_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file() const { return path_ / "run.gpustrata"; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::vector<std::string>& reports() {
  static std::vector<std::string> lines;
  return lines;
}
void keep_report(std::string_view line) { reports().emplace_back(line); }

std::unique_ptr<Journal> begun(const std::string& path, int64_t max_size = 64 * kMiB) {
  reports().clear();
  auto journal = Journal::create(path, {.max_size = max_size, .report = keep_report});
  if (!journal) {
    ADD_FAILURE() << journal.error().message;
    return nullptr;
  }
  return std::move(*journal);
}

constexpr int kStacks = 7;
// The stack of call i is f<i % 7> called by main.
std::array<StackId, kStacks> told_stacks(Journal& journal) {
  std::array<StackId, kStacks> stacks;
  for (int i = 0; i < kStacks; ++i) {
    const std::array frames = {journal.frame(fmt::format("f{}", i), "train.py", i),
                               journal.frame("main", "train.py", 99)};
    stacks[static_cast<size_t>(i)] = journal.stack(frames);
  }
  return stacks;
}

// Call i of a thread: the thread is the stream, i the address.
trace::TraceEvent event_of(int thread, uint64_t call, StackId stack) {
  trace::TraceEvent event;
  event.action = call % 2 == 0 ? trace::Action::alloc : trace::Action::free_completed;
  event.address = call;
  event.size = static_cast<int64_t>(call % 1000) + 1;
  event.stream = thread;
  event.time_us = static_cast<int64_t>(call);
  event.stack = stack;
  return event;
}

// Of each thread its calls, first to last, without a gap; every field and the stack are the call's.
std::map<int64_t, std::pair<uint64_t, uint64_t>> calls_of(const model::Recording& recording) {
  std::map<int64_t, std::pair<uint64_t, uint64_t>> calls;
  const auto& events = recording.events;
  for (size_t row = 0; row < events.size_rows(); ++row) {
    const int64_t thread = recording.streams[events.stream[row].index()];
    const uint64_t call = events.address[row];
    const auto [known, first] = calls.try_emplace(thread, call, call);
    if (!first) {
      EXPECT_EQ(call, known->second.second + 1) << "thread " << thread;
      known->second.second = call;
    }
    const trace::TraceEvent wanted = event_of(static_cast<int>(thread), call, {});
    EXPECT_EQ(events.action[row], wanted.action);
    EXPECT_EQ(events.size[row], wanted.size);
    EXPECT_EQ(events.time[row], wanted.time_us);
    const auto frames = recording.stacks.frames_of(events.stack[row]);
    if (frames.size() != 2) {
      ADD_FAILURE() << "no stack at call " << call;
      break;
    }
    EXPECT_EQ(recording.strings.view(recording.frames[frames[0]].name), fmt::format("f{}", call % kStacks));
    EXPECT_EQ(recording.strings.view(recording.frames[frames[1]].name), "main");
    if (testing::Test::HasFailure()) break;
  }
  return calls;
}

// In the header of a file.
[[nodiscard]] uint64_t number_in(const std::string& path, uint64_t at) {
  std::ifstream file(path, std::ios::binary);
  uint64_t number = 0;
  file.seekg(static_cast<std::streamoff>(at));
  file.read(reinterpret_cast<char*>(&number), sizeof number);
  return number;
}

TEST(JournalWriter, WhatSixteenThreadsTellIsInTheFileOnceAndInOrder) {
  constexpr int kThreads = 16;
  constexpr uint64_t kCalls = 20'000;
  const Folder folder;
  const auto journal = begun(folder.file());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&journal, thread] {
      const auto stacks = told_stacks(*journal);
      for (uint64_t call = 0; call < kCalls; ++call)
        journal->event(0, event_of(thread, call, stacks[call % kStacks]));
    });
  }
  for (std::thread& thread : threads) thread.join();
  journal->close();
  const OpenedJournal opened(folder.file());
  ASSERT_TRUE(opened.status) << opened.status.error().message;
  EXPECT_FALSE(opened.recording.diagnostics.incomplete());
  const auto calls = calls_of(opened.recording);
  ASSERT_EQ(calls.size(), 16U);
  for (const auto& [thread, range] : calls) EXPECT_EQ(range, std::pair(uint64_t{0}, kCalls - 1)) << thread;
  EXPECT_EQ(number_in(folder.file(), io::journal::kEventsAt), kThreads * kCalls);
}

TEST(JournalWriter, EventsToldAreCountedAlsoThoseThatAreGone) {
  constexpr uint64_t kCalls = 200'000;  // more than has room
  const Folder folder;
  const auto journal = begun(folder.file(), kMiB);
  journal->region(0, journal->text("forward"), true, 1);  // no event
  for (uint64_t call = 0; call < kCalls; ++call) journal->event(0, event_of(0, call, {}));
  EXPECT_EQ(number_in(folder.file(), io::journal::kEventsAt), kCalls);
  const OpenedJournal opened(folder.file());
  ASSERT_TRUE(opened.status) << opened.status.error().message;
  EXPECT_LT(opened.recording.events.size_rows(), kCalls);
}

// --- The end of the program ---------------------------------------------------------------------------------

constexpr int kKilledThreads = 3;
// In a mapping that the test shares with the program: calls that began, calls that returned.
struct Truth {
  std::array<std::atomic<uint64_t>, kKilledThreads> began, returned;
};

[[noreturn]] void tell_until_killed(const std::string& path, int64_t max_size, int count, Truth& truth) {
  auto journal = Journal::create(path, {.max_size = max_size});
  if (!journal) _exit(3);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < count; ++thread) {
    threads.emplace_back([&journal, &truth, thread] {
      const auto which = static_cast<size_t>(thread);
      const auto stacks = told_stacks(**journal);
      for (uint64_t call = 0;; ++call) {
        truth.began[which].store(call + 1, std::memory_order_relaxed);
        (*journal)->event(0, event_of(thread, call, stacks[call % kStacks]));
        truth.returned[which].store(call + 1, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  _exit(4);
}

TEST(JournalWriter, ProgramKilledAtAnyMomentLeavesEveryEventItTold) {
  const char* const given = std::getenv("GPUSTRATA_KILLS");
  const int kills = given == nullptr ? 60 : std::atoi(given);
  std::mt19937 random(36);
  void* const memory =
      mmap(nullptr, sizeof(Truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  uint64_t told = 0, rotated = 0;
  for (int kill_number = 0; kill_number < kills; ++kill_number) {
    const Folder folder;
    Truth& truth = *new (memory) Truth{};
    const pid_t child = fork();
    // One thread whose oldest events go, or three of which all remains: of a thread that waits all might go, too.
    const bool bounded = kill_number % 2 == 0;
    const int64_t max_size = bounded ? kMiB : 128 * kMiB;
    const int count = bounded ? 1 : kKilledThreads;
    if (child == 0) tell_until_killed(folder.file(), max_size, count, truth);
    usleep(static_cast<useconds_t>(random() % 60'000));
    (void)kill(child, SIGKILL);
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFSIGNALED(how)) << "it ended by itself: " << how;
    const bool began = truth.began[0] + truth.began[1] + truth.began[2] > 0;
    if (!std::filesystem::exists(folder.file())) {
      ASSERT_FALSE(began);
      continue;
    }
    const OpenedJournal opened(folder.file());
    ASSERT_TRUE(opened.status) << opened.status.error().message;
    ASSERT_FALSE(opened.recording.diagnostics.incomplete());
    EXPECT_LE(std::filesystem::file_size(folder.file()), static_cast<uintmax_t>(max_size));
    const auto calls = calls_of(opened.recording);
    for (int thread = 0; thread < count; ++thread) {
      const auto which = static_cast<size_t>(thread);
      const auto known = calls.find(thread);
      const uint64_t last = known == calls.end() ? 0 : known->second.second + 1;
      // None is missing and none was made up.
      EXPECT_GE(last, truth.returned[which]) << "thread " << thread << ", kill " << kill_number;
      EXPECT_LE(last, truth.began[which]) << "thread " << thread << ", kill " << kill_number;
      told += last;
      rotated += known != calls.end() && known->second.first > 0 ? 1 : 0;
    }
    ASSERT_FALSE(HasFailure());
  }
  RecordProperty("events_told", std::to_string(told));
  RecordProperty("programs_of_which_the_oldest_events_went", std::to_string(rotated));
  EXPECT_GT(told, 0U);
  (void)munmap(memory, sizeof(Truth));
}

TEST(JournalWriter, ExitWithoutCloseLosesNothing) {
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    auto journal = Journal::create(folder.file(), {});
    if (!journal) _exit(3);
    const auto stacks = told_stacks(**journal);
    for (uint64_t call = 0; call < 1000; ++call)
      (*journal)->event(0, event_of(0, call, stacks[call % kStacks]));
    _exit(0);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  ASSERT_EQ(how, 0);
  const OpenedJournal opened(folder.file());
  ASSERT_TRUE(opened.status);
  EXPECT_EQ(calls_of(opened.recording).at(0), std::pair(uint64_t{0}, uint64_t{999}));
}

TEST(JournalWriter, ForkedChildWritesNothingAndTheParentGoesOn) {
  const Folder folder;
  const auto journal = begun(folder.file());
  const auto stacks = told_stacks(*journal);
  journal->event(0, event_of(0, 0, stacks[0]));
  const pid_t child = fork();
  if (child == 0) {
    journal->event(0, event_of(5, 0, stacks[0]));
    const bool told = !journal->text("of the child").is_none();
    journal->close();
    _exit(told ? 1 : 0);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_EQ(how, 0);
  journal->event(0, event_of(0, 1, stacks[1]));
  journal->close();
  const OpenedJournal opened(folder.file());
  const auto calls = calls_of(opened.recording);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls.at(0), std::pair(uint64_t{0}, uint64_t{1}));
}

// --- The size -----------------------------------------------------------------------------------------------

using Blocks = std::map<uint64_t, std::pair<int64_t, model::BlockState>>;

TEST(JournalWriter, WhatIsLeftOfALongRunBeginsWithItsStateAndEndsWithTheAllocators) {
  const Folder folder;
  const auto journal = begun(folder.file(), 2 * kMiB);
  JournalSink sink(*journal, 0);
  alloc::SimulatedDevice device(int64_t{4} << 30);
  Budget budget(int64_t{1} << 30);
  journal->state(0, {}, {});
  alloc::DeviceAllocator allocator(device, 0, {}, &sink, budget);
  std::mt19937 random(7);
  std::vector<uint64_t> live;
  // These live through every region that is begun.
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(allocator.malloc(1000 + i, 0, {}));
  for (int call = 0; call < 300'000; ++call) {
    if (live.size() < 500 && random() % 2 == 0) {
      const auto address = allocator.malloc(1 + static_cast<int64_t>(random() % 100'000), 0, {});
      ASSERT_TRUE(address);
      live.push_back(*address);
    } else if (!live.empty()) {
      const size_t which = random() % live.size();
      ASSERT_TRUE(allocator.free(live[which], {}));
      live[which] = live.back();
      live.pop_back();
    }
  }
  // As it lies there, then closed: the state is applied by the reader, then read.
  for (const bool closed : {false, true}) {
    if (closed) journal->close();
    EXPECT_LE(std::filesystem::file_size(folder.file()), 2 * kMiB);
    const OpenedJournal opened(folder.file());
    ASSERT_TRUE(opened.status) << opened.status.error().message;
    EXPECT_FALSE(opened.recording.diagnostics.incomplete());
    const auto& rec = opened.recording;
    ASSERT_EQ(rec.parts.size(), 1U);
    EXPECT_GT(rec.events.size_rows(), 10'000U);
    EXPECT_LT(rec.events.size_rows(), 300'000U);
    Blocks got, wanted;
    for (size_t row = 0; row < rec.blocks.size_rows(); ++row)
      got[rec.blocks.address[row]] = {rec.blocks.size[row], rec.blocks.state[row]};
    for (const alloc::SegmentId id : allocator.state().segments()) {
      for (alloc::BlockId at = allocator.state().segment(id).first; !at.is_none();
           at = allocator.state().block(at).next) {
        const alloc::Block& block = allocator.state().block(at);
        wanted[block.address] = {block.size, block.is_active() ? model::BlockState::active_allocated
                                                               : model::BlockState::inactive};
      }
    }
    EXPECT_EQ(got, wanted) << (closed ? "closed" : "open");
  }
}

TEST(JournalWriter, NamesTakeAQuarterOfARegionAndTheRestIsCounted) {
  const Folder folder;
  const auto journal = begun(folder.file(), kMiB);
  int told = 0;
  bool full = false;
  for (int i = 0; i < 20'000; ++i) {
    const bool here = !journal->text(fmt::format("a text that is new each time, {}", i)).is_none();
    EXPECT_FALSE(here && full);  // numbers have no gaps
    full = full || !here;
    told += here ? 1 : 0;
  }
  EXPECT_GT(told, 1000);
  EXPECT_LT(told, 19'000);
  EXPECT_FALSE(journal->text("a text that is new each time, 5").is_none());
  for (uint64_t call = 0; call < 100'000; ++call) journal->event(0, event_of(0, call, {}));
  journal->close();
  EXPECT_FALSE(journal->is_stopped());
  EXPECT_TRUE(reports().empty());
  EXPECT_TRUE(OpenedJournal(folder.file()).status);
}

// --- What goes wrong ----------------------------------------------------------------------------------------

TEST(JournalWriter, PathThatCannotBeIsAnErrorWithItsName) {
  const Folder folder;
  const std::string nowhere = folder.path() / "gone" / "run.gpustrata";
  auto journal = Journal::create(nowhere, {});
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::io_error);
  EXPECT_THAT(journal.error().message, HasSubstr(nowhere));
  EXPECT_THAT(journal.error().message, HasSubstr("No such file"));
  journal = Journal::create(folder.path(), {});
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("directory"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  journal = Journal::create(folder.file(), {.max_size = 1000});
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::wrong_usage);
}

TEST(JournalWriter, FullDiskIsOneLineAndWhatCameBeforeIsKept) {
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    (void)signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{rlim_t{5} << 20, rlim_t{5} << 20};  // the ring's 4 MiB fit, its chunks do not
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
    reports().clear();
    auto journal = Journal::create(folder.file(), {.report = keep_report});
    if (!journal) _exit(4);
    const auto stacks = told_stacks(**journal);
    for (uint64_t call = 0; call < 400'000; ++call)
      (*journal)->event(0, event_of(0, call, stacks[call % kStacks]));
    (*journal)->close();
    _exit(reports().size() == 1 && reports()[0].find("File too large") != std::string::npos ? 0 : 5);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  ASSERT_EQ(how, 0) << WEXITSTATUS(how);
  const OpenedJournal opened(folder.file());
  ASSERT_TRUE(opened.status) << opened.status.error().message;
  const auto range = calls_of(opened.recording).at(0);
  EXPECT_EQ(range.first, 0U);
  EXPECT_GT(range.second, 10'000U);
  EXPECT_LT(range.second, 399'999U);
  const auto& finding = opened.recording.diagnostics[model::Diag::truncated];
  EXPECT_EQ(finding.count, 1);
  EXPECT_THAT(finding.detail, HasSubstr("File too large"));
  EXPECT_THAT(finding.detail,
              HasSubstr(fmt::format("{} events came later",
                                    count_text(399'999 - static_cast<int64_t>(range.second)))));
}

TEST(JournalWriter, FileThatIsRemovedEndsIt) {
  const Folder folder;
  const auto journal = begun(folder.file());
  journal->event(0, event_of(0, 0, {}));
  std::filesystem::remove(folder.file());
  for (uint64_t call = 1; call < 200'000; ++call) journal->event(0, event_of(0, call, {}));
  journal->close();
  EXPECT_TRUE(journal->is_stopped());
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_THAT(reports()[0], HasSubstr("removed or replaced"));
}

TEST(JournalWriter, SecondJournalOfTheSameNameReplacesTheFirstWhichGoesOnInPeace) {
  const Folder folder;
  const auto first = begun(folder.file());
  first->event(0, event_of(0, 0, {}));
  const auto second = begun(folder.file());
  const auto stacks = told_stacks(*second);
  for (uint64_t call = 0; call < 100'000; ++call) {
    first->event(0, event_of(1, call, {}));
    second->event(0, event_of(2, call, stacks[call % kStacks]));
  }
  first->close();
  second->close();
  EXPECT_TRUE(first->is_stopped());
  EXPECT_FALSE(second->is_stopped());
  const OpenedJournal opened(folder.file());
  const auto calls = calls_of(opened.recording);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls.at(2), std::pair(uint64_t{0}, uint64_t{99'999}));
}

TEST(JournalWriter, FileThatGrowsCanBeReadAtAnyTime) {
  const Folder folder;
  const auto journal = begun(folder.file(), 3 * kMiB);
  std::atomic<uint64_t> returned{0};
  std::atomic<bool> enough{false};
  std::thread telling([&] {
    const auto stacks = told_stacks(*journal);
    for (uint64_t call = 0; !enough && call < 60'000; ++call) {
      journal->event(0, event_of(0, call, stacks[call % kStacks]));
      returned = call + 1;
      if (call % 64 == 0) std::this_thread::yield();
    }
  });
  uint64_t last = 0;
  int whole = 0;
  constexpr int kReads = 20;
  for (int i = 0; i < kReads; ++i) {
    usleep(5'000);
    const uint64_t before = returned;
    const OpenedJournal opened(folder.file());
    const uint64_t after = returned;
    if (!opened.status) {
      ADD_FAILURE() << opened.status.error().message;
      break;
    }
    const auto calls = calls_of(opened.recording);
    if (calls.empty()) continue;
    const uint64_t now = calls.at(0).second + 1;
    EXPECT_GE(now, last);
    EXPECT_LE(now, after + 1);
    // All that was told before the file was opened, unless what the reader had read was written over meanwhile.
    if (!opened.recording.diagnostics.incomplete()) {
      EXPECT_GE(now, before);
      ++whole;
    }
    last = now;
  }
  enough = true;
  telling.join();
  EXPECT_GT(last, 0U);
  EXPECT_GT(whole, kReads / 2);
  RecordProperty("events_told", std::to_string(last));
  RecordProperty("read_whole", whole);
}

}  // namespace
}  // namespace gpustrata::tests
