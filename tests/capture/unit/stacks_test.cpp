// Interning, naming and its limits, on the library's own sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "capture/stacks/cpp_stack.h"
#include "capture/stacks/elf_symbols.h"
#include "capture/stacks/modules.h"
#include "capture/stacks/named_stacks.h"
#include "capture/stacks/raw_stacks.h"
#include "capture/stacks/symbols.h"

namespace gpustrata::capture {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

int g_kept = 0;
int g_named = 0;

[[nodiscard]] RawStacks make_stacks(int64_t limit = int64_t{1} << 26) {
  g_kept = g_named = 0;
  return RawStacks(
      limit,
      [](const PythonFrame& frame) {
        ++g_named;
        return PythonFrameText{"function", "file.py", static_cast<int32_t>(frame.instruction)};
      },
      [](void*) { ++g_kept; });
}

TEST(RawStacks, EqualStacksAreOne) {
  RawStacks stacks = make_stacks();
  const std::vector<uint64_t> addresses{1, 2, 3};
  int code = 0;
  const std::vector<PythonFrame> python{{&code, 4}, {&code, 8}};
  EXPECT_EQ(stacks.intern({}).index(), 0U);
  const StackId first = stacks.intern({addresses, python});
  EXPECT_EQ(stacks.intern({addresses, python}), first);
  EXPECT_NE(stacks.intern({addresses, {}}), first);
  EXPECT_NE(stacks.intern({{}, python}), first);
  EXPECT_EQ(stacks.size(), 4U);
  EXPECT_EQ(g_kept, 1);   // one code object
  EXPECT_EQ(g_named, 4);  // two frames of two new stacks
  const RawStacks::Kept kept = stacks.get(first);
  EXPECT_EQ(kept.addresses, addresses);
  ASSERT_EQ(kept.python.size(), 2U);
  EXPECT_EQ(kept.python[1].line, 8);
  EXPECT_EQ(stacks.text(kept.python[1].filename), "file.py");
}

TEST(RawStacks, ManyStacksKeepTheirIds) {
  RawStacks stacks = make_stacks();
  std::vector<std::vector<uint64_t>> all;
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    all.emplace_back();
    for (uint64_t depth = random() % 40 + 1; depth > 0; --depth) all.back().push_back(random());
    EXPECT_EQ(stacks.intern({all.back(), {}}).index(), all.size());
  }
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(stacks.intern({all[i], {}}).index(), i + 1);
    EXPECT_EQ(stacks.get(StackId(i + 1)).addresses, all[i]);
  }
}

TEST(RawStacks, RefuseWhatTheBudgetDoesNotHold) {
  RawStacks stacks = make_stacks(32 << 10);
  const std::vector<uint64_t> large(10000, 7);
  EXPECT_TRUE(stacks.intern({large, {}}).is_none());
  EXPECT_EQ(stacks.lost(), 1);
  const std::vector<uint64_t> small(10, 7);
  EXPECT_FALSE(stacks.intern({small, {}}).is_none());
}

