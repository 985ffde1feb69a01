// Whatever is asked: an answer, or an error in words. And what is asked elsewhere changes no answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

#include "engine/session/questions.h"
#include "tests/unit/session/asking.h"

namespace gpustrata::session {
namespace {

constexpr std::string_view kCases[] = {"private_pool", "era3_expandable_and_oom",
                                       "era8_host_memory_and_annotate", "several_devices"};

// Values as they may come from anywhere, most of them wrong.
class Asker {
 public:
  explicit Asker(uint64_t seed) : random_(seed) {}

  [[nodiscard]] size_t below(size_t count) { return random_() % count; }

  [[nodiscard]] std::string number() {
    static constexpr const char* kNumbers[] = {"-1",
                                               "0",
                                               "1",
                                               "2",
                                               "3",
                                               "5",
                                               "17",
                                               "100",
                                               "0.5",
                                               "-0",
                                               "1e3",
                                               "65536",
                                               "2147483647",
                                               "2147483648",
                                               "-2147483649",
                                               "9007199254740992",
                                               "-9007199254740992",
                                               "9223372036854775808",
                                               "-9223372036854775809",
                                               "1e300",
                                               "-1e300",
                                               "5e-324",
                                               "4611686018427387904",
                                               "null",
                                               "\"1\"",
                                               "[1]",
                                               "true",
                                               "{}"};
    // Often one that means something.
    return kNumbers[below(3) == 0 ? below(std::size(kNumbers)) : below(8)];
  }
  [[nodiscard]] std::string text() {
    static constexpr const char* kTexts[] = {
        "\"\"",     "\"size>1KiB\"",         "\"alive@peak\"", "\"alloc\"", "\"action:oom\"", "\"oom\"",
        "\"peak\"", "\"pool:0,1 -stack:a\"", "\"((\"",         "\"é😀 si\"", "\"\\ud800\"",    "7",
        "null"};
    return kTexts[below(std::size(kTexts))];
  }

  // For a type of a signature; the objects' own signatures are repeated here, so that this stays independent.
  [[nodiscard]] std::string value(std::string_view type) {
    if (below(40) == 0) return number();
    if (type.ends_with("[]")) {
      std::string list = "[";
      for (size_t i = below(5); i > 0; --i)
        list += value(type.substr(0, type.size() - 2)) + (i > 1 ? "," : "");
      return list + "]";
    }
    static const std::map<std::string_view, std::string_view> kObjects = {
        {"Columns", "axis: Axis, first: Whole, width: Width, count: Pixels"},
        {"Stretch", "first: Whole, width: Width, count: Pixels"},
        {"Rows", "bottom: Real, bytesPerRow: Positive, count: Pixels"},
        {"Palette", "bands: Colour[], nothing: Colour, dimmedTowards: Colour, envelope: Colour"},
        {"Look", "palette: Palette, colourBy: ColourBy, filter: Text, kind: KindOrNone"},
        {"StateWindow", "width: Extent, height: Extent, zoom: Real, left: Real, top: Real"},
        {"Facts",
         "keys: Text[], places: Text[], sizes: Size[], counts: Size[], rest_bytes: Size, rest_blocks: Size"},
        {"CallTree",
         "of: BlocksOf, from: Event, to: Event, weight: WeightBy, by: FrameKey, frames: FramesOf, "
         "inverted: Flag, filter: Text, onlyFiltered: Flag"},
        {"SizeChange", "filter: Text, factor: Real"},
        {"ExtraRequest", "after: Event, bytes: Size, until?: Event"},
        {"Scenario",
         "conf?: Text, capacity?: Size, changes?: SizeChange[], extra?: ExtraRequest[], "
         "emptyCacheAfter?: Event[], caching?: Flag"}};
    if (type == "CallFacts") return call_facts();
    if (const auto found = kObjects.find(type); found != kObjects.end()) return object(found->second);
    if (type == "Text") return text();
    if (type == "Flag") return below(2) == 0 ? "true" : "false";
    if (type == "Axis") return below(2) == 0 ? "\"event\"" : "\"time\"";
    if (type == "Bands") return one_of({"\"blocks\"", "\"pools\"", "\"segments\""});
    if (type == "RegionOrder") return one_of({"\"address\"", "\"size\"", "\"stream\""});
    if (type == "BlocksOf")
      return one_of({"\"moment\"", "\"allocated\"", "\"kept\"", "\"passed\"", "\"difference\""});
    if (type == "WeightBy") return one_of({"\"bytes\"", "\"blocks\"", "\"time\""});
    if (type == "FrameKey") return one_of({"\"line\"", "\"function\"", "\"file\""});
    if (type == "FramesOf") return one_of({"\"own\"", "\"shown\"", "\"all\""});
    if (type == "HolderBy")
      return one_of({"\"line\"", "\"function\"", "\"file\"", "\"module\"", "\"category\""});
    if (type == "OpBy") return one_of({"\"op\"", "\"path\"", "\"shape\"", "\"module\"", "\"stack\""});
    if (type == "OpScope") return one_of({"\"thread\"", "\"process\""});
    if (type == "OpSort") return one_of({"\"net\"", "\"self\"", "\"gross\"", "\"peak\"", "\"at_peak\""});
    if (type == "FrameOrder")
      return one_of({"\"name\"", "\"total\"", "\"self\"", "\"blocks\"", "\"change\""});
    if (type == "ColourBy")
      return one_of({"\"allocation\"", "\"stack\"", "\"size\"", "\"stream\"", "\"pool\"", "\"lifetime\"",
                     "\"age\"", "\"category\""});
    return number();
  }

