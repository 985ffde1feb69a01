// Whole commands in this process: arguments and files in, what they print checked and counted.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cli/commands.h"
#include "engine/cli/exit_codes.h"
#include "tests/fuzz/json_check.h"
#include "tests/fuzz/small_snapshot.h"

namespace gpustrata::tests {

[[noreturn]] inline void stop(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

// A file in memory that has a path while it lives.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    for (std::string_view rest = bytes; descriptor_ >= 0 && !rest.empty();) {
      const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
      if (count <= 0) stop("no memory for a file");
      rest.remove_prefix(static_cast<size_t>(count));
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// Keeps the beginning, counts everything, and is full at a limit, as a disk is.
class CountingSink final : public io::ByteSink {
 public:
  explicit CountingSink(size_t limit) : limit_(limit) {}
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override {
    if (bytes.size() > limit_ - count_) {
      is_full_ = true;
      return fail(ErrorCode::io_error, -1, "It is full.");
    }
    count_ += bytes.size();
    const size_t kept = std::min(bytes.size(), kMostKept - text_.size());
    text_.append(reinterpret_cast<const char*>(bytes.data()), kept);
    return {};
  }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] bool is_whole() const { return text_.size() == count_; }
  [[nodiscard]] bool is_full() const { return is_full_; }

 private:
  static constexpr size_t kMostKept = size_t{4} << 20;
  size_t limit_, count_ = 0;
  bool is_full_ = false;
  std::string text_;
};

// Nothing that a terminal acts on: no control but the line end, no invalid UTF-8, no change of direction. Written apart from
// the command's own rules, for some characters only.
inline bool is_printable(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7F || byte >= 0xF8) return false;
  }
  for (const std::string_view evil :
       {"\xC2\x9B", "\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x80\x8B", "\xED\xA0\x80", "\xFF"}) {
    if (text.find(evil) != std::string_view::npos) return false;
  }
  return true;
}

enum class Form { text, lines, json, drawing, data };  // of the answer; lines: perhaps none

struct CommandRun {
  std::vector<std::string> arguments;
  Form form = Form::text;
};

inline std::string moment(Choices& in) {
  const char* const words[] = {"peak", "end", "start", "0", "3", "7", "-1", "99999999999"};
  return words[in.next() % std::size(words)];
}

// A command about the file, or both files, as a person may type it.
inline CommandRun some_command(Choices& in, const std::string& file, const std::string& other,
                               const std::string& viewer, const std::string& script) {
  CommandRun run;
  std::vector<std::string>& words = run.arguments;
  const bool json = in.next() % 2 == 1;
  run.form = json ? Form::json : Form::text;
  const auto groups = [&] {
    const char* const by[] = {"stack", "function", "file"};
    words.insert(words.end(), {"--by", by[in.next() % std::size(by)]});
    if (in.next() % 4 == 0) words.insert(words.end(), {"-n", std::to_string(1 + in.next())});
  };
  const auto choice = [&] {
    const uint8_t which = in.next();
    if (which % 8 == 1) words.insert(words.end(), {"--device", "host"});
    if (which % 8 == 2) words.insert(words.end(), {"--device", "1"});
    if (which / 8 % 8 == 1) words.insert(words.end(), {"--snapshot", "1"});
  };
  switch (in.next() % 18) {
    case 16:
      words = {"report", file};
      break;
    case 17:
      words = {"check", file, "--no-oom", "--no-leak", "--max-peak", "1MiB", "--max-fragmentation", "20%"};
      if (in.next() % 2 == 1) words.insert(words.end(), {"--baseline", other, "--max-growth", "2%"});
      break;
    case 0: {
      const uint8_t which = in.next();
      if (which % 4 == 1) {
        words = {"fleet", file, other, "--layout", "tp=2"};
      } else if (which % 4 == 2) {
        words = {"facts", file, other, "--rank", "1"};
        run.form = Form::json;  // always
        return run;
      } else {
        words = {"summary", file};
      }
      break;
    }
    case 1:
      words = {"top", file, "--at", moment(in)};
      groups();
      break;
    case 2:
      words = {"compare", file, other, "--at", moment(in)};
      groups();
      break;
    case 3:  // a graph alone, whatever --json says
      words = {"compare", file, other, "-o", "-"};
      if (in.next() % 2 == 0) words.emplace_back("--segments");
      run.form = Form::drawing;
      if (in.next() % 2 == 0) {
        words.emplace_back("--folded");
        run.form = Form::lines;
      }
      break;
    case 4:
      words = {"stats", file, "--at", moment(in)};
      choice();
      break;
    case 5:
      words = {"trace", file};
      choice();
      break;
    case 6:
      words = {"state", file, "--event=-1,0,3,7"};
      choice();
      break;
    case 7:
      words = {"flamegraph", file, "--at", moment(in)};
      if (in.next() % 2 == 0) words.emplace_back("--segments");
      if (in.next() % 2 == 0) {
        words.emplace_back("--folded");
        if (!json) run.form = Form::lines;
      } else if (!json) {
        run.form = Form::drawing;
      }
      choice();
      break;
    case 8: {
      const char* const kinds[] = {"pickle", "json", "csv"};
      const std::string kind = kinds[in.next() % std::size(kinds)];
      words = {"convert", file, "-o", "-", "--to", kind};
      if (kind == "csv" && in.next() % 2 == 0) words.insert(words.end(), {"--table", "blocks"});
      if (kind == "json" && in.next() % 2 == 0) words.emplace_back("--hex-addresses");
      run.form = kind == "json" ? Form::json : Form::data;
      break;
    }
    case 9:
      words = {"html", file, "-o", "-", "--viewer", viewer};
      run.form = Form::data;
      break;
    case 10:
      words = {"simulate", script, "--device", std::to_string(uint64_t{1} << (20 + in.next() % 30))};
      if (in.next() % 2 == 0) words.insert(words.end(), {"--conf", "expandable_segments:True"});
      break;
    case 11:
      words = {"tracker", file};
      if (in.next() % 2 == 0) words.push_back(other);
      break;
    case 12:
      words = {"telemetry", file};
      break;
    case 13: {
      const char* const confs[] = {"", "expandable_segments:True", "max_split_size_mb:20", "bad:1",
                                   "garbage_collection_threshold:0.5,per_process_memory_fraction:0.5"};
      words = {"whatif", file};
      if (in.next() % 2 == 0) words.insert(words.end(), {"--conf", confs[in.next() % std::size(confs)]});
      if (in.next() % 4 == 0)
        words.insert(words.end(), {"--capacity", std::to_string(uint64_t{1} << (in.next() % 60))});
      if (in.next() % 4 == 0) words.insert(words.end(), {"--without", "size>1000"});
      if (in.next() % 4 == 0) words.insert(words.end(), {"--scale", "alive@peak=2.5"});
      if (in.next() % 8 == 0) words.emplace_back("--smallest");
      choice();
      break;
    }
    case 14:
      words = {"whatif", file, "--dump", "-"};
      run.form = Form::data;
      choice();
      break;
    default:
      words = {"simulate", script, "--dump", "-"};
      run.form = Form::data;
  }
  if (json && run.form == Form::json) words.emplace_back("--json");
  return run;
}

