#include "engine/answers/described/members.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/answers/described/schema.h"

namespace gpustrata::answers {

void Members::write_text(const char* name, std::string_view says) { json_->member(name, says); }
void Members::write_flag(const char* name, bool says) { json_->member(name, says); }
void Members::write_whole(const char* name, int64_t says) { json_->member(name, says); }
void Members::write_real(const char* name, double says) { json_->member(name, says); }
void Members::write_word(const char* name, std::string_view word) {
  word.empty() ? write_null(name) : write_text(name, word);
}
void Members::write_null(const char* name) {
  json_->key(name);
  json_->null();
}

void Members::address(Name name, uint64_t address) {
  if (is_schema()) return value(As::text, name, false);
  write(name, fmt::format("{:#x}", address));
}

#ifdef __EMSCRIPTEN__

Members::When::When(Schema*, bool there) : there_(there) {}
Members::When::~When() = default;

void Members::begin(Name name, char bracket, bool) {
  json_->key(name.name);
  bracket == '[' ? json_->begin_array() : json_->begin_object();
}
void Members::end(char bracket) { bracket == ']' ? json_->end_array() : json_->end_object(); }

#else

Members::When::When(Schema* schema, bool there) : schema_(schema), there_(there) {
  if (schema_ != nullptr) schema_->may_be_absent(true);
}
Members::When::~When() {
  if (schema_ != nullptr) schema_->may_be_absent(false);
}

void Members::begin(Name name, char bracket, bool may_be_null) {
  if (is_schema()) {
    return schema_->begin(name.name, name.doc,
                          bracket == '[' ? Schema::Shape::objects : Schema::Shape::object, may_be_null);
  }
  json_->key(name.name);
  bracket == '[' ? json_->begin_array() : json_->begin_object();
}
void Members::end(char bracket) {
  if (is_schema()) return schema_->end();
  bracket == ']' ? json_->end_array() : json_->end_object();
}
void Members::name_it(Name name) { schema_->is(name.name, name.doc); }
void Members::name_line(Name name) { schema_->is_line(name.name, name.doc); }
void Members::value(As as, Name name, bool may_be_null) {
  schema_->value(name, {.as = as, .may_be_null = may_be_null});
}
void Members::one_of(Name name, Words words, bool may_be_null) {
  const bool has_none = std::find(words.begin(), words.end(), "") != words.end();
  schema_->value(
      name, {.as = As::text, .may_be_null = may_be_null || has_none, .words = {words.begin(), words.end()}});
}
void Members::values_of(As as, Name name, bool each_may_be_null, bool may_be_null) {
  schema_->value(name, {.shape = Schema::Shape::values,
                        .as = as,
                        .may_be_null = may_be_null,
                        .each_may_be_null = each_may_be_null});
}
void Members::values_by_name(As as, Name name) {
  schema_->value(name, {.shape = Schema::Shape::by_name, .as = as});
}
void Members::column_of(As as, Name name, Element element, bool several) {
  schema_->value(
      name,
      {.shape = several ? Schema::Shape::columns : Schema::Shape::column, .as = as, .element = element});
}
void Members::begin_one_of(Name name) { schema_->begin(name.name, name.doc, Schema::Shape::one_of, true); }

#endif

}  // namespace gpustrata::answers
