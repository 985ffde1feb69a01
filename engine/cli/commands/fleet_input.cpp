#include "engine/cli/commands/fleet_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "engine/answers/report/facts.h"
#include "engine/answers/text/json_of.h"
#include "engine/base/units.h"
#include "engine/cli/commands/facts.h"
#include "engine/cli/input/facts_origin.h"
#include "engine/cli/input/input.h"
#include "engine/cli/input/unpacked_file.h"
#include "engine/io/byte_sink.h"
#include "engine/io/encodings/csv/records.h"

namespace gpustrata::cli {

namespace {

namespace fs = std::filesystem;

// Keys of what gpustrata wrote. Others may write lines of facts with their keys in another order, so they are looked for.
constexpr std::string_view kFacts = "\"gpustrata_facts\"", kReduced = "\"gpustrata_fleet\"";
constexpr size_t kTelling = size_t{1} << 20;  // bytes that are searched
constexpr int64_t kMostRanks = 1'000'000;
// Of a file, which is given up then: who has more bad lines does not have facts, and of ranks that are said again each
// only the first line counts.
constexpr int64_t kMostBadLines = 1000, kMostRepeatedLines = 10'000;
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

[[nodiscard]] std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] tl::unexpected<Failure> of_table(const Status& status, const std::string& about) {
  return failure(status.error(), about);
}

// Lines out of pieces of any size; a line that is too long is counted and passed by. A file with too many bad or repeated
// ones is given up.
class Lines {
 public:
  Lines(fleet::FactTable& facts, fleet::LinePlace place) : facts_(facts), place_(std::move(place)) {}

  [[nodiscard]] Status take(std::string_view piece) {
    while (!piece.empty() && !is_given_up_) {
      const size_t end = piece.find('\n');
      const std::string_view part = piece.substr(0, end);
      // One byte more than allowed is enough for the table to say so.
      begun_ += part.substr(0, fleet::kLongestFactLine + 1 - begun_.size());
      if (end == std::string_view::npos) return {};
      if (Status ended = end_line(); !ended) return ended;
      piece.remove_prefix(end + 1);
    }
    return {};
  }
  [[nodiscard]] Status end_line() {
    ++place_.line;
    const bool is_cut = begun_.size() > fleet::kLongestFactLine;
    while (!is_cut && (begun_.ends_with('\r') || begun_.ends_with(' '))) begun_.pop_back();
    Status added = begun_.empty() ? Status() : add();
    begun_.clear();
    return added;
  }
  [[nodiscard]] bool is_given_up() const { return is_given_up_; }

 private:
  [[nodiscard]] Status add() {
    const int64_t bad = facts_.not_read_count().lines;
    if (Status added = facts_.add_line(begun_, place_); !added) return added;
    bad_ += facts_.not_read_count().lines - bad;
    if (!seen_.insert(std::hash<std::string>()(begun_)).second) ++repeated_;
    const bool are_bad = bad_ > kMostBadLines;
    is_given_up_ = are_bad || repeated_ > kMostRepeatedLines;
    if (is_given_up_)
      facts_.add_failure(
          place_.file,
          fmt::format("More than {} of its lines {}: the rest is not read. Facts before that count.",
                      count_text(are_bad ? kMostBadLines : kMostRepeatedLines),
                      are_bad ? "are no facts" : "repeat others"));
    return {};
  }

  fleet::FactTable& facts_;
  fleet::LinePlace place_;
  std::string begun_;
  int64_t bad_ = 0, repeated_ = 0;
  std::unordered_set<size_t> seen_;  // hashes of lines
  bool is_given_up_ = false;
};

[[nodiscard]] fleet::LinePlace place_of(const std::string& file) {
  FolderNames names = names_of_folders(file);
  return {file, 0, std::move(names.run), std::move(names.host), names.rank};
}

// The begin of a file that may tell what it is: of one that is no JSON object only its first piece.
struct RankHead {
  std::string text;
  Status status;  // why there is no more
  bool is_whole = false;
};
[[nodiscard]] RankHead head_of(UnpackedFile& input) {
  RankHead head;
  while (head.text.size() < kTelling && (head.text.empty() || head.text.front() == '{')) {
    const auto piece = input.read();
    if (!piece) head.status = tl::unexpected(piece.error());
    head.is_whole = !piece || piece->empty();
    if (head.is_whole) break;
    head.text += text_of(*piece);
  }
  return head;
}

[[nodiscard]] Outcome<void> add_lines(fleet::FactTable& facts, const std::string& file, const RankHead& head,
                                      UnpackedFile& input) {
  Lines lines(facts, place_of(file));
  Status read = head.status;
  Status added = lines.take(head.text);
  for (bool ended = head.is_whole; added && !ended && !lines.is_given_up();) {
    const auto piece = input.read();
    if (!piece) read = tl::unexpected(piece.error());
    ended = !piece || piece->empty();
    if (!ended) added = lines.take(text_of(*piece));
  }
  // Half a line is no line; that it is half is said.
  if (added && read && !lines.is_given_up()) added = lines.end_line();
  if (!added) return of_table(added, file);
  if (!read) facts.add_failure(file, read.error().message + " Facts before that count.");
  return {};
}

[[nodiscard]] Outcome<void> add_snapshot(fleet::FactTable& facts, const std::string& file,
                                         const Console& console) {
  std::string text;
  TextSink sink(text);
  answers::TextOut out(sink);
  const auto written = write_facts(file, {}, console, out);
  (void)out.finish();  // a text takes all
  if (!written) {
    facts.add_failure(file, written.error().message);
    return {};
  }
  Lines lines(facts, place_of(file));
  if (Status added = lines.take(text); !added) return of_table(added, file);
  return {};
}

}  // namespace

Outcome<std::vector<FleetFile>> files_below(const std::vector<std::string>& paths) {
  std::vector<FleetFile> files;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!fs::is_directory(path, failed)) {
      files.push_back({path, true});
      continue;
    }
    std::vector<std::string> found;
    for (auto at =
             fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, failed);
         !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
      const bool is_hidden = at->path().filename().native().starts_with('.');
      std::error_code ignored;
      if (is_hidden && at->is_directory(ignored)) at.disable_recursion_pending();
      if (!is_hidden && at->is_regular_file(ignored)) found.push_back(at->path().native());
    }
    if (failed)
      return failure(kUnreadable, path, fmt::format("This folder cannot be read: {}.", failed.message()));
    std::sort(found.begin(), found.end());
    for (std::string& file : found) files.push_back({std::move(file), false});
  }
  return files;
}

Outcome<void> add_file(fleet::FactTable& facts, const FleetFile& file, const Console& console) {
  std::error_code ignored;
  // What can be read once only is not looked into first.
  if (!fs::is_regular_file(file.path, ignored)) return add_snapshot(facts, file.path, console);
  Budget budget(console.budget_bytes);
  UnpackedFile input(file.path, budget);
  const RankHead head = head_of(input);
  const bool is_object = head.text.starts_with('{');
  if (is_object && head.text.find(kFacts) != std::string::npos)
    return add_lines(facts, file.path, head, input);
  if (!is_object || head.text.find(kReduced) == std::string::npos)
    return add_snapshot(facts, file.path, console);
  if (file.is_named) facts.add_failure(file.path, "This is a reduced file already: the page opens it.");
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

}  // namespace gpustrata::cli