[[gnu::noinline]] std::vector<uint64_t> addresses_here() {
  std::array<uint64_t, 100> addresses{};
  const size_t count = gather_cpp_stack(addresses);
  return {addresses.begin(), addresses.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(Symbols, NameTheFunctionsOfTheStack) {
  const std::vector<uint64_t> addresses = addresses_here();
  Symbols symbols;
  symbols.resolve(addresses, 60);
  EXPECT_THAT(symbols.frames(addresses[0]).back().name, HasSubstr("addresses_here()"));
  EXPECT_THAT(symbols.frames(addresses[1]).back().name, HasSubstr("Symbols_NameTheFunctionsOfTheStack_Test"));
  symbols.resolve(std::array<uint64_t, 1>{16}, 60);
  EXPECT_EQ(symbols.frames(16).front().name, "0x10");
}

TEST(Symbols, StopWhenTimeIsOverAndTryAgain) {
  const std::vector<uint64_t> addresses = addresses_here();
  Symbols symbols;
  testing::internal::CaptureStderr();
  symbols.resolve(addresses, 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("addresses of stacks have no complete names"));
  EXPECT_THAT(symbols.frames(addresses[0]).front().name, MatchesRegex("capture_unit_tests\\+0x[0-9a-f]+"));
  symbols.resolve(addresses, 60);
  EXPECT_THAT(symbols.frames(addresses[0]).back().name, HasSubstr("addresses_here()"));
}

// Of a module without symbols, as distributions ship it. This program stands for the debug file.
TEST(Symbols, NamesComeFromTheDebugFileOfTheBuildId) {
  const std::vector<uint64_t> addresses = addresses_here();
  const std::vector<Module> modules = loaded_modules();
  const Module* const program = module_of(modules, addresses[0]);
  ASSERT_NE(program, nullptr);
  const std::vector<uint64_t> in_file{addresses[0] - 1 - program->base};
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("gpustrata-debug-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / ".build-id" / "ab");
  std::filesystem::create_symlink(program->path, folder / ".build-id" / "ab" / "cdef.debug");
  Module stripped;
  stripped.path = "/dev/null";
  const auto name_with = [&](const std::string& build_id) {
    stripped.build_id = build_id;
    std::vector<Symbols::Frames> frames(1);
    frames_from_files(stripped, folder, in_file, frames, [] { return false; });
    return frames[0].empty() ? "" : frames[0].back().name;
  };
  EXPECT_THAT(name_with("abcdef"), HasSubstr("addresses_here"));
  EXPECT_EQ(name_with("abcdee"), "");  // another build's
  EXPECT_EQ(name_with(""), "");
  std::filesystem::remove_all(folder);
}

// Sources that are slow on purpose. Which one is a test's matter; they begin at once and end when told.
std::atomic<bool> g_may_return{false};
std::atomic<int> g_asked{0};

void name_all(std::span<const uint64_t> addresses, std::vector<Symbols::Frames>& frames) {
  for (size_t i = 0; i < addresses.size(); ++i) frames[i] = {{"_Z6slowlyv", "slow.cpp", 7}};
}
// As a module of many units: looks at the time in between.
void source_that_looks_at_the_time(const Module&, std::span<const uint64_t> addresses,
                                   std::vector<Symbols::Frames>& frames,
                                   const std::function<bool()>& expired) {
  ++g_asked;
  frames[0] = {{"first", "slow.cpp", 1}};
  while (!expired() && !g_may_return) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!expired()) name_all(addresses, frames);
}
// As one call of libdw that takes its time.
void source_that_does_not(const Module&, std::span<const uint64_t> addresses,
                          std::vector<Symbols::Frames>& frames, const std::function<bool()>&) {
  ++g_asked;
  while (!g_may_return) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  name_all(addresses, frames);
}
// Returns when something was told on stderr (captured, so it is a file).
void source_until_something_is_told(const Module&, std::span<const uint64_t> addresses,
                                    std::vector<Symbols::Frames>& frames, const std::function<bool()>&) {
  struct stat told {};
  while (fstat(STDERR_FILENO, &told) == 0 && told.st_size == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  name_all(addresses, frames);
}

// Two addresses of this program.
[[nodiscard]] std::vector<uint64_t> two_addresses() {
  const std::vector<uint64_t> all = addresses_here();
  return {all[0], all[1]};
}

TEST(Symbols, ASlowModuleKeepsWhatItHasWhenTimeIsOver) {
  g_may_return = false;
  g_asked = 0;
  std::vector<uint64_t> addresses = two_addresses();
  std::sort(addresses.begin(), addresses.end());
  Symbols symbols(source_that_looks_at_the_time, {.grace = std::chrono::minutes(1)});
  testing::internal::CaptureStderr();
  symbols.resolve(addresses, 0.05);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("gpustrata: 2 addresses of stacks have no complete names"));
  EXPECT_EQ(symbols.frames(addresses[0]).front().name, "first");
  EXPECT_THAT(symbols.frames(addresses[1]).front().name, MatchesRegex("capture_unit_tests\\+0x[0-9a-f]+"));
  g_may_return = true;
  symbols.resolve(addresses, 600);
  EXPECT_EQ(g_asked, 2);
  EXPECT_EQ(symbols.frames(addresses[1]).front().name, "slowly()");
  EXPECT_EQ(symbols.frames(addresses[1]).front().line, 7);
}

TEST(Symbols, ACallThatDoesNotReturnIsLeftAlone) {
  g_may_return = false;
  g_asked = 0;
  const std::vector<uint64_t> addresses = two_addresses();
  Symbols symbols(source_that_does_not, {.grace = std::chrono::milliseconds(10)});
  testing::internal::CaptureStderr();
  symbols.resolve(addresses, 0);  // would hang here
  EXPECT_THAT(symbols.frames(addresses[1]).front().name, MatchesRegex("capture_unit_tests\\+0x[0-9a-f]+"));
  symbols.resolve(addresses, 0);  // the module is not asked a second time meanwhile
  EXPECT_THAT(symbols.frames(addresses[1]).front().name, MatchesRegex("capture_unit_tests\\+0x[0-9a-f]+"));
  (void)testing::internal::GetCapturedStderr();
  EXPECT_LE(g_asked, 1);
  g_may_return = true;
  while (symbols.frames(addresses[1]).front().name != "slowly()") {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    symbols.resolve(addresses, 600);
  }
}

TEST(Symbols, ProgressIsTold) {
  const std::vector<uint64_t> addresses = two_addresses();
  Symbols symbols(source_until_something_is_told, {.progress = std::chrono::milliseconds(1)});
  testing::internal::CaptureStderr();
  symbols.resolve(addresses, 600);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              StartsWith("gpustrata: naming the stacks: 0 of 1 modules\n"));
  EXPECT_EQ(symbols.frames(addresses[0]).front().name, "slowly()");
}

TEST(ElfSymbols, SurviveDamagedFiles) {
  const auto modules = loaded_modules();
  std::ifstream own(modules.front().path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(own)), {});
  ASSERT_GT(whole.size(), 10000U);
  const std::string path = testing::TempDir() + "gpustrata-damaged";
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    std::string text = whole.substr(0, i % 3 == 0 ? random() % whole.size() : whole.size());
    // The header, and the section headers at the end.
    for (int bytes = 0; bytes < 20 && !text.empty(); ++bytes) {
      const size_t near = random() % 2 == 0 ? random() % 64 : text.size() - 1 - random() % 2000;
      if (near >= 4 && near < text.size()) text[near] = static_cast<char>(random());
    }
    std::ofstream(path, std::ios::binary) << text;
    const std::vector<uint64_t> addresses{0x1000, 0x2000, 0x10000, UINT64_MAX};
    std::vector<std::string> names(addresses.size());
    name_from_symbols(path, addresses, names, [] { return false; });
  }
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