  [[nodiscard]] std::string object(std::string_view signature) {
    std::string text = "{";
    while (!signature.empty()) {
      const size_t end = signature.find(", ");
      const std::string_view field = signature.substr(0, end);
      signature.remove_prefix(end == std::string_view::npos ? signature.size() : end + 2);
      const size_t colon = field.find(": ");
      std::string_view name = field.substr(0, colon);
      const bool optional = name.ends_with('?');
      if (optional) name.remove_suffix(1);
      if (below(optional ? 2 : 50) == 0) continue;
      if (text.size() > 1) text += ',';
      text += "\"" + std::string(name) + "\":" + value(field.substr(colon + 2));
    }
    return text + (below(60) == 0 ? ",\"unknown\":1}" : "}");
  }

  // Head of a question; views are those from 1 to 9, open or not.
  [[nodiscard]] std::string head() {
    const auto all = questions();
    const Question& question = all[below(all.size())];
    std::string text = "{\"ask\":\"" + std::string(question.name) + "\"";
    if ((question.of != Question::Of::file) != (below(50) == 0))
      text += ",\"view\":" + (below(30) == 0 ? number() : std::to_string(1 + below(9)));
    return text + ",\"args\":" + object(question.arguments) + "}";
  }

  [[nodiscard]] std::string frame() {
    std::string frame = question_frame(head());
    if (below(30) == 0) frame.resize(below(frame.size()));
    if (below(30) == 0 && !frame.empty()) frame[below(frame.size())] = static_cast<char>(below(256));
    return frame;
  }

