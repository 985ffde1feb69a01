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

template <typename Of>
void list_to_json(JsonWriter& json, std::string_view name, const Column<CarriedStack>& stacks, const Of& of) {
  json.key(name);
  json.begin_array();
  for (const CarriedStack& carried : stacks) json.value(of(carried));
  json.end_array();
}

void who_of_carried_to_json(JsonWriter& json, const model::Recording& recording,
                            const CarriedStack& carried) {
  const analysis::Who who = analysis::who_of(recording, carried.stack);
  who_to_json(json, recording, who);
  json.key("stack");
  if (carried.stack.is_none()) {
    json.null();
  } else {
    const ShownLines shown = shown_lines(recording, carried.stack, kMostLines, kMostLineBytes);
    json.begin_array();
    for (const std::string& line : shown.lines) json.value(line);
    if (shown.left_out > 0) json.value(more_text(shown.left_out));
    json.end_array();
  }
  json.member("filter", filter_text(recording, who, {}));
  json.member("rank", carried.largest_rank);
}

[[nodiscard]] std::string_view change_of(const ComparedPart& part) {
  if (part.before < 0) return "new";
  if (part.after < 0) return "gone";
  if (part.bytes.growth() != 0) return part.bytes.growth() > 0 ? "grew" : "shrank";
  if (part.blocks.growth() != 0) return part.blocks.growth() > 0 ? "grew" : "shrank";
  return "same";
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
void sum_to_json(JsonWriter& json, std::string_view name, const Sum& sum) {
  json.key(name);
  json.begin_object();
  json.member("rows", sum.rows);
  json.member("before_bytes", sum.bytes.before);
  json.member("after_bytes", sum.bytes.after);
  json.member("before_blocks", sum.blocks.before);
  json.member("after_blocks", sum.blocks.after);
  json.end_object();
}

void side_to_json(JsonWriter& json, std::string_view name, int64_t bytes, int64_t blocks) {
  json.key(name);
  json.begin_object();
  json.member("bytes", bytes);
  json.member("blocks", blocks);
  json.end_object();
}

void matching_to_json(JsonWriter& json, const analysis::ComparedParts& parts) {
  int64_t by_lines = 0, by_functions = 0, only_before = 0, only_after = 0;
  for (const ComparedPart& part : parts.parts) {
    int64_t& number = part.after < 0     ? only_before
                      : part.before < 0  ? only_after
                      : part.lines_moved ? by_functions
                                         : by_lines;
    ++number;
  }
  json.key("matching");
  json.begin_object();
  json.member("stack", by_lines);
  json.member("functions", by_functions);
  json.member("only_before", only_before);
  json.member("only_after", only_after);
  std::string text =
      fmt::format("Stacks are the same by the lines they show: {}.", counted(by_lines, "pair"));
  if (by_functions > 0)
    text += fmt::format(
        " {} more by functions and files alone, as their lines moved; of several such the largest with the "
        "largest.",
        count_text(by_functions));
  text += fmt::format(" {} only before, {} only after.", count_text(only_before), count_text(only_after));
  json.member("text", text);
  json.end_object();
}

}  // namespace

void both_sides_to_json(JsonWriter& json, const analysis::ComparedPart& part) {
  json.member("before_bytes", part.bytes.before);
  json.member("after_bytes", part.bytes.after);
  json.member("before_blocks", part.blocks.before);
  json.member("after_blocks", part.blocks.after);
  json.key("matched");
  if (part.before < 0 || part.after < 0) {
    json.null();
  } else {
    json.value(part.lines_moved ? "functions" : "stack");
  }
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

void to_json(JsonWriter& json, const model::Recording& recording, const analysis::CarriedStacks& stacks) {
  json.begin_object();
  json.member("bytes", stacks.bytes);
  json.member("blocks", stacks.blocks);
  list_to_json(json, "keys", stacks.stacks,
               [](const CarriedStack& carried) { return key_text(carried.shown); });
  list_to_json(json, "places", stacks.stacks,
               [](const CarriedStack& carried) { return key_text(carried.without_lines); });
  list_to_json(json, "sizes", stacks.stacks, [](const CarriedStack& carried) { return carried.bytes; });
  list_to_json(json, "counts", stacks.stacks, [](const CarriedStack& carried) { return carried.blocks; });
  json.member("rest_bytes", stacks.rest_bytes);
  json.member("rest_blocks", stacks.rest_blocks);
  json.key("parts");
  json.begin_array();
  for (const CarriedStack& carried : stacks.stacks) {
    json.begin_object();
    who_of_carried_to_json(json, recording, carried);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void to_json(JsonWriter& json, const model::Recording& after, const analysis::CarriedStacks& stacks,
             const analysis::ComparedParts& parts) {
  json.begin_object();
  side_to_json(json, "before", parts.bytes.before, parts.blocks.before);
  side_to_json(json, "after", parts.bytes.after, parts.blocks.after);
  matching_to_json(json, parts);
  Sum same, other;
  // What grew most comes first, what shrank most last: rows of both ends are told.
  size_t changed = 0;
  for (const ComparedPart& part : parts.parts) changed += change_of(part) != "same" ? 1 : 0;
  const size_t from_end = changed > kMostComparedRows ? changed - kMostComparedRows / 2 : 0;
  const size_t from_start = changed > kMostComparedRows ? kMostComparedRows / 2 : changed;
  size_t number = 0;
  json.key("rows");
  json.begin_array();
  for (const ComparedPart& part : parts.parts) {
    const std::string_view change = change_of(part);
    if (change == "same") {
      same.add(part);
      continue;
    }
    const size_t at = number++;
    if (at >= from_start && at < from_end) {
      other.add(part);
      continue;
    }
    json.begin_object();
    json.member("change", change);
    json.member("before", part.before < 0 ? std::nullopt : std::optional(part.before));
    both_sides_to_json(json, part);
    if (part.after >= 0) {
      who_of_carried_to_json(json, after, stacks.stacks[static_cast<size_t>(part.after)]);
    } else {
      for (const std::string_view name : {"who", "stack", "filter", "rank"}) {
        json.key(name);
        json.null();
      }
    }
    json.end_object();
  }
  json.end_array();
  sum_to_json(json, "same", same);
  sum_to_json(json, "other", other);
  sum_to_json(json, "rest", {0, parts.rest_bytes, parts.rest_blocks});
  json.end_object();
}

}  // namespace gpustrata::answers
