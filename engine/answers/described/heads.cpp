#include "engine/answers/described/heads.h"

#include "engine/answers/described/schema.h"

namespace gpustrata::answers {

Heads heads_of(const std::function<void(Members&)>& describe_row) {
  Heads heads;
  if constexpr (kHasSchemas) {
    Schema schema;
    Members members(schema);
    describe_row(members);
    for (const Schema::Member& one : schema.type().members) {
      if (!one.head.empty()) heads.emplace(one.name, one.head);
    }
  }
  return heads;
}

}  // namespace gpustrata::answers
