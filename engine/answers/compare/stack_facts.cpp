#include "engine/answers/compare/stack_facts.h"

#include <fmt/core.h>

#include <charconv>
#include <string>

#include "engine/answers/live/top.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/hash.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::BeforeAfter;
using analysis::ComparedPart;
using analysis::ShownKey;
using analysis::StackFact;

namespace {

constexpr size_t kMostLines = 16, kMostLineBytes = 2048;

// Who asked, of a stack, and its innermost lines; all null of a fact that is not there.
void describe_who(Members& m, const model::Recording& recording, const StackFact* fact) {
  const analysis::Who who =
      m.found([&] { return fact != nullptr ? analysis::who_of(recording, fact->stack) : analysis::Who(); });
  m.text("who", [&] { return who_or_none(recording, who); });
  m.texts({"stack", "Its innermost lines."}, [&]() -> std::optional<std::vector<std::string>> {
    if (fact == nullptr || fact->stack.is_none()) return std::nullopt;
    ShownLines shown = shown_lines(recording, fact->stack, kMostLines, kMostLineBytes);
    if (shown.left_out > 0) shown.lines.push_back(more_text(shown.left_out));
    return std::move(shown.lines);
  });
  m.text("filter", [&] { return filter_text(recording, who, {}); });
}

constexpr std::string_view kMatched[] = {"", "stack", "functions"};
constexpr std::string_view kChanges[] = {"new", "gone", "grew", "shrank", "same"};
[[nodiscard]] std::string_view change_of(const ComparedPart& part) {
  if (part.before < 0) return "new";
  if (part.after < 0) return "gone";
  if (part.bytes.growth() != 0) return part.bytes.growth() > 0 ? "grew" : "shrank";
  if (part.blocks.growth() != 0) return part.blocks.growth() > 0 ? "grew" : "shrank";
  return "same";
}

void describe_sides(Members& m, const BeforeAfter& bytes, const BeforeAfter& blocks) {
  m.bytes("before_bytes", bytes.before);
  m.bytes("after_bytes", bytes.after);
  m.count("before_blocks", blocks.before);
  m.count("after_blocks", blocks.after);
}

struct Sum {
  int64_t rows = 0;
  BeforeAfter bytes, blocks;

  void add(const ComparedPart& part) {
    ++rows;
    bytes += part.bytes;
    blocks += part.blocks;
  }
};
void describe(Members& m, const Sum& sum) {
  m.is("ComparedSum");
  m.count("rows", sum.rows);
  describe_sides(m, sum.bytes, sum.blocks);
}

void describe_matching(Members& m, const analysis::ComparedParts& parts) {
  int64_t by_lines = 0, by_functions = 0, only_before = 0, only_after = 0;
  for (const ComparedPart& part : parts.parts) {
    int64_t& number = part.after < 0     ? only_before
                      : part.before < 0  ? only_after
                      : part.lines_moved ? by_functions
                                         : by_lines;
    ++number;
  }
  m.count({"stack", "Pairs by all their lines."}, by_lines);
  m.count({"functions", "Pairs by functions: their lines moved."}, by_functions);
  m.count("only_before", only_before);
  m.count("only_after", only_after);
  m.text("text", [&] {
    std::string text =
        fmt::format("Stacks are the same by the lines they show: {}.", counted(by_lines, "pair"));
    if (by_functions > 0)
      text += fmt::format(
          " {} more by functions and files alone, as their lines moved; of several such the largest with the "
          "largest.",
          count_text(by_functions));
    return text +
           fmt::format(" {} only before, {} only after.", count_text(only_before), count_text(only_after));
  });
}

}  // namespace

void describe_both_sides(Members& m, const ComparedPart& part) {
  describe_sides(m, part.bytes, part.blocks);
  const bool both = part.before >= 0 && part.after >= 0;
  m.word({"matched", "Null: only one side has it."}, kMatched,
         kMatched[!both              ? 0
                  : part.lines_moved ? 2
                                     : 1]);
}

