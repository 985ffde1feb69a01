#include "engine/analysis/filters/filter_syntax.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

FilterNode only_term(std::string_view text) {
  auto tree = parse_filter(text);
  EXPECT_TRUE(tree.has_value()) << text << ": " << (tree ? "" : tree.error().message);
  if (!tree || tree->nodes.size() != 1) {
    ADD_FAILURE() << text << " is not one term";
    return {};
  }
  EXPECT_EQ(tree->root, 0);
  return tree->nodes[0];
}

struct Wrong {
  int64_t at;
  std::string why;
};
Wrong refused(std::string_view text) {
  const auto tree = parse_filter(text);
  EXPECT_FALSE(tree.has_value()) << text;
  return tree ? Wrong{} : Wrong{tree.error().offset, tree.error().message};
}

TEST(FilterSyntax, AnEmptyTextMeansEverything) {
  EXPECT_EQ(parse_filter("")->root, -1);
  EXPECT_EQ(parse_filter(" \t ")->root, -1);
}

TEST(FilterSyntax, SizesAreWholeBytesWithinBothBounds) {
  const struct {
    const char* text;
    int64_t low, high;
  } cases[] = {
      {"size>1MiB", kMiB + 1, INT64_MAX},
      {"size>=1mib", kMiB, INT64_MAX},
      {"size<1M", 0, kMiB - 1},
      {"size<=1KiB", 0, 1024},
      {"size:512", 512, 512},
      {"SIZE=2K", 2048, 2048},
      {"size>1.5KiB", 1537, INT64_MAX},
      {"size>0.3", 1, INT64_MAX},
      {"size<0.3", 0, 0},
      {"size:1MiB..4MiB", kMiB, 4 * kMiB},
      {"size:1kB..1.5kB", 1000, 1500},
      {"size>1GB", 1'000'000'001, INT64_MAX},
      {"size:1TiB", int64_t{1} << 40, int64_t{1} << 40},
  };
  for (const auto& one : cases) {
    const FilterNode node = only_term(one.text);
    EXPECT_EQ(node.field, FilterField::size) << one.text;
    EXPECT_EQ(node.low, one.low) << one.text;
    EXPECT_EQ(node.high, one.high) << one.text;
  }
  // 1.5 bytes are no size: the range between is empty.
  const FilterNode none = only_term("size:1.5");
  EXPECT_GT(none.low, none.high);
}

TEST(FilterSyntax, LifetimesHaveAUnitOfTimeOrCountEvents) {
  EXPECT_TRUE(only_term("lifetime<1ms").in_time);
  EXPECT_EQ(only_term("lifetime<1ms").high, 999);
  EXPECT_EQ(only_term("lifetime>=2min").low, 120'000'000);
  EXPECT_EQ(only_term("lifetime:0..3µs").high, 3);
  EXPECT_FALSE(only_term("lifetime<100").in_time);
  EXPECT_FALSE(only_term("lifetime<100events").in_time);
}

TEST(FilterSyntax, AliveTakesAMomentOrAnEvent) {
  EXPECT_EQ(only_term("alive@peak").low, kAliveAtPeak);
  EXPECT_EQ(only_term("alive@Start").low, kAliveAtStart);
  EXPECT_EQ(only_term("alive@end").low, kAliveAtEnd);
  EXPECT_EQ(only_term("alive@17").low, 17);
}

TEST(FilterSyntax, TextsStandBareOrInQuotesAndKeepWhatLooksLikeSyntax) {
  EXPECT_EQ(only_term("stack:attention").text, "attention");
  EXPECT_EQ(only_term("stack:\"two words\"").text, "two words");
  EXPECT_EQ(only_term("frame:\"say \\\"x\\\"\"").text, "say \"x\"");
  EXPECT_EQ(only_term("train.py:42").text, "train.py:42");
  EXPECT_EQ(only_term("train.py:42").field, FilterField::anything);
  EXPECT_EQ(only_term("std::vector").text, "std::vector");
  EXPECT_EQ(only_term("\"or\"").text, "or");
  EXPECT_EQ(only_term("f(x)").text, "f(x)");
  EXPECT_EQ(only_term("b'7f06_0").text, "b'7f06_0");
  EXPECT_EQ(only_term("orange").text, "orange");  // `or` is a whole word
}

TEST(FilterSyntax, AndBindsMoreThanOr) {
  const auto tree = parse_filter("a b or not (c or -d)");
  ASSERT_TRUE(tree.has_value());
  const FilterNode& root = tree->nodes[static_cast<size_t>(tree->root)];
  ASSERT_EQ(root.kind, FilterNode::Kind::any_of);
  ASSERT_EQ(root.children.size(), 2u);
  const FilterNode& both = tree->nodes[static_cast<size_t>(root.children[0])];
  EXPECT_EQ(both.kind, FilterNode::Kind::all_of);
  EXPECT_EQ(both.children.size(), 2u);
  const FilterNode& negated = tree->nodes[static_cast<size_t>(root.children[1])];
  ASSERT_EQ(negated.kind, FilterNode::Kind::none_of);
  const FilterNode& inner = tree->nodes[static_cast<size_t>(negated.children[0])];
  EXPECT_EQ(inner.kind, FilterNode::Kind::any_of);
}

TEST(FilterSyntax, ErrorsSayWhatAndWhere) {
  const struct {
    const char* text;
    int64_t at;
    const char* says;
  } cases[] = {
      {"size>1Mb2", 6, "no unit of sizes"},
      {"a colour:red", 2, "no field \"colour\""},
      {"size>", 5, "value is missing"},
      {"size>big", 5, "number is missing"},
      {"(a b", 0, "not closed"},
      {"a b)", 3, "no ( for this )"},
      {"stack:\"x", 6, "not closed"},
      {"a or", 4, "term is missing"},
      {"()", 1, "term is missing"},
      {"not", 3, "term is missing"},
      {"alive@noon", 6, "peak, start, end"},
      {"alive:peak", 5, "alive@peak"},
      {"size@3", 4, "belongs to alive"},
      {"stack>3", 5, "cannot be compared"},
      {"pool:3", 5, "two numbers"},
      {"stream:x", 7, "number"},
      {"stream:0xg", 7, "handle"},
      {"size:4..1", 5, "ends before it begins"},
      {"size>1..2", 5, "after a colon"},
      {"size>1.2.3", 5, "number is missing"},
      {"born<3ms", 6, "counted in events"},
      {"lifetime<3bytes", 10, "no unit of time"},
      {"lifetime:1..3ms", 9, "Both ends"},
  };
  for (const auto& one : cases) {
    const Wrong found = refused(one.text);
    EXPECT_EQ(found.at, one.at) << one.text << ": " << found.why;
    EXPECT_NE(found.why.find(one.says), std::string::npos) << one.text << ": " << found.why;
  }
}

TEST(FilterSyntax, ManyTermsAndDeepParenthesesAreRefused) {
  std::string terms;
  for (int32_t i = 0; i < kMostFilterTerms; ++i) terms += "a ";
  EXPECT_TRUE(parse_filter(terms).has_value());
  EXPECT_NE(refused(terms + "a").why.find("at most 64"), std::string::npos);
  EXPECT_NE(refused(std::string(100, '(')).why.find("too many parentheses"), std::string::npos);
  EXPECT_NE(refused(std::string(kLongestFilter + 1, 'a')).why.find("at most 4096"), std::string::npos);
}

// Any bytes give a tree or an error with a place inside the text.
TEST(FilterSyntax, AnyTextIsParsedOrRefusedWithAPlace) {
  std::mt19937 random(7);  // NOLINT: the same texts every time
  const std::string parts[] = {"size", ">",     "<=",   "1",  "MiB", " ",  "(",       ")",    "not",
                               "or",   "stack", ":",    "\"", "-",   "..", "@",       "peak", "\\",
                               "\xC2", "alive", "pool", ",",  "=",   "0x", "lifetime"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t i = random() % 12; i > 0; --i) text += parts[random() % std::size(parts)];
    const auto tree = parse_filter(text);
    if (tree) {
      EXPECT_LT(tree->root, static_cast<int32_t>(tree->nodes.size())) << text;
    } else {
      EXPECT_GE(tree.error().offset, 0) << text;
      EXPECT_LE(static_cast<size_t>(tree.error().offset), text.size()) << text;
    }
  }
}

}  // namespace
}  // namespace gpustrata::analysis
