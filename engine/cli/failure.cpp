#include "engine/cli/failure.h"

#include "engine/answers/text/json_of.h"
#include "engine/cli/exit_codes.h"

namespace gpustrata::cli {

int Failure::exit_code() const {
  return code == name_of(ErrorCode::wrong_usage) || code == kNoViewer ? kWrongUsage : kFailed;
}

tl::unexpected<Failure> failure(const Error& error, std::string about) {
  const std::string_view code = error.code == ErrorCode::io_error ? kUnwritable : name_of(error.code);
  return tl::unexpected(
      Failure{std::string(code), std::move(about), error.message, error.offset, error.inside});
}

tl::unexpected<Failure> failure(std::string_view code, std::string about, std::string message) {
  return tl::unexpected(Failure{std::string(code), std::move(about), std::move(message)});
}

answers::Failed Failure::told() const { return {code, about, message, offset, inside}; }

int tell(const Failure& failure, bool json, const Console& console) {
  if (json) {
    const bool written = console.out.write(io::bytes_of(answers::json_of(failure.told()) + "\n")).has_value();
    return written ? failure.exit_code() : tell_unwritten(console);
  }
  (void)console.notes.write(io::bytes_of(answers::to_text(failure.told())));
  return failure.exit_code();
}

int tell_unwritten(const Console& console) {
  console.note("gpustrata: the output could not be written\n");
  return kFailed;
}

}  // namespace gpustrata::cli
