#include "engine/cli/fleet_input.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>

#include "engine/answers/facts.h"
#include "engine/answers/json_of.h"
#include "engine/cli/facts_command.h"
#include "engine/cli/facts_origin.h"
#include "engine/cli/input.h"
#include "engine/io/byte_sink.h"
#include "engine/io/encodings/csv/records.h"

namespace memstrata::cli {

namespace {

namespace fs = std::filesystem;

// Keys of what memstrata wrote. Others may write lines of facts with their keys in another order, so they are looked for.
constexpr std::string_view kFacts = "\"memstrata_facts\"", kReduced = "\"memstrata_fleet\"";
constexpr size_t kTelling = size_t{1} << 20;  // bytes that are searched
constexpr int64_t kMostRanks = 1'000'000;
constexpr size_t kLongestGroups = size_t{64} << 20;

// What comes into a text.
class TextSink final : public io::ByteSink {
 public:
  explicit TextSink(std::string& text) : text_(text) {}
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override {
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }

 private:
  std::string& text_;
};

[[nodiscard]] tl::unexpected<Failure> of_table(const Status& status, const std::string& about) {
  return failure(status.error(), about);
}

[[nodiscard]] Outcome<void> add_lines(fleet::FactTable& facts, std::istream& lines, const std::string& file) {
  std::string line;
  while (std::getline(lines, line)) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty()) continue;
    if (Status added = facts.add_line(line, file); !added) return of_table(added, file);
  }
  if (lines.bad()) facts.add_failure(file, "Reading ended with an error.");
  return {};
}

// Whether the file is a JSON object with that key.
[[nodiscard]] bool begins_with(const std::string& file, std::string_view key) {
  std::ifstream input(file, std::ios::binary);
  if (input.peek() != '{') return false;
  std::string text(kTelling, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(input.gcount(), 0)));
  return text.find(key) != std::string::npos;
}

}  // namespace

Outcome<std::vector<std::string>> files_below(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!fs::is_directory(path, failed)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (auto at =
             fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, failed);
         !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
      const bool is_hidden = at->path().filename().native().starts_with('.');
      std::error_code ignored;
      if (is_hidden && at->is_directory(ignored)) at.disable_recursion_pending();
      if (!is_hidden && at->is_regular_file(ignored) && !begins_with(at->path(), kReduced))
        found.push_back(at->path().native());
    }
    if (failed)
      return failure(kUnreadable, path, fmt::format("This folder cannot be read: {}.", failed.message()));
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

Outcome<void> add_file(fleet::FactTable& facts, const std::string& file, const Console& console) {
  if (begins_with(file, kFacts)) {
    std::ifstream lines(file, std::ios::binary);
    return add_lines(facts, lines, file);
  }
  std::string text;
  TextSink sink(text);
  answers::TextOut out(sink);
  const auto written = write_facts(file, {}, console, out);
  (void)out.finish();  // a text takes all
  if (!written) {
    facts.add_failure(file, written.error().message);
    return {};
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (Status added = facts.add_line(rest.substr(0, end), file); !added) return of_table(added, file);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

Outcome<void> add_groups_of(fleet::FactTable& facts, const std::string& path) {
  const auto text = read_text(path, kLongestGroups, "A table of groups");
  if (!text) return tl::unexpected(text.error());
  std::vector<int> column_of(4, -1);
  constexpr std::string_view kColumns[] = {"run", "rank", "kind", "name"};
  int64_t line = 0;
  Outcome<void> done;
  model::Diagnostics ignored;
  io::csv::Records records(ignored, [&](const std::vector<std::string>& fields, int64_t) {
    const auto wrong = [&](std::string_view what) {
      done = failure(name_of(ErrorCode::wrong_usage), path, fmt::format("Line {}: {}", line, what));
      return false;
    };
    if (line++ == 0) {
      for (size_t i = 0; i < 4; ++i) {
        const auto found = std::find(fields.begin(), fields.end(), kColumns[i]);
        if (found != fields.end()) column_of[i] = static_cast<int>(found - fields.begin());
        if (found == fields.end() && i > 0)
          return wrong("a table of groups has the columns rank, kind, name, and run if there are several.");
      }
      return true;
    }
    const auto field = [&](size_t i) -> std::string_view {
      const auto at = static_cast<size_t>(column_of[i]);
      return column_of[i] < 0 || at >= fields.size() ? std::string_view() : std::string_view(fields[at]);
    };
    int64_t rank = -1;
    const std::string_view digits = field(1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || rank < 0)
      return wrong(fmt::format("\"{}\" is no rank.", digits));
    if (Status added = facts.add_group(field(0), rank, field(2), field(3)); !added) {
      done = of_table(added, path);
      return false;
    }
    return true;
  });
  records.read(*text, 0);
  if (!records.is_stopped() && !records.end())
    return failure(name_of(ErrorCode::wrong_usage), path, "The table ends inside of quotes.");
  return done;
}

Outcome<Layout> layout_of(const std::string& text) {
  const auto wrong = [&](std::string_view what) {
    return failure(
        name_of(ErrorCode::wrong_usage), "--layout",
        fmt::format("{} It is a list like tp=8,dp=4,pp=2, the kind whose ranks are neighbours first.", what));
  };
  Layout layout;
  int64_t ranks = 1;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = std::min(item.find('='), item.size());
    const std::string_view kind = item.substr(0, equals);
    const std::string_view digits = equals < item.size() ? item.substr(equals + 1) : std::string_view();
    int64_t size = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (kind.empty() || read.ec != std::errc() || read.ptr != digits.data() + digits.size() || size < 1 ||
        size > kMostRanks)
      return wrong(fmt::format("\"{}\" is no kind and size.", item));
    if (std::any_of(layout.begin(), layout.end(), [&](const auto& one) { return one.first == kind; }))
      return wrong(fmt::format("\"{}\" is there twice.", kind));
    ranks *= size;
    if (ranks > kMostRanks) return wrong("These are more than 1,000,000 ranks.");
    layout.emplace_back(kind, size);
  }
  return layout;
}

Outcome<void> add_layout(fleet::FactTable& facts, const Layout& layout) {
  int64_t ranks = 1;
  for (const auto& [kind, size] : layout) ranks *= size;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t stride = 1;
    for (const auto& [kind, size] : layout) {
      const int64_t own = rank / stride % size;
      // A stage is what pp says; of the others the group are those that differ in this number only.
      const int64_t group = kind == "pp" ? own : rank - own * stride;
      stride *= size;
      if (Status added = facts.add_group("", rank, kind, fmt::format("{}", group)); !added)
        return of_table(added, "--layout");
    }
  }
  return {};
}

}  // namespace memstrata::cli