 private:
  // Mostly lists that fit together.
  [[nodiscard]] std::string call_facts() {
    const size_t frames = 1 + below(4), nodes = below(12);
    const auto list = [&](size_t count, const auto& item) {
      std::string text = "[";
      for (size_t i = 0; i < count + (below(60) == 0 ? 1 : 0); ++i)
        text += (i > 0 ? "," : "") + std::string(item(i));
      return text + "]";
    };
    const auto up_to = [&](size_t end) {
      return below(80) == 0 ? number() : std::to_string(below(std::max<size_t>(end, 1)));
    };
    return "{\"texts\":" + list(3, [&](size_t) { return text(); }) +
           ",\"names\":" + list(frames, [&](size_t) { return up_to(3); }) +
           ",\"files\":" + list(frames, [&](size_t) { return up_to(3); }) +
           ",\"lines\":" + list(frames, [&](size_t) { return up_to(100); }) +
           ",\"frames\":" + list(nodes, [&](size_t) { return up_to(frames); }) + ",\"callers\":" +
           list(nodes, [&](size_t i) { return i == 0 || below(3) == 0 ? "-1" : up_to(i); }) +
           ",\"weights\":" + list(nodes, [&](size_t) { return up_to(1000); }) +
           ",\"blocks\":" + list(nodes, [&](size_t) { return up_to(5); }) +
           ",\"without\":0,\"withoutBlocks\":0,\"rest\":7,\"restBlocks\":1}";
  }
  [[nodiscard]] std::string one_of(std::initializer_list<const char*> words) {
    return *(words.begin() + below(words.size()));
  }
  std::mt19937_64 random_;
};

void expect_sensible(const AnswerOf& answer, std::string_view asked) {
  ASSERT_EQ(answer.magic, kAnswerMagic);
  const auto head = parse_json(answer.head);
  if (answer.head.size() < 20'000) {
    ASSERT_TRUE(head.has_value()) << answer.head;
  }
  if (answer.head.starts_with("{\"answer\":")) return;
  ASSERT_TRUE(answer.head.starts_with("{\"error\":{\"code\":\"")) << answer.head;
  EXPECT_FALSE(answer.head.starts_with("{\"error\":{\"code\":\"internal\"")) << asked << answer.head;
  EXPECT_EQ(answer.head.find("\"message\":\"\""), std::string::npos) << asked;
}

TEST(Questions, RandomOnesAreAnsweredOrRefusedInWords) {
  size_t answered = 0, refused = 0;
  for (const std::string_view name : kCases) {
    Session session(int64_t{1} << 28);
    ASSERT_TRUE(read_bytes(session, golden_input(name)).has_value());
    Asker asker(name.size());
    for (int i = 0; i < 2000; ++i) {
      const std::string frame = asker.frame();
      const AnswerOf answer = asked_frame(session, frame);
      expect_sensible(answer, frame.substr(std::min(frame.size(), kFrameHeader)));
      (answer.head.starts_with("{\"error\"") ? refused : answered) += 1;
    }
  }
  EXPECT_GT(answered, 300U);
  EXPECT_GT(refused, 300U);
}

// With little memory everything is answered or refused, and nothing stays charged.
TEST(Questions, WithoutMemoryTheyAreRefusedInWords) {
  for (const int64_t kib : {700, 800, 1000, 1500}) {
    Session session(kib * 1024);
    if (!read_bytes(session, golden_input("era3_expandable_and_oom"))) continue;
    Asker asker(static_cast<uint64_t>(kib));
    for (int i = 0; i < 500; ++i) {
      const std::string frame = asker.frame();
      expect_sensible(asked_frame(session, frame), frame.substr(std::min(frame.size(), kFrameHeader)));
    }
  }
}

struct Whole {
  std::string head;
  std::vector<std::byte> columns;
  bool operator==(const Whole&) const = default;
};
[[nodiscard]] Whole whole(Session& session, std::string_view head) {
  AnswerOf answer = asked_frame(session, question_frame(head));
  return {std::move(answer.head), std::move(answer.columns)};
}

// What opens and releases views, adds a run, or tells a device: it is asked beside the others, and must change no answer.
[[nodiscard]] bool is_disturbing(std::string_view name) {
  return name == "open" || name == "first" || name == "release" || name == "addRun" || name == "tellMadeIn";
}

// All other questions, each as often, those about a view for that one.
[[nodiscard]] std::vector<std::string> heads_for(ViewId view, uint64_t seed, size_t count) {
  Asker asker(seed);
  std::vector<std::string> heads;
  while (heads.size() < count) {
    for (const Question& question : questions()) {
      if (is_disturbing(question.name)) continue;
      const std::string of_view =
          question.of == Question::Of::file ? "" : ",\"view\":" + std::to_string(view);
      heads.push_back("{\"ask\":\"" + std::string(question.name) + "\"" + of_view +
                      ",\"args\":" + asker.object(question.arguments) + "}");
    }
  }
  return heads;
}

// One of all, then two of some.
struct Opening {
  Bands bands;
  std::string_view only;
};
constexpr Opening kOpenings[] = {{Bands::blocks, ""},
                                 {Bands::pools, ""},
                                 {Bands::segments, ""},
                                 {Bands::blocks, "size>1KiB"},
                                 {Bands::segments, "size>1KiB"}};
constexpr size_t kOpened = std::size(kOpenings);

void open_all(Session& session) {
  for (const Opening& opening : kOpenings)
    ASSERT_TRUE(session.open_view(0, 0, opening.bands, opening.only).has_value());
}

// Answers of views that are opened one after another and asked everything before the next one is.
struct Answers {
  void ask_all(Session& alone, size_t count) {
    for (size_t v = 0; v < kOpened; ++v) {
      const auto view = alone.open_view(0, 0, kOpenings[v].bands, kOpenings[v].only);
      ASSERT_TRUE(view.has_value());
      heads.push_back(heads_for(*view, v, count));
      expected.emplace_back();
      for (const std::string& head : heads[v]) expected[v].push_back(whole(alone, head));
    }
  }
  // Turn by turn in another session; `disturb` comes in between.
  template <typename Disturb>
  void expect_same(Session& session, const Disturb& disturb) const {
    for (size_t i = 0; i < heads[0].size(); ++i) {
      for (size_t v = 0; v < kOpened; ++v) {
        disturb();
        const Whole got = whole(session, heads[v][i]);
        ASSERT_EQ(got.head, expected[v][i].head) << heads[v][i];
        ASSERT_EQ(got.columns, expected[v][i].columns) << heads[v][i];
      }
    }
  }

