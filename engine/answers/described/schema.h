// What answers are made of, from their descriptions (members.h): types of TypeScript and JSON Schema.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/answers/described/members.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// Hears what one description says.
class Schema {
 public:
  enum class Shape : uint8_t { value, object, objects, values, by_name, column, columns, one_of };
  struct Member;
  struct Type {
    Shape shape = Shape::value;
    As as = As::any;
    Element element = Element::i32;  // of columns
    bool may_be_null = false, each_may_be_null = false;
    std::vector<std::string_view> words = {};  // none: any
    // Of objects; of one of several these, without names.
    std::string_view name = {}, doc = {};
    std::string_view line = {};  // of the command, that such an object is
    std::vector<Member> members = {};
  };
  struct Member {
    std::string_view name, doc;
    bool may_be_absent = false;
    Type type;
    std::string_view head = {};  // of a column of a table
  };

  Schema() : open_{{{}, {}, false, {.shape = Shape::object}}} {}
  void is(std::string_view name, std::string_view doc);
  void is_line(std::string_view line, std::string_view doc);
  void value(const Name& name, Type type);
  void begin(std::string_view name, std::string_view doc, Shape shape, bool may_be_null);
  void end();
  void may_be_absent(bool may) { absent_ += may ? 1 : -1; }
  [[nodiscard]] const Type& type() const { return open_.front().type; }

 private:
  std::vector<Member> open_;  // the whole, and what is in it down to where it speaks of
  int absent_ = 0;
  std::vector<int> absent_outside_;
};

// Objects that have a name, all that are written anywhere. One that is only a line of the command is called as that is: "ops --json".
class Types {
 public:
  Types();
  // Interfaces of TypeScript, of all but lines of the command, and heads of the columns of tables.
  [[nodiscard]] std::string typescript() const;
  // Whether there is a schema of a type as rows of questions have it ("DevicePeak[][]", "BlockCategory | null"), or of a line
  // of the command ("ops --json").
  [[nodiscard]] bool has(std::string_view type) const;
  // One that stands by itself.
  void to_json(JsonWriter& json, std::string_view type) const;
  // Of all questions, and all lines: {"$defs","questions","lines"}.
  struct Asked {
    std::string_view question, answer;
  };
  void to_json(JsonWriter& json, std::span<const Asked> questions) const;
  // Names that two different objects have.
  [[nodiscard]] const std::vector<std::string>& clashes() const { return clashes_; }

 private:
  void keep(const Schema::Type& type);
  void defs_to_json(JsonWriter& json) const;
  void type_to_json(JsonWriter& json, std::string_view type) const;
  static void one_of_to_json(JsonWriter& json, const std::set<std::string>& types);

  std::map<std::string, Schema::Type, std::less<>> types_;
  std::map<std::string, std::set<std::string>, std::less<>> lines_;  // the types that it may be
  std::vector<std::string> clashes_;
};

// What `gpustrata schema` prints: of a type; of none, of all.
struct PrintedSchema {
  const Types& types;
  std::span<const Types::Asked> questions;
  std::string_view type;
};
void to_json(JsonWriter& json, const PrintedSchema& schema);

}  // namespace gpustrata::answers