// Steps of a script: few names, sizes of every magnitude.
inline std::string some_script(Choices& in) {
  std::string script;
  for (int left = in.next() % 32; left > 0; --left) {
    const std::string name(1, static_cast<char>('a' + in.next() % 4));
    switch (in.next() % 6) {
      case 0:
        script += "f " + name + "\n";
        break;
      case 1:
        script += "m " + name + " " + std::to_string(int64_t{1} << in.next() % 63) + " 1;";
        break;
      case 2:
        script += hostile_text(in) + "\n";
        break;
      default:
        script += "m " + name + std::to_string(left) + " " + std::to_string(in.next() * 4096) + "\n";
    }
  }
  return script;
}

inline void check_run(const CommandRun& run, int exit_code, const CountingSink& out,
                      const CountingSink& notes) {
  std::string told;
  for (const std::string& word : run.arguments) told += word + " ";
  if (exit_code < 0 || exit_code > cli::kUnchecked) stop(told + "has no such exit code");
  if (!is_printable(notes.text())) stop(told + "tells a terminal what to do");
  if (out.is_full() && exit_code != 2) stop(told + "did not notice that its output was full");
  if (!out.is_whole() || out.is_full()) return;
  if (exit_code == 0 && out.text().empty() && run.form != Form::lines) stop(told + "said nothing");
  if (exit_code != 0 && notes.text().empty() && out.text().empty()) stop(told + "failed without a word");
  const bool is_text = run.form == Form::text || run.form == Form::lines;
  if (is_text && !is_printable(out.text())) stop(told + "prints what a terminal acts on");
  if (run.form == Form::drawing && exit_code == 0 && !is_printable(out.text())) stop(told + "draws controls");
  const bool has_lines = run.form == Form::json && run.arguments[0] != "convert";
  if (has_lines && !are_json_lines(out.text())) stop(told + "prints no JSON:\n" + std::string(out.text()));
}

// Bytes become a command and its files; the command runs.
inline void run_some_command(const uint8_t* data, size_t size) {
  constexpr int64_t kBudget = int64_t{64} << 20;
  constexpr size_t kMostOutput = size_t{64} << 20;
  constexpr std::string_view kViewer = "<html><body id='gpustrata-snapshot'></body></html>";
  Choices in(data, size);
  // The command first, so that a change of it leaves the value as it is.
  constexpr size_t kChoices = 12;
  Choices of_command(data, std::min(size, kChoices));
  for (size_t i = 0; i < kChoices; ++i) (void)in.next();
  const MemoryFile file(hostile_file(in)), viewer(kViewer);
  const MemoryFile other(hostile_file(in)), script(some_script(in));
  const CommandRun run = some_command(of_command, file.path(), other.path(), viewer.path(), script.path());
  CountingSink out(kMostOutput), notes(kMostOutput);
  const cli::Console console{out, notes, 20 + of_command.next() % size_t{200}, false, kBudget};
  check_run(run, cli::run(run.arguments, console), out, notes);
}

}  // namespace gpustrata::tests
