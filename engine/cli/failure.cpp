#include "engine/cli/failure.h"

#include "engine/analysis/summary.h"
#include "engine/answers/summary.h"
#include "engine/base/units.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/printable.h"

namespace memstrata::cli {

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

int tell(const Failure& failure, bool json, const Console& console) {
  if (json) {
    const std::string line =
        answers::error_json(failure.code, failure.message, failure.offset, failure.inside, failure.about) +
        "\n";
    const bool written = console.out.write(io::bytes_of(line)).has_value();
    return written ? failure.exit_code() : tell_unwritten(console);
  }
  const std::string place =
      failure.offset <= 0 ? ""
      : failure.inside.empty()
          ? fmt::format(" (at byte {})", count_text(failure.offset))
          : fmt::format(" (at byte {} of {})", count_text(failure.offset), printable(failure.inside));
  console.note("memstrata: {}: {}{}\n", printable(failure.about), printable(failure.message), place);
  return failure.exit_code();
}

int tell_unwritten(const Console& console) {
  console.note("memstrata: the output could not be written\n");
  return kFailed;
}

}  // namespace memstrata::cli
