#include "engine/answers/compare/carried_stacks.h"

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
using analysis::CarriedStack;
using analysis::ComparedPart;
using analysis::ShownKey;

namespace {

constexpr size_t kMostLines = 16, kMostLineBytes = 2048;

// Who asked, of a stack, and its innermost lines; all null of a stack that is not there.
void describe_who(Members& m, const model::Recording& recording, const CarriedStack* carried) {
  const analysis::Who who = m.found(
      [&] { return carried != nullptr ? analysis::who_of(recording, carried->stack) : analysis::Who(); });
  m.text("who", [&] { return who_or_none(recording, who); });
  m.texts({"stack", "Its innermost lines."}, [&]() -> std::optional<std::vector<std::string>> {
    if (carried == nullptr || carried->stack.is_none()) return std::nullopt;
    ShownLines shown = shown_lines(recording, carried->stack, kMostLines, kMostLineBytes);
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
        fmt::format("{} matched by {} lines.", counted(by_lines, "stack"), by_lines == 1 ? "its" : "their");
    if (by_functions > 0)
      text += fmt::format(
          " {} more matched by functions and files alone, as their lines moved; among several such, by size.",
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

void describe(Members& m, const model::Recording& recording, const analysis::CarriedStacks& stacks) {
  const auto list = [&](As as, Name name, const auto& of) { m.values(as, name, stacks.stacks, of); };
  m.is({"StackFacts", "What is alive, stack by stack, largest first; lists of one length."});
  m.bytes("bytes", stacks.bytes);
  m.count("blocks", stacks.blocks);
  list(As::text, "keys", [](const CarriedStack& carried) { return key_text(carried.shown); });
  list(As::text, "places", [](const CarriedStack& carried) { return key_text(carried.without_lines); });
  list(As::bytes, "sizes", [](const CarriedStack& carried) { return carried.bytes; });
  list(As::count, "counts", [](const CarriedStack& carried) { return carried.blocks; });
  m.bytes("rest_bytes", stacks.rest_bytes);
  m.count("rest_blocks", stacks.rest_blocks);
  m.list("parts", stacks.stacks, [&](const CarriedStack& carried) {
    describe_who(m, recording, &carried);
    m.rank("rank", carried.largest_rank);
  });
}

void describe(Members& m, const model::Recording& after, const analysis::CarriedStacks& stacks,
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
    m.count({"before", "Number of the carried."},
            part.before < 0 ? std::nullopt : std::optional(part.before));
    describe_both_sides(m, part);
    const CarriedStack* const carried =
        m.is_schema() || part.after < 0 ? nullptr : &stacks.stacks[static_cast<size_t>(part.after)];
    describe_who(m, after, carried);
    m.rank("rank", carried == nullptr ? std::nullopt : std::optional(carried->largest_rank));
  });
  m.object("same", [&] { describe(m, same); });
  m.object({"other", "Changed, but beyond the rows."}, [&] { describe(m, other); });
  m.object({"rest", "Not told by the stacks."}, [&] {
    describe(m, Sum{0, parts.rest_bytes, parts.rest_blocks});
  });
}

}  // namespace gpustrata::answers