std::string key_text(const ShownKey& key) { return fmt::format("{:016x}{:016x}", key.first, key.second); }

ShownKey key_of_text(std::string_view text) {
  ShownKey key;
  const char* const middle = text.data() + text.size() / 2;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), middle, key.first, 16);
  const auto second = std::from_chars(middle, end, key.second, 16);
  if (text.size() == 32 && first.ptr == middle && second.ptr == end) return key;
  return {hash_text(text), 1};
}

void describe(Members& m, const model::Recording& recording, const analysis::StackFacts& facts) {
  const auto list = [&](As as, Name name, const auto& of) { m.values(as, name, facts.facts, of); };
  m.is({"StackFacts", "What is alive, stack by stack, largest first; lists of one length."});
  m.bytes("bytes", facts.bytes);
  m.count("blocks", facts.blocks);
  list(As::text, "keys", [](const StackFact& fact) { return key_text(fact.shown); });
  list(As::text, "places", [](const StackFact& fact) { return key_text(fact.without_lines); });
  list(As::bytes, "sizes", [](const StackFact& fact) { return fact.bytes; });
  list(As::count, "counts", [](const StackFact& fact) { return fact.blocks; });
  m.bytes("rest_bytes", facts.rest_bytes);
  m.count("rest_blocks", facts.rest_blocks);
  m.list("parts", facts.facts, [&](const StackFact& fact) {
    describe_who(m, recording, &fact);
    m.rank("rank", fact.largest_rank);
  });
}

void describe(Members& m, const model::Recording& after, const analysis::StackFacts& facts,
              const analysis::ComparedParts& parts) {
  // What grew most comes first, what shrank most last: rows of both ends are told.
  size_t changed = 0;
  for (const ComparedPart& part : parts.parts) changed += change_of(part) != "same" ? 1 : 0;
  const size_t from_end = changed > kMostComparedRows ? changed - kMostComparedRows / 2 : 0;
  const size_t from_start = changed > kMostComparedRows ? kMostComparedRows / 2 : changed;
  Sum same, other;
  std::vector<ComparedPart> rows;
  size_t number = 0;
  for (const ComparedPart& part : parts.parts) {
    if (change_of(part) == "same") {
      same.add(part);
    } else if (const size_t at = number++; at >= from_start && at < from_end) {
      other.add(part);
    } else {
      rows.push_back(part);
    }
  }
  const auto side = [&](Name name, int64_t bytes, int64_t blocks) {
    m.object(name, [&m, bytes, blocks] {
      m.bytes("bytes", bytes);
      m.count("blocks", blocks);
    });
  };
  m.is({"Compared", "Rows, same, other and rest add up to both sides."});
  side("before", parts.bytes.before, parts.blocks.before);
  side("after", parts.bytes.after, parts.blocks.after);
  m.object({"matching", "How stacks of both were found to be the same."},
           [&] { describe_matching(m, parts); });
  m.list({"rows", "What changed. Of what is gone nothing says who."}, rows, [&](const ComparedPart& part) {
    m.is("ComparedRow");
    m.word("change", kChanges, change_of(part));
    m.count({"before", "Number of the fact."}, part.before < 0 ? std::nullopt : std::optional(part.before));
    describe_both_sides(m, part);
    const StackFact* const fact =
        m.is_schema() || part.after < 0 ? nullptr : &facts.facts[static_cast<size_t>(part.after)];
    describe_who(m, after, fact);
    m.rank("rank", fact == nullptr ? std::nullopt : std::optional(fact->largest_rank));
  });
  m.object("same", [&] { describe(m, same); });
  m.object({"other", "Changed, but beyond the rows."}, [&] { describe(m, other); });
  m.object({"rest", "Not told by the facts."}, [&] {
    describe(m, Sum{0, parts.rest_bytes, parts.rest_blocks});
  });
}

}  // namespace gpustrata::answers
