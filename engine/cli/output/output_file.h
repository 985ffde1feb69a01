// An output of a command: whole, or as if it had never been begun.
//
// The bytes go into a file without a name, in the folder of the path, that gets the name when all are there:
// an old file survives a full disk and a kill at any moment, nobody sees half of a new one, and nothing is
// left behind. Where a file system has no nameless files, it is a hidden ".NAME.part-RANDOM" beside the path,
// taken away after a failure and after SIGINT, SIGTERM and SIGHUP; another one never gets into its way. A
// path that leads through links stays a link, also where it leads to nothing yet. A pipe or a device is
// written as it is.
// "-" is standard output. Folders of the path have to be there, unless it is said that they are made; then they stay.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "engine/answers/text/text_out.h"
#include "engine/cli/console.h"
#include "engine/cli/failure.h"
#include "engine/io/byte_sink.h"

namespace gpustrata::cli {

class Progress;

// What is done about folders of the path that are not there.
enum class Folders : uint8_t { expected, made };

class OutputFile final : public io::ByteSink {
 public:
  OutputFile(std::string path, const Console& console, Progress& progress,
             Folders folders = Folders::expected)
      : path_(std::move(path)), folders_(folders), console_(console), progress_(progress) {}
  // Takes the unfinished file away.
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // `inputs`: paths of files that are read later; neither they nor what was read is ever replaced. Error: wrong_usage, else io_error; a sentence with the system's reason, for the person who named the path.
  [[nodiscard]] Status open(std::span<const std::string> inputs);
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override;
  // Puts the file in its place.
  [[nodiscard]] Status finish();
  [[nodiscard]] int64_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] bool is_standard_output() const { return path_ == "-"; }
  [[nodiscard]] Status make(bool exists, unsigned mode);
  [[nodiscard]] Status name_it();

  std::string path_;
  Folders folders_;
  std::string beside_;      // its name until it is in its place; empty: it has none
  bool is_direct_ = false;  // a pipe or device: nothing to put in a place
  const Console& console_;
  Progress& progress_;
  int fd_ = -1;
  int64_t bytes_ = 0;
};

// Opens `path`, gives it to `write` and puts it in its place: what every command does with an output. The
// bytes written. Failure: of `write`; unwritable and wrong_usage, about `path`.
[[nodiscard]] Outcome<int64_t> write_output(const std::string& path, std::span<const std::string> inputs,
                                            const Console& console,
                                            const std::function<Outcome<void>(io::ByteSink&)>& write,
                                            Folders folders = Folders::expected);

// The same for an answer.
[[nodiscard]] Outcome<int64_t> write_answer(const std::string& path, std::span<const std::string> inputs,
                                            const Console& console,
                                            const std::function<void(answers::TextOut&)>& write,
                                            Folders folders = Folders::expected);

}  // namespace gpustrata::cli
