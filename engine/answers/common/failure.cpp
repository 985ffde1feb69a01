#include "engine/answers/common/failure.h"

#include <fmt/core.h>

#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

void describe(Members& m, const Error& error) {
  m.is("EngineError");
  m.text("code", [&] { return name_of(error.code); });
  m.text("message", error.message);
  m.count({"offset", "Byte offset in the input, -1 = does not apply."}, error.offset);
  if (const auto there = m.when(!error.inside.empty()))
    m.text({"inside", "What the offset counts in; absent = the file itself."}, error.inside);
}

void describe_error(Members& m, const Failed& failed) {
  m.object("error", [&] {
    m.text({"code", "A word for programs."}, failed.code);
    m.text({"message", "For people."}, failed.message);
    m.count({"offset", "The byte where it is; null: there is no place."},
            failed.offset < 0 ? std::nullopt : std::optional(failed.offset));
    if (const auto there = m.when(!failed.inside.empty()))
      m.text({"inside", "What that counts in (\"rank0.pickle\"); absent = the file itself."}, failed.inside);
  });
}

void describe(Members& m, const Failed& failed) {
  m.line({"failure", "The line of any command that could not answer."});
  m.text({"file", "The file or option at fault."}, failed.about);
  if (const auto there = m.when(failed.output.has_value()))
    m.text({"output", "That was to be written."}, failed.output.value_or(""));
  describe_error(m, failed);
}

std::string to_text(const Failed& failed) {
  const std::string place =
      failed.offset <= 0 ? ""
      : failed.inside.empty()
          ? fmt::format(" (at byte {})", count_text(failed.offset))
          : fmt::format(" (at byte {} of {})", count_text(failed.offset), printable(failed.inside));
  return fmt::format("gpustrata: {}: {}{}\n", printable(failed.about), printable(failed.message), place);
}

}  // namespace gpustrata::answers