  std::vector<std::vector<std::string>> heads;
  std::vector<std::vector<Whole>> expected;
};

constexpr size_t kAsked = 1000;  // of each view, a dozen times each question

TEST(Questions, InterleavedViewsAnswerAsIfEachWereAlone) {
  for (const std::string_view name : kCases) {
    const std::string bytes = golden_input(name);
    Session together(int64_t{1} << 28), apart(int64_t{1} << 28);
    ASSERT_TRUE(read_bytes(together, bytes).has_value());
    ASSERT_TRUE(read_bytes(apart, bytes).has_value());
    Answers answers;
    answers.ask_all(apart, kAsked);
    open_all(together);
    answers.expect_same(together, [] {});
  }
}

// The run is added to both; then it is made again and again in one of them, and now and then one fails in between.
TEST(Questions, ARunThatIsMadeAgainChangesNoAnswer) {
  size_t added = 0;
  for (const std::string_view name : kCases) {
    const std::string bytes = golden_input(name);
    Session together(int64_t{1} << 28), apart(int64_t{1} << 28);
    ASSERT_TRUE(read_bytes(together, bytes).has_value());
    ASSERT_TRUE(read_bytes(apart, bytes).has_value());
    const auto run = [](Session& session, ViewId view, std::string_view scenario) {
      return asked(session, "addRun", view, "{\"scenario\":" + std::string(scenario) + "}");
    };
    constexpr std::string_view kScenario = R"({"emptyCacheAfter":[1],"extra":[{"after":0,"bytes":1000}]})";
    ASSERT_TRUE(apart.open_view(0, 0, Bands::blocks).has_value());
    ASSERT_TRUE(together.open_view(0, 0, Bands::blocks).has_value());
    const std::string first = run(apart, 1, kScenario);
    added += first == R"({"answer":1})" ? 1 : 0;
    Answers answers;
    answers.ask_all(apart, kAsked);
    open_all(together);
    std::mt19937_64 random(name.size());
    answers.expect_same(together, [&] {
      if (random() % 8 == 0) (void)run(together, 1, R"({"caching":false})");
      const ViewId view = static_cast<ViewId>(1 + random() % kOpened);
      ASSERT_EQ(run(together, view, kScenario), first);
    });
  }
  EXPECT_GE(added, 2U);
}

// What another client of the file asks, opens, releases and tells is nothing to this one.
TEST(Questions, WhatAnotherClientDoesChangesNoAnswer) {
  for (const std::string_view name : kCases) {
    const std::string bytes = golden_input(name);
    Session together(int64_t{1} << 28), apart(int64_t{1} << 28);
    ASSERT_TRUE(read_bytes(together, bytes).has_value());
    ASSERT_TRUE(read_bytes(apart, bytes).has_value());
    Answers answers;
    answers.ask_all(apart, kAsked);
    open_all(together);
    Session other(together);
    Asker asker(7);
    size_t told = 0;
    answers.expect_same(together, [&] {
      (void)asked_frame(other, asker.frame());
      const ViewId view = other.open_view(0, 0, Bands::blocks).value_or(0);
      const std::string count =
          asked(other, "tellMadeIn", view,
                R"({"anew":false,"parents":[-1],"names":["alloc"],"ops":[1],"events":[0],"nodes":[0]})");
      told += count.starts_with(R"({"answer":)") ? 1 : 0;
      (void)asked(other, "addRun", view, R"({"scenario":{}})");
      if (asker.below(4) > 0) other.release(view);
    });
    EXPECT_GT(told, 100U);
  }
}

// Two files in two sessions, three views of each, asked in turn as chance has it.
TEST(Questions, InterleavedSessionsAnswerAsIfEachWereAlone) {
  constexpr size_t kViews = 3;
  const std::string_view files[] = {"era3_expandable_and_oom", "private_pool"};
  std::vector<std::unique_ptr<Session>> together;
  std::vector<std::pair<std::string, Whole>> expected[2][kViews];
  for (size_t f = 0; f < 2; ++f) {
    const std::string bytes = golden_input(files[f]);
    Session alone(int64_t{1} << 28);
    ASSERT_TRUE(read_bytes(alone, bytes).has_value());
    together.push_back(std::make_unique<Session>(int64_t{1} << 28));
    ASSERT_TRUE(read_bytes(*together[f], bytes).has_value());
    for (size_t v = 0; v < kViews; ++v) {
      ASSERT_TRUE(alone.open_view(0, 0, static_cast<Bands>(v)).has_value());
      ASSERT_TRUE(together[f]->open_view(0, 0, static_cast<Bands>(v)).has_value());
      for (const std::string& head : heads_for(static_cast<ViewId>(v + 1), 10 * f + v, 150))
        expected[f][v].emplace_back(head, whole(alone, head));
    }
  }
  std::mt19937_64 random(7);
  size_t asked[2][kViews] = {};
  for (int i = 0; i < 3000; ++i) {
    const size_t f = random() % 2, v = random() % kViews;
    const auto& all = expected[f][v];
    if (asked[f][v] == all.size()) continue;
    const auto& [head, answer] = all[asked[f][v]++];
    const Whole got = whole(*together[f], head);
    ASSERT_EQ(got.head, answer.head) << files[f] << head;
    ASSERT_EQ(got.columns, answer.columns) << files[f] << head;
  }
}

TEST(Questions, TheSameTwiceIsTheSame) {
  Session session(int64_t{1} << 28);
  ASSERT_TRUE(read_bytes(session, golden_input("private_pool")).has_value());
  const ViewId view = session.open_view(0, 0, Bands::pools).value_or(0);
  const auto heads = heads_for(view, 99, 400);
  std::map<std::string, Whole> answers;
  for (const std::string& head : heads) answers.emplace(head, whole(session, head));
  for (auto head = heads.rbegin(); head != heads.rend(); ++head)
    ASSERT_EQ(whole(session, *head), answers.at(*head)) << *head;
}

TEST(Questions, TenTimesOpenedAndReleasedLeavesMemoryWhereItWas) {
  Session session(int64_t{1} << 28);
  ASSERT_TRUE(read_bytes(session, golden_input("era3_expandable_and_oom")).has_value());
  std::vector<int64_t> heap;
  for (int cycle = 0; cycle < 10; ++cycle) {
    const ViewId view = session.open_view(0, 0, static_cast<Bands>(cycle % 3)).value_or(0);
    for (const std::string& head : heads_for(view, 5, 100)) (void)whole(session, head);
    session.release(view);
    heap.push_back(session.progress().heap);
  }
  EXPECT_EQ(heap.back(), heap[2]);  // every kind of view was open once
}

}  // namespace
}  // namespace gpustrata::session
