// The fast way of reading events against the machine that runs every opcode: the same Recording to the last
// id and the same findings, whatever the writer, the chunks, the end of the file and the oddities inside.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/unit/files.h"
#include "tests/unit/io/check_recording.h"
#include "tests/unit/io/py.h"
#include "tests/unit/io/read_file.h"
#include "tests/unit/io/same_recording.h"
#include "tests/unit/io/snapshot_py.h"

namespace gpustrata::tests {
namespace {

std::string difference(const ReadFile& fast, const ReadFile& plain) {
  if (fast.status.has_value() != plain.status.has_value()) return "one could be read, the other not";
  if (!fast.status) {
    const Error& a = fast.status.error();
    const Error& b = plain.status.error();
    return a.code == b.code && a.message == b.message && a.offset == b.offset ? ""
                                                                              : a.message + " / " + b.message;
  }
  if (const std::string problem = problem_of(fast.recording); !problem.empty()) return problem;
  return difference_of(const_cast<model::Recording&>(fast.recording),
                       const_cast<model::Recording&>(plain.recording));
}

void expect_same(std::string_view bytes, const std::string& what, std::vector<size_t> chunks) {
  ReadOptions plain;
  plain.plain = true;
  const auto expected = read_bytes(bytes, plain);
  for (const size_t chunk : chunks) {
    ReadOptions fast;
    fast.chunk = chunk;
    ASSERT_EQ(difference(*read_bytes(bytes, fast), *expected), "") << what << ", chunks of " << chunk;
    if (chunk < 2) continue;
    fast.random_chunks = bytes.size() + chunk;
    ASSERT_EQ(difference(*read_bytes(bytes, fast), *expected), "")
        << what << ", random chunks up to " << chunk;
  }
}

const std::vector<size_t> kChunks = {0, 1, 7, 64, 257, 4096};

// A trace with the shapes that writers give events, and now and then something that no template expects.
class TraceMaker {
 public:
  explicit TraceMaker(uint64_t seed, bool odd) : random_(seed), odd_(odd) {
    for (int i = 0; i < 40; ++i) frames_.push_back(frame(fmt::format("f{}", i).c_str(), "a.py", i));
    for (int i = 0; i < 12; ++i) {
      std::vector<Py> list;
      for (size_t n = 1 + below(30); n > 0; --n) list.push_back(frames_[below(frames_.size())]);
      lists_.push_back(list);
      shared_.push_back(Py::list(list));
    }
    has_pool_ = chance(2);
    fresh_texts_ = chance(2);
    shares_stacks_ = chance(2);
    frames_last_ = chance(2);
  }

  Py snapshot_of_events(size_t count) {
    std::vector<Py> traces(2);
    for (Py& trace : traces) {
      std::vector<Py> events;
      for (size_t i = 0; i < count; ++i) events.push_back(event());
      if (odd_ && chance(3)) events.push_back(events[below(events.size())]);  // twice in one list
      trace = Py::list(std::move(events));
    }
    std::vector<Py> blocks;
    for (int i = 0; i < 5; ++i) {
      blocks.push_back(Py::dict({{"size", 512}, {"state", "active_allocated"}, {"frames", stack()}}));
    }
    return snapshot({segment(4096, 2560, blocks)}, traces);
  }

 private:
  size_t below(size_t limit) { return random_() % limit; }
  bool chance(size_t one_in) { return below(one_in) == 0; }

  Py integer() {
    switch (below(6)) {
      case 0:
        return static_cast<int64_t>(below(256));
      case 1:
        return static_cast<int64_t>(below(65536));
      case 2:
        return static_cast<int64_t>(below(size_t{1} << 31));
      case 3:
        return static_cast<int64_t>(below(size_t{1} << 40));
      default:
        return static_cast<int64_t>(0x7f0000000000 + below(1000) * 512);
    }
  }
  Py stack() {
    const size_t which = chance(4) ? below(lists_.size()) : (turn_++ / 2) % lists_.size();
    if (chance(50)) return Py::list({});
    if (odd_ && chance(60)) return Py::list({frames_[0], "no frame"});
    if (odd_ && chance(40)) return Py::list(std::vector<Py>(1100, frames_[1]));  // two batches
    return shares_stacks_ && chance(3) ? shared_[which] : Py::list(lists_[which]);
  }
  Py text(const char* shared) {
    return fresh_texts_ ? Py(std::string(shared)) : texts_.emplace(shared, shared).first->second;
  }

