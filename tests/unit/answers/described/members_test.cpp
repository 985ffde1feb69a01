#include "engine/answers/described/members.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/answers/described/schema.h"
#include "engine/answers/text/json_of.h"

namespace gpustrata::answers {

enum class Colour : uint8_t { none, red, green };
constexpr auto kColours = words_up_to<Colour::green>("", "red", "green");

struct Inner {
  int64_t bytes = 0;
};
struct Outer {
  std::vector<Inner> inner;
  std::optional<int32_t> maybe;
  Colour colour = Colour::none;
  bool has_more = false;
};
struct Around {
  const std::string& text;  // nothing of it may be looked at for a schema
};

void describe(Members& m, const Around& around, const Outer& outer) {
  m.is({"Outer", "What a test describes."});
  m.text("text", [&] { return around.text; });
  m.list({"inner", "Those in it."}, outer.inner, [&](const Inner& one) { m.bytes("bytes", one.bytes); });
  m.count("maybe", outer.maybe);
  m.word("colour", kColours, outer.colour);
  if (const auto there = m.when(outer.has_more)) m.address("more", 0x10);
  m.object("largest", outer.inner.empty() ? nullptr : outer.inner.data(),
           [&](const Inner& one) { m.bytes("bytes", one.bytes); });
}

TEST(Members, AreWrittenInTheirOrder) {
  const std::string text = "t";
  EXPECT_EQ(json_of(Around{text}, Outer{{{1}, {2}}, 3, Colour::red, true}),
            R"({"text":"t","inner":[{"bytes":1},{"bytes":2}],"maybe":3,"colour":"red","more":"0x10",)"
            R"("largest":{"bytes":1}})");
  EXPECT_EQ(json_of(Around{text}, Outer()),
            R"({"text":"t","inner":[],"maybe":null,"colour":null,"largest":null})");
}

TEST(Members, AreTypesWithoutARow) {
  const Types types;
  EXPECT_EQ(types.clashes(), std::vector<std::string>());
  const std::string all = types.typescript();
  EXPECT_NE(all.find("\n/** What a test describes. */\nexport interface Outer {\n  text: string;\n"
                     "  /** Those in it. */\n  inner: {\n    bytes: Bytes;\n  }[];\n  maybe: number | null;\n"
                     "  colour: 'red' | 'green' | null;\n  more?: string;\n"
                     "  largest: {\n    bytes: Bytes;\n  } | null;\n}\n"),
            std::string::npos)
      << all;
}

TEST(Members, AreASchemaWithoutARow) {
  const Types types;
  EXPECT_TRUE(types.has("Outer[] | null"));
  EXPECT_FALSE(types.has("NoSuchThing"));
  JsonWriter json;
  types.to_json(json, "Outer | null");
  EXPECT_NE(
      json.text().find(R"("Outer":{"description":"What a test describes.","type":"object","properties":{)"
                       R"("text":{"type":"string"},"inner":{"description":"Those in it.","type":"array",)"
                       R"("items":{"type":"object","properties":{"bytes":{"type":"integer","unit":"bytes"}},)"
                       R"("required":["bytes"],"additionalProperties":false}},)"
                       R"("maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},)"
                       R"("colour":{"anyOf":[{"type":"string","enum":["red","green"]},{"type":"null"}]},)"
                       R"("more":{"type":"string"},)"),
      std::string::npos)
      << json.text();
}

}  // namespace gpustrata::answers
