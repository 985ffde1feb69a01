#include "engine/fleet/fact_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "engine/base/content_hash.h"
#include "engine/fleet/queries.h"

namespace gpustrata::fleet {

namespace {

struct Member {
  std::string_view name, type;
};
// The members of a line that are columns of `lines`.
constexpr Member kMembers[] = {{"file", "TEXT"},
                               {"run", "TEXT"},
                               {"rank", "INTEGER"},
                               {"host", "TEXT"},
                               {"world_size", "INTEGER"},
                               {"snapshot", "TEXT"},
                               {"device", "INTEGER"},
                               {"input_bytes", "INTEGER"},
                               {"format", "TEXT"},
                               {"events", "INTEGER"},
                               {"damaged", "INTEGER"},
                               {"diagnostics", "INTEGER"},
                               {"first_us", "INTEGER"},
                               {"last_us", "INTEGER"},
                               {"start_requested", "INTEGER"},
                               {"peak_requested", "INTEGER"},
                               {"peak_event", "INTEGER"},
                               {"peak_us", "INTEGER"},
                               {"end_requested", "INTEGER"},
                               {"peak_reserved", "INTEGER"},
                               {"end_reserved", "INTEGER"},
                               {"end_allocated", "INTEGER"},
                               {"cached", "INTEGER"},
                               {"held_back", "INTEGER"},
                               {"fragmentation", "REAL"},
                               {"ooms", "INTEGER"},
                               {"oom_event", "INTEGER"},
                               {"oom_us", "INTEGER"},
                               {"oom_requested", "INTEGER"},
                               {"oom_device_free", "INTEGER"},
                               {"oom_stack", "TEXT"},
                               {"leaks", "INTEGER"},
                               {"leak_bytes", "INTEGER"},
                               {"step_count", "INTEGER"}};
constexpr int kMemberCount = static_cast<int>(std::size(kMembers));
[[nodiscard]] constexpr size_t number_of(std::string_view name) {
  size_t number = 0;
  while (kMembers[number].name != name) ++number;
  return number;
}
constexpr size_t kFile = number_of("file"), kRun = number_of("run"), kRank = number_of("rank"),
                 kHost = number_of("host"), kSnapshot = number_of("snapshot"), kDevice = number_of("device");

[[nodiscard]] std::string lines_table() {
  std::string sql = "CREATE TABLE lines(id INTEGER PRIMARY KEY";
  for (const Member& one : kMembers) sql += fmt::format(", {} {}", one.name, one.type);
  return sql + ") STRICT;";
}

constexpr const char* kTables =
    "CREATE TABLE peak_stacks(id INTEGER, stack TEXT, requested INTEGER, blocks INTEGER) STRICT;"
    "CREATE TABLE leak_stacks(id INTEGER, stack TEXT, bytes_per_step INTEGER, live_bytes INTEGER, steps INTEGER) STRICT;"
    "CREATE TABLE steps(id INTEGER, step INTEGER, first_us INTEGER, peak_requested INTEGER, end_requested INTEGER) STRICT;"
    "CREATE TABLE stacks(stack TEXT PRIMARY KEY, who TEXT, category TEXT) STRICT, WITHOUT ROWID;"
    "CREATE TABLE groups(run TEXT, rank INTEGER, kind TEXT, name TEXT) STRICT;"
    "CREATE TABLE groups_said(id INTEGER, kind TEXT, name TEXT) STRICT;";

// What lines say of their groups, of kinds that nobody gave.
constexpr const char* kAddGroups =
    "INSERT INTO groups SELECT DISTINCT lines.run, lines.rank, groups_said.kind, groups_said.name FROM groups_said "
    "JOIN lines ON lines.id = groups_said.id WHERE lines.rank IS NOT NULL AND groups_said.name IS NOT NULL "
    "AND groups_said.kind NOT IN (SELECT kind FROM groups);";

// A row of the table for each item of the list that is bound as ?2.
[[nodiscard]] std::string insert_items(std::string_view table,
                                       std::initializer_list<std::string_view> members) {
  std::string sql = fmt::format("INSERT INTO {} SELECT ?1", table);
  for (const std::string_view member : members) sql += fmt::format(", value ->> '{}'", member);
  return sql + " FROM json_each(?2)";
}

}  // namespace

Result<FactTable> FactTable::open(int64_t most_bytes, Budget& budget) {
  auto database = Database::open(most_bytes);
  if (!database) return tl::unexpected(database.error());
  FactTable table(std::move(*database), budget);
  if (Status made = table.database_.execute(lines_table() + kTables); !made)
    return tl::unexpected(made.error());
  std::string insert = "INSERT INTO lines VALUES(?";
  for (int i = 0; i < kMemberCount; ++i) insert += ",?";
  insert += ")";
  const std::pair<Statement*, std::string> statements[] = {
      // Of an object or list the value is its text.
      {&table.members_, "SELECT key, type, value FROM json_each(?1)"},
      {&table.insert_line_, insert},
      {&table.insert_peak_, insert_items("peak_stacks", {"stack", "requested", "blocks"})},
      {&table.insert_leak_, insert_items("leak_stacks", {"stack", "bytes_per_step", "live_bytes", "steps"})},
      {&table.insert_step_, insert_items("steps", {"step", "first_us", "peak_requested", "end_requested"})},
      {&table.insert_stack_,
       "INSERT OR IGNORE INTO stacks SELECT value ->> 'stack', value ->> 'who', value ->> 'category' FROM "
       "json_each(?2) WHERE value ->> 'stack' IS NOT NULL AND ?1 IS NOT NULL"},
      {&table.insert_group_, insert_items("groups_said", {"kind", "name"})},
      {&table.numbers_, "SELECT type, value FROM json_each(?1, ?2)"},
      {&table.group_, "INSERT INTO groups VALUES(?1, ?2, ?3, ?4)"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = table.database_.prepare(sql);
    if (!prepared) return tl::unexpected(prepared.error());
    *statement = std::move(*prepared);
  }
  return table;
}

void FactTable::add_not_read(const std::string& file, std::string message) {
  if (not_read_.size() < kMostNotRead) not_read_.push_back({file, std::move(message)});
}

void FactTable::add_failure(const std::string& file, std::string message) {
  ++not_read_count_.files;
  add_not_read(file, std::move(message));
}

Status FactTable::add_line(std::string_view line, const LinePlace& place) {
  const auto is_none = [&](std::string_view why) {
    ++not_read_count_.lines;
    if (std::exchange(last_file_of_lines_, place.file) != place.file) ++not_read_count_.files_of_lines;
    add_not_read(place.file, fmt::format("Line {}: {}", place.line, why));
  };
  if (line.size() > kLongestFactLine) {
    is_none("It is longer than 64 MiB.");
    return {};
  }
  const int64_t id = lines();
  FactCurve curve{};
  if (Status begun = database_.execute("SAVEPOINT line"); !begun) return begun;
  const Result<bool> taken = take(line, id, curve, place);
  if (taken) {
    if (*taken && !keep(curve))
      return fail(ErrorCode::limit_exceeded, -1, "The curves of so many ranks do not fit into memory.");
    return database_.execute("RELEASE line");
  }
  if (Status undone = database_.execute("ROLLBACK TO line; RELEASE line"); !undone) return undone;
  if (taken.error().code == ErrorCode::limit_exceeded) return tl::unexpected(taken.error());
  is_none(taken.error().message);
  return {};
}

bool FactTable::keep(const FactCurve& curve) {
  ContentHash hash;
  for (const auto* values : {&curve.allocated, &curve.reserved}) hash.add(std::as_bytes(std::span(*values)));
  const auto [known, is_new] = curve_by_hash_.try_emplace(hash.value(), static_cast<int32_t>(curves_.size()));
  if (!is_new && curves_[known->second] == curve) return curve_of_.push_back(known->second);
  return curve_of_.push_back(static_cast<int32_t>(curves_.size())) && curves_.push_back(curve);
}

Result<bool> FactTable::take(std::string_view line, int64_t id, FactCurve& curve, const LinePlace& place) {
  const auto no_facts = [&](std::string_view why) {
    members_.reset();
    return fail(ErrorCode::invalid_format, -1, "{}", why);
  };
  std::map<std::string, std::string, std::less<>> lists;
  int64_t version = 0;
  std::string failure;
  bool failed = false;
  insert_line_.bind(0, id);
  for (int i = 0; i < kMemberCount; ++i) insert_line_.bind_null(i + 1);
  std::array<std::string, std::size(kMembers)> texts;  // bound ones live here
  std::array<bool, std::size(kMembers)> is_said{};
  members_.bind(0, line);
  for (;;) {
    const auto row = members_.step();
    if (!row) return no_facts("This line is no JSON object of facts.");
    if (!*row) break;
    const std::string_view key = members_.text(0), type = members_.text(1);
    if (key == "gpustrata_facts") version = members_.integer(2);
    if (key == "error") {
      failed = true;
      failure = members_.text(2);
    }
    if (type == "array" || type == "object") {
      lists[std::string(key)] = members_.text(2);
      continue;
    }
    const auto* const known = std::find_if(std::begin(kMembers), std::end(kMembers),
                                           [&](const Member& one) { return one.name == key; });
    if (known == std::end(kMembers) || type == "null") continue;
    const auto number = static_cast<size_t>(known - std::begin(kMembers));
    if (known->type == "INTEGER" && type != "integer" && type != "true" && type != "false")
      return no_facts(fmt::format("\"{}\" of this line of facts is no whole number.", key));
    if (known->type == "TEXT" && type != "text")
      return no_facts(fmt::format("\"{}\" of this line of facts is no text.", key));
    is_said[number] = true;
    texts[number] = members_.text(2);
    if (known->type == "INTEGER") {
      insert_line_.bind(static_cast<int>(number) + 1, members_.integer(2));
    } else {
      insert_line_.bind(static_cast<int>(number) + 1, std::string_view(texts[number]));
    }
  }
  members_.reset();
  if (version == 0) return no_facts("This line is no JSON object of facts: it has no \"gpustrata_facts\".");
  if (version != 1)
    return no_facts(fmt::format("These facts are of version {}: a newer gpustrata wrote them.", version));
  if (failed) {
    if (failure.find("\"message\"") != std::string::npos) {
      numbers_.bind(0, std::string_view(failure));
      numbers_.bind(1, std::string_view("$.message"));
      if (const auto row = numbers_.step(); row && *row) failure = std::string(numbers_.text(1));
      numbers_.reset();
    }
    add_failure(texts[kFile].empty() ? place.file : texts[kFile], failure);
    return false;
  }
  for (const size_t needed : {kFile, kDevice}) {
    if (!is_said[needed])
      return no_facts(fmt::format("This line is none of facts: it has no \"{}\".", kMembers[needed].name));
  }
  const auto bind = [&](size_t number, std::string_view text) {
    insert_line_.bind(static_cast<int>(number) + 1, text);
  };
  if (texts[kRun].empty()) bind(kRun, place.run);
  if (texts[kHost].empty()) bind(kHost, place.host);
  if (!is_said[kSnapshot]) bind(kSnapshot, "");
  if (!is_said[kRank] && place.rank) insert_line_.bind(static_cast<int>(kRank) + 1, *place.rank);
  if (Status done = insert_line_.run(); !done) return tl::unexpected(done.error());
  const std::pair<std::string_view, Statement*> items[] = {{"peak_stacks", &insert_peak_},
                                                           {"leak_stacks", &insert_leak_},
                                                           {"steps", &insert_step_},
                                                           {"stacks", &insert_stack_},
                                                           {"groups", &insert_group_}};
  for (const auto& [name, statement] : items) {
    const auto found = lists.find(name);
    if (found == lists.end()) continue;
    statement->bind(0, id);
    statement->bind(1, std::string_view(found->second));
    if (Status done = statement->run(); !done) return tl::unexpected(done.error());
  }
  const auto found = lists.find("curve");
  if (found == lists.end()) return true;
  if (Status done = take_curve(found->second, curve); !done) return tl::unexpected(done.error());
  return true;
}

Status FactTable::take_curve(std::string_view text, FactCurve& curve) {
  const auto each = [&](std::string_view path, auto&& take_number) -> Status {
    numbers_.bind(0, text);
    numbers_.bind(1, path);
    size_t number = 0;
    for (;;) {
      const auto row = numbers_.step();
      if (!row) return tl::unexpected(row.error());
      if (!*row) break;
      if (numbers_.text(0) == "integer") take_number(number, numbers_.integer(1));
      ++number;
    }
    numbers_.reset();
    return {};
  };
  int ends = 0;
  Status done = each("$.from_us", [&](size_t, int64_t time) { curve.from_us = time, ++ends; });
  if (done) done = each("$.to_us", [&](size_t, int64_t time) { curve.to_us = time, ++ends; });
  curve.timed = ends == 2 && curve.to_us >= curve.from_us;
  for (auto [path, values] :
       {std::pair("$.allocated", &curve.allocated), std::pair("$.reserved", &curve.reserved)}) {
    if (!done) return done;
    done = each(path, [&, to = values](size_t number, int64_t bytes) {
      if (number < to->size()) (*to)[number] = std::max<int64_t>(bytes, 0);
    });
  }
  return done;
}

Status FactTable::add_group(std::string_view run, int64_t rank, std::string_view kind,
                            std::string_view name) {
  group_.bind(0, run);
  group_.bind(1, rank);
  group_.bind(2, kind);
  group_.bind(3, name);
  return group_.run();
}

Status FactTable::seal() {
  return database_.execute(
      fmt::format("{} DROP TABLE groups_said;"
                  "CREATE TABLE facts AS {};"
                  "CREATE UNIQUE INDEX facts_by_id ON facts(id);"
                  "CREATE INDEX facts_by_rank ON facts(run, rank, device);"
                  "CREATE INDEX peak_stacks_by_id ON peak_stacks(id);"
                  "CREATE INDEX leak_stacks_by_id ON leak_stacks(id);"
                  "CREATE INDEX steps_by_id ON steps(id);"
                  "CREATE INDEX groups_by_rank ON groups(rank);"
                  "ANALYZE",
                  kAddGroups, query("facts")));
}

}  // namespace gpustrata::fleet