  Py event() {
    static constexpr const char* kActions[] = {"alloc", "free_requested", "free_completed", "segment_alloc",
                                               "oom"};
    const char* name = kActions[below(5)];
    std::vector<std::pair<std::string, Py>> members;
    members.emplace_back("action", actions_.emplace(name, name).first->second);
    members.emplace_back(std::string_view(name) == "oom" ? "device_free" : "addr", integer());
    members.emplace_back("size", integer());
    members.emplace_back("stream", chance(30) ? integer() : Py(0));
    members.emplace_back("time_us", static_cast<int64_t>(1'700'000'000'000'000 + time_++ * 7));
    members.emplace_back("compile_context", text(chance(40) ? "0/1" : "N/A"));
    if (!frames_last_) members.emplace_back("frames", stack());
    members.emplace_back("user_metadata", text(""));
    if (has_pool_) members.emplace_back("pool_id", Py::tuple({0, chance(20) ? 1 : 0}));
    if (frames_last_) members.emplace_back("frames", stack());
    if (odd_) spoil(members);
    return Py::dict(members);
  }

  void spoil(std::vector<std::pair<std::string, Py>>& members) {
    if (!chance(8)) return;
    switch (below(12)) {
      case 0:
        members.emplace_back("note", 1);
        break;
      case 1:
        members.erase(members.begin() + static_cast<ptrdiff_t>(below(members.size())));
        break;
      case 2:
        members[2].second = -5;
        break;
      case 3:
        members[0].second = "never_heard_of";
        break;
      case 4:
        members[below(members.size())].second = nullptr;
        break;
      case 5:
        std::swap(members[below(members.size())], members[below(members.size())]);
        break;
      case 6:
        members[1].second = uint64_t{0xFFFFFFFFFFFFF000};
        break;
      case 7:
        members[below(members.size())].second = Py::list({});
        break;
      case 8:
        members[below(members.size())].second = Py::dict({{"a", 1}});
        break;
      case 9:
        members[below(members.size())].second = 1.5;
        break;
      case 10:
        members[5].second = std::string(300, 'x');
        break;
      default:
        members[below(members.size())].second = Py::tuple({1, 2});
    }
  }

  std::mt19937_64 random_;
  bool odd_;
  bool has_pool_, fresh_texts_, shares_stacks_, frames_last_;
  std::vector<Py> frames_, shared_;
  std::vector<std::vector<Py>> lists_;
  std::map<std::string, Py> texts_, actions_;
  size_t turn_ = 0;
  size_t time_ = 0;
};

TEST(FastReader, IsThePlainOneOnTracesOfAllWriters) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const Py value = TraceMaker(seed, false).snapshot_of_events(150);
    for (const Writer writer : kAllWriters) {
      const std::string bytes = pickled(value, writer);
      expect_same(bytes, fmt::format("seed {}, writer {}", seed, static_cast<int>(writer)), kChunks);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(FastReader, IsThePlainOneOnOddTraces) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Py value = TraceMaker(seed, true).snapshot_of_events(60);
    for (const Writer writer : kAllWriters) {
      const std::string bytes = pickled(value, writer);
      expect_same(bytes, fmt::format("seed {}, writer {}", seed, static_cast<int>(writer)), {0, 257});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(FastReader, IsThePlainOneWhereverTheFileEnds) {
  for (const Writer writer : {Writer::protocol2, Writer::protocol4, Writer::cpp}) {
    const std::string bytes = pickled(TraceMaker(7, true).snapshot_of_events(6), writer);
    for (size_t length = 0; length < bytes.size(); length += length < bytes.size() / 2 ? 5 : 1) {
      expect_same(std::string_view(bytes).substr(0, length), fmt::format("{} bytes", length), {0});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(FastReader, IsThePlainOneOnDamagedBytes) {
  std::mt19937_64 random(3);
  for (const Writer writer : {Writer::protocol2, Writer::protocol4, Writer::cpp}) {
    const std::string whole = pickled(TraceMaker(8, false).snapshot_of_events(30), writer);
    for (int i = 0; i < 3000; ++i) {
      std::string bytes = whole;
      for (size_t n = 1 + random() % 3; n > 0; --n) {
        const size_t at = random() % bytes.size();
        switch (random() % 4) {
          case 0:
            bytes[at] = static_cast<char>(random());
            break;
          case 1:
            bytes.erase(at, 1 + random() % 8);
            break;
          case 2:
            bytes.insert(at, bytes.substr(random() % bytes.size(), 1 + random() % 60));
            break;
          default:
            bytes[at] = bytes[random() % bytes.size()];
        }
      }
      expect_same(bytes, fmt::format("writer {}, damage {}", static_cast<int>(writer), i), {0});
      if (HasFatalFailure()) return;
    }
  }
}

// Slots that get another value: what was learned before means something else now.
TEST(FastReader, IsThePlainOneWhenMemoSlotsAreWrittenAgain) {
  const Py a = frame("a", "a.py", 1);
  const Py b = frame("b", "b.py", 2);
  const Py list = Py::list({a, b});
  std::vector<Py> events;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 40; ++i) {
      events.push_back(Py::dict({{"action", "alloc"},
                                 {"addr", 4096 + i},
                                 {"size", 512},
                                 {"stream", 0},
                                 {"compile_context", "N/A"},
                                 {"frames", Py::list({a, b, a, a, b})}}));
    }
    // A text that is put where some frame, key or action is, by its slot in protocol 2.
    for (int slot = 2; slot < 30; slot += 3) {
      events.push_back(Py::opcodes("X" + u32(1) + "z" + "q" + static_cast<char>(slot + round) + "0"));
    }
  }
  std::vector<Py> kept;
  for (size_t i = 0; i < events.size(); ++i) kept.push_back(events[i]);
  expect_same(pickled(snapshot_of(kept), Writer::protocol2), "slots written again", kChunks);
}

// Something is added to a dict after it was complete as an event.
TEST(FastReader, IsThePlainOneWhenAnEventIsChangedLater) {
  const std::string head = "\x80\x02}(X" + u32(13) + "device_traces](](";
  const std::string keys[] = {"action", "addr", "size", "stream"};
  const auto text = [](const std::string& word) { return "X" + u32(word.size()) + word; };
  std::string first = "}(";
  int slot = 0;
  for (const std::string& key : keys) {
    first += text(key) + "q" + static_cast<char>(slot++);
    first += key == "action" ? text("alloc") + "q" + static_cast<char>(slot++) : "K\x07";
  }
  first += "u";
  const std::string next = std::string("}(h\0h\1h\2K\5h\3K\6h\4K\0u", 18);
  for (const std::string& between :
       {std::string(), std::string("h\3K\x9s", 5), std::string("(h\3K\x9u", 6), std::string("q\x40", 2),
        std::string("2"), std::string("0"), std::string("}")}) {
    std::string bytes = head + first;
    for (int i = 0; i < 9; ++i) bytes += next + (i % 3 == 2 ? between : "");
    bytes += "eeu.";
    bytes += std::string(200, '\0');
    expect_same(bytes, "between events: " + between, kChunks);
  }
}

TEST(FastReader, IsThePlainOneOnRealSnapshots) {
  const std::filesystem::path folder = real_path("snapshots");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
  std::mt19937_64 random(5);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pickle") continue;
    const std::string bytes = file_bytes(entry.path());
    expect_same(bytes, entry.path().filename(), {0, 4096, 65536});
    if (bytes.size() < 2'000'000) expect_same(bytes, entry.path().filename(), {1, 7, 64});
    for (int i = 0; i < 3; ++i) {
      const std::string_view part = std::string_view(bytes).substr(0, random() % bytes.size());
      expect_same(part, fmt::format("{}, {} bytes", entry.path().filename().string(), part.size()), {0});
    }
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gpustrata::tests