// Three C++ frames, the middle one the interpreter's loop (by its name only).
extern "C" [[gnu::noinline]] size_t _PyEval_EvalFrameDefault_of_a_test(std::span<uint64_t> addresses) {
  const size_t count = gather_cpp_stack(addresses);
  asm volatile("" : : : "memory");
  return count;
}

TEST(NamedStacks, PythonFramesStandBeforeTheLoopThatRunsThem) {
  std::array<uint64_t, 100> addresses{};
  ASSERT_GE(_PyEval_EvalFrameDefault_of_a_test(addresses), 2U);
  int code = 0;
  RawStacks stacks = make_stacks();
  const std::vector<PythonFrame> python{{&code, 1}, {&code, 2}, {&code, 3}};
  // loop, caller, loop, caller: the first loop runs one Python frame, the outermost the other two.
  const std::vector<uint64_t> words{addresses[0], addresses[1], addresses[0], addresses[1]};
  const StackId raw = stacks.intern({words, python});
  Budget budget(int64_t{1} << 26);
  model::Recording recording(budget);
  ASSERT_TRUE(recording.segments.stack.push_back(raw));
  Symbols symbols;
  ASSERT_TRUE(name_stacks(stacks, recording, symbols, 60));
  std::vector<std::string> kinds;
  for (const FrameId id : recording.stacks.frames_of(recording.segments.stack[0])) {
    const trace::Frame& frame = recording.frames[id];
    const std::string name(recording.strings.view(frame.name));
    kinds.push_back(name == "function" ? "python " + std::to_string(frame.line)
                    : name.find("EvalFrameDefault") != std::string::npos ? "loop"
                                                                         : "caller");
  }
  EXPECT_THAT(kinds, ElementsAre("python 1", "loop", "caller", "python 2", "python 3", "loop", "caller"));
}

}  // namespace
}  // namespace gpustrata::capture
