#ifndef __EMSCRIPTEN__

#include "engine/answers/described/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gpustrata::answers {

using Shape = Schema::Shape;
using Type = Schema::Type;

namespace {

struct Kind {
  std::string_view typescript, json;
};
// By As.
constexpr Kind kKinds[] = {{"boolean", "boolean"},  {"number", "integer"},
                           {"number", "number"},    {"number", "number"},
                           {"Bytes", "integer"},    {"Microseconds", "integer"},
                           {"AxisUnits", "number"}, {"Rank", "integer"},
                           {"BlockRow", "integer"}, {"SegmentRow", "integer"},
                           {"string", "string"},    {"[number, number]", "array"},
                           {"unknown", ""}};
[[nodiscard]] const Kind& kind_of(As as) { return kKinds[static_cast<size_t>(as)]; }

constexpr std::string_view kDialect = "https://json-schema.org/draft/2020-12/schema";

// Of a line of the command only: "ops --json". Types have capitals.
[[nodiscard]] bool is_type(std::string_view name) { return name[0] >= 'A' && name[0] <= 'Z'; }

// What a row of a question may have besides objects.
constexpr std::pair<std::string_view, As> kPlain[] = {
    {"Bytes", As::bytes},       {"Count", As::count}, {"Rank", As::rank}, {"Row", As::count},
    {"AxisUnits", As::axis},    {"Event", As::count}, {"Flag", As::flag}, {"SegmentRow", As::segment_row},
    {"BlockRow", As::block_row}};

[[nodiscard]] bool same(const Type& a, const Type& b) {
  return a.shape == b.shape && a.as == b.as && a.element == b.element && a.name == b.name &&
         a.may_be_null == b.may_be_null && std::ranges::equal(a.words, b.words) &&
         std::ranges::equal(a.members, b.members, [](const Schema::Member& x, const Schema::Member& y) {
           return x.name == y.name && x.may_be_absent == y.may_be_absent && same(x.type, y.type);
         });
}

[[nodiscard]] bool take_end(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

class TypeScript {
 public:
  void add(const Type& type) {
    text_ += fmt::format("\n{}export interface {} {}\n", doc("", type.doc), type.name, members(type, ""));
    std::string heads;
    for (const Schema::Member& one : type.members) {
      if (!one.head.empty())
        heads += fmt::format("  {}: {{ name: `{}`, says: `{}` }},\n", one.name, one.head, one.doc);
    }
    if (heads.empty()) return;
    text_ += fmt::format("\n/** Its columns in a table. */\nexport const {}{}Heads = {{\n{}}};\n",
                         static_cast<char>(type.name[0] - 'A' + 'a'), type.name.substr(1), heads);
  }
  [[nodiscard]] std::string text() && {
    std::string imports;
    for (const auto& [file, names] : {std::pair{"arguments", "Rank"},
                                      {"quantities", "AxisUnits|BlockRow|Bytes|Microseconds|SegmentRow"}}) {
      std::string used;
      for (std::string_view rest = names; !rest.empty();) {
        const std::string name(rest.substr(0, rest.find('|')));
        rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        if (used_.contains(name)) used += (used.empty() ? "" : ", ") + name;
      }
      if (!used.empty()) imports += fmt::format("import type {{ {} }} from './{}.ts';\n", used, file);
    }
    return "// Written by `gpustrata schema --types` from what the engine's answers say of themselves. Do not edit.\n" +
           imports + text_;
  }

 private:
  [[nodiscard]] static std::string doc(std::string_view indent, std::string_view words) {
    return words.empty() ? std::string() : fmt::format("{}/** {} */\n", indent, words);
  }
  [[nodiscard]] std::string members(const Type& type, const std::string& indent) {
    std::string text = "{\n";
    const std::string inside = indent + "  ";
    for (const Schema::Member& one : type.members) {
      text += doc(inside, one.doc);
      text +=
          fmt::format("{}{}{}: {};\n", inside, one.name, one.may_be_absent ? "?" : "", of(one.type, inside));
    }
    return text + indent + "}";
  }
  [[nodiscard]] std::string of(const Type& type, const std::string& indent) {
    if (type.shape == Shape::column || type.shape == Shape::columns) {
      constexpr std::string_view kArrays[] = {"Int32Array", "Float32Array", "Float64Array", "Uint8Array",
                                              "Uint8ClampedArray"};
      return fmt::format("{}<ArrayBuffer>{}", kArrays[static_cast<size_t>(type.element)],
                         type.shape == Shape::columns ? "[]" : "");
    }
    if (type.shape == Shape::one_of) {
      std::string text;
      for (const Schema::Member& one : type.members) text += of(one.type, indent) + " | ";
      return text + "null";
    }
    std::string text(kind_of(type.as).typescript);
    if (type.shape == Shape::object || type.shape == Shape::objects) {
      text = type.name.empty() ? members(type, indent) : std::string(type.name);
    } else if (!type.words.empty()) {
      std::vector<std::string> words;
      for (const std::string_view word : type.words) {
        if (!word.empty()) words.push_back(fmt::format("'{}'", word));
      }
      text = fmt::format("{}", fmt::join(words, " | "));
    } else {
      used_.insert(text);
    }
    if (type.shape == Shape::by_name) text = fmt::format("Record<string, {}>", text);
    if (type.each_may_be_null) text = fmt::format("({} | null)", text);
    if (type.shape == Shape::objects || type.shape == Shape::values) text += "[]";
    return text + (type.may_be_null ? " | null" : "");
  }

  std::string text_;
  std::set<std::string, std::less<>> used_;
};

void type_to_schema(JsonWriter& json, const Type& type);

void doc_to_schema(JsonWriter& json, std::string_view doc) {
  if (!doc.empty()) json.member("description", doc);
}

void object_to_schema(JsonWriter& json, const Type& type) {
  json.member("type", "object");
  json.key("properties");
  json.begin_object();
  for (const Schema::Member& one : type.members) {
    json.key(one.name);
    json.begin_object();
    if (!one.head.empty()) json.member("title", one.head);
    doc_to_schema(json, one.doc);
    type_to_schema(json, one.type);
    json.end_object();
  }
  json.end_object();
  json.key("required");
  json.begin_array();
  for (const Schema::Member& one : type.members) {
    if (!one.may_be_absent) json.value(one.name);
  }
  json.end_array();
  json.member("additionalProperties", false);
}

// Members of a schema that may be null besides.
template <typename Rest>
void or_null(JsonWriter& json, bool may_be_null, const Rest& rest) {
  if (!may_be_null) return rest();
  json.key("anyOf");
  json.begin_array();
  json.begin_object();
  rest();
  json.end_object();
  json.raw(R"({"type":"null"})");
  json.end_array();
}

void value_to_schema(JsonWriter& json, const Type& type) {
  const Kind& kind = kind_of(type.as);
  if (!kind.json.empty()) json.member("type", kind.json);
  if (type.as == As::pool) json.member("minItems", 2), json.member("maxItems", 2);
  if (type.as == As::bytes || type.as == As::microseconds)
    json.member("unit", type.as == As::bytes ? "bytes" : "microseconds");
  if (type.words.empty()) return;
  json.key("enum");
  json.begin_array();
  for (const std::string_view word : type.words) {
    if (!word.empty()) json.value(word);
  }
  json.end_array();
}

void column_to_schema(JsonWriter& json, const Type& type) {
  json.member("type", "array");
  json.member("column", kElements[static_cast<size_t>(type.element)]);
  json.key("items");
  json.begin_object();
  value_to_schema(json, type);
  json.end_object();
}

void type_to_schema(JsonWriter& json, const Type& type) {
  if (type.shape == Shape::column) return column_to_schema(json, type);
  if (type.shape == Shape::columns) {
    json.member("type", "array");
    json.key("items");
    json.begin_object();
    column_to_schema(json, type);
    return json.end_object();
  }
  if (type.shape == Shape::one_of) {
    json.key("oneOf");
    json.begin_array();
    for (const Schema::Member& one : type.members) {
      json.begin_object();
      type_to_schema(json, one.type);
      json.end_object();
    }
    json.raw(R"({"type":"null"})");
    return json.end_array();
  }
  or_null(json, type.may_be_null, [&] {
    const auto one = [&] {
      if (type.shape != Shape::object && type.shape != Shape::objects) return value_to_schema(json, type);
      if (type.name.empty()) return object_to_schema(json, type);
      json.member("$ref", fmt::format("#/$defs/{}", type.name));
    };
    if (type.shape == Shape::object || type.shape == Shape::value) return one();
    const bool by_name = type.shape == Shape::by_name;
    json.member("type", by_name ? "object" : "array");
    json.key(by_name ? "additionalProperties" : "items");
    json.begin_object();
    or_null(json, type.each_may_be_null, one);
    json.end_object();
  });
}

}  // namespace

void Schema::is(std::string_view name, std::string_view doc) {
  open_.back().type.name = name;
  open_.back().type.doc = doc;
}

void Schema::is_line(std::string_view line, std::string_view doc) {
  if (open_.back().type.name.empty()) is(line, doc);
  open_.back().type.line = line;
}

void Schema::value(const Name& name, Type type) {
  open_.back().type.members.push_back({name.name, name.doc, absent_ > 0, std::move(type), name.head});
}

void Schema::begin(std::string_view name, std::string_view doc, Shape shape, bool may_be_null) {
  open_.push_back({name, doc, absent_ > 0, {.shape = shape, .may_be_null = may_be_null}});
  absent_outside_.push_back(std::exchange(absent_, 0));
}

void Schema::end() {
  absent_ = absent_outside_.back();
  absent_outside_.pop_back();
  Member done = std::move(open_.back());
  open_.pop_back();
  open_.back().type.members.push_back(std::move(done));
}

Types::Types() {
  Described::for_each([&](void (*describe)(Members&)) {
    Schema schema;
    Members members(schema);
    describe(members);
    keep(schema.type());
  });
}

void Types::keep(const Type& type) {
  for (const Schema::Member& member : type.members) {
    if (!member.type.members.empty()) keep(member.type);
  }
  if (type.name.empty()) return;
  Type whole = type;
  whole.shape = Shape::object;
  whole.may_be_null = false;
  const auto [at, is_new] = types_.emplace(std::string(type.name), whole);
  if (!is_new && !same(at->second, whole)) clashes_.push_back(at->first);
  if (is_new && !type.line.empty()) lines_[std::string(type.line)].insert(at->first);
}

std::string Types::typescript() const {
  TypeScript text;
  for (const auto& [name, type] : types_) {
    if (is_type(name) && name != "CallFacts") text.add(type);  // an argument's type, too (arguments.ts)
  }
  return std::move(text).text();
}

bool Types::has(std::string_view type) const {
  static_cast<void>(take_end(type, " | null"));
  while (take_end(type, "[]")) continue;
  return type == "null" || types_.find(type) != types_.end() || lines_.contains(type) ||
         std::ranges::any_of(kPlain, [&](const auto& plain) { return plain.first == type; });
}

void Types::type_to_json(JsonWriter& json, std::string_view type) const {
  json.begin_object();
  or_null(json, take_end(type, " | null"), [&] {
    if (const auto line = lines_.find(type); line != lines_.end()) return one_of_to_json(json, line->second);
    if (take_end(type, "[]")) {
      json.member("type", "array");
      json.key("items");
      return type_to_json(json, type);
    }
    for (const auto& [name, as] : kPlain) {
      if (name == type) return value_to_schema(json, {.as = as});
    }
    if (type == "null") return json.member("type", type);
    json.member("$ref", fmt::format("#/$defs/{}", type));
  });
  json.end_object();
}

void Types::one_of_to_json(JsonWriter& json, const std::set<std::string>& types) {
  if (types.size() == 1) return json.member("$ref", "#/$defs/" + *types.begin());
  json.key("oneOf");
  json.begin_array();
  for (const std::string& one : types) {
    json.begin_object();
    json.member("$ref", "#/$defs/" + one);
    json.end_object();
  }
  json.end_array();
}

void Types::to_json(JsonWriter& json, std::string_view type) const {
  json.begin_object();
  json.member("$schema", kDialect);
  json.key("allOf");
  json.begin_array();
  type_to_json(json, type);
  json.end_array();
  defs_to_json(json);
  json.end_object();
}

void Types::to_json(JsonWriter& json, std::span<const Asked> questions) const {
  json.begin_object();
  json.member("$schema", kDialect);
  defs_to_json(json);
  json.key("questions");
  json.begin_object();
  for (const Asked& one : questions) {
    if (!has(one.answer)) continue;
    json.key(one.question);
    type_to_json(json, one.answer);
  }
  json.end_object();
  json.key("lines");
  json.begin_object();
  for (const auto& [name, types] : lines_) {
    json.key(name);
    type_to_json(json, name);
  }
  json.end_object();
  json.end_object();
}

void Types::defs_to_json(JsonWriter& json) const {
  json.key("$defs");
  json.begin_object();
  for (const auto& [name, type] : types_) {
    json.key(name);
    json.begin_object();
    doc_to_schema(json, type.doc);
    object_to_schema(json, type);
    json.end_object();
  }
  json.end_object();
}

void to_json(JsonWriter& json, const PrintedSchema& schema) {
  schema.type.empty() ? schema.types.to_json(json, schema.questions)
                      : schema.types.to_json(json, schema.type);
}

}  // namespace gpustrata::answers

#endif
