#include "engine/answers/exports/exported_stacks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/json_writer.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::FoldedStacks;

namespace {

constexpr std::string_view kGaps = "<gaps>";

// Behind the highest number of an entry.
[[nodiscard]] int32_t entry_count(const FoldedStacks& stacks) {
  int32_t count = 0;
  for (const FoldedStacks::Line& line : stacks.lines()) {
    for (const int32_t sequence : {line.root, line.stack}) {
      for (const StringId entry : stacks.entries_of(sequence)) count = std::max(count, entry.value + 1);
    }
  }
  return count;
}

// Calls `see` with the number of each entry, outermost first; `gaps` stands for the last one.
template <typename See>
void each_entry(const FoldedStacks& stacks, const FoldedStacks::Line& line, int32_t gaps, See see) {
  for (const int32_t sequence : {line.root, line.stack}) {
    for (const StringId entry : stacks.entries_of(sequence)) see(entry.value);
  }
  if (line.gaps) see(gaps);
}

// -- Protocol buffers: fields of a message, numbers in groups of seven bits.

void add_varint(std::string& out, uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}
void add_number(std::string& out, uint32_t field, uint64_t number) {
  add_varint(out, uint64_t{field} << 3);
  add_varint(out, number);
}
void add_bytes(std::string& out, uint32_t field, std::string_view bytes) {
  add_varint(out, uint64_t{field} << 3 | 2);
  add_varint(out, bytes.size());
  out += bytes;
}

// Fields of perftools.profiles.Profile.
enum Profile : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kLocation = 4,
  kFunction = 5,
  kString = 6,
  kTimeNanos = 9,
};
// The string table: what types are called comes before the entries.
enum Text : uint64_t { kEmpty, kInUseSpace, kBytes, kFirstEntry };

}  // namespace

void export_speedscope(TextOut& out, const FoldedStacks& stacks, std::string_view title) {
  const int32_t gaps = entry_count(stacks);
  JsonWriter json = out.json();
  json.begin_object();
  json.member("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.member("exporter", "gpustrata");
  json.member("name", title);
  json.key("shared");
  json.begin_object();
  json.key("frames");
  json.begin_array();
  for (int32_t entry = 0; entry <= gaps; ++entry) {
    json.begin_object();
    json.member("name", entry == gaps ? kGaps : stacks.text(StringId{entry}));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.key("profiles");
  json.begin_array();
  json.begin_object();
  json.member("type", "sampled");
  json.member("name", title);
  json.member("unit", "bytes");
  json.member("startValue", 0);
  json.member("endValue", stacks.total());
  json.key("samples");
  json.begin_array();
  for (const FoldedStacks::Line& line : stacks.lines()) {
    json.begin_array();
    each_entry(stacks, line, gaps, [&](int32_t entry) { json.value(entry); });
    json.end_array();
  }
  json.end_array();
  json.key("weights");
  json.begin_array();
  for (const FoldedStacks::Line& line : stacks.lines()) json.value(line.bytes);
  json.end_array();
  json.end_object();
  json.end_array();
  json.end_object();
  out.end_line(json);
}

void export_pprof(TextOut& out, const FoldedStacks& stacks, std::optional<int64_t> time) {
  const int32_t gaps = entry_count(stacks);
  const auto id_of = [](int32_t entry) { return static_cast<uint64_t>(entry) + 1; };
  const auto text_of = [](int32_t entry) { return uint64_t{kFirstEntry} + static_cast<uint64_t>(entry); };
  std::string message, inner;
  const auto give = [&](uint32_t field, std::string_view bytes) {
    message.clear();
    add_bytes(message, field, bytes);
    out.add(message);
  };
  add_number(inner, 1, kInUseSpace);
  add_number(inner, 2, kBytes);
  give(kSampleType, inner);

  std::string locations;
  std::vector<int32_t> entries;
  for (const FoldedStacks::Line& line : stacks.lines()) {
    if (out.failed()) return;
    entries.clear();
    each_entry(stacks, line, gaps, [&](int32_t entry) { entries.push_back(entry); });
    locations.clear();
    std::for_each(entries.rbegin(), entries.rend(),  // the leaf first
                  [&](int32_t entry) { add_varint(locations, id_of(entry)); });
    std::string value;
    add_varint(value, static_cast<uint64_t>(line.bytes));
    inner.clear();
    add_bytes(inner, 1, locations);
    add_bytes(inner, 2, value);
    give(kSample, inner);
  }
  for (int32_t entry = 0; entry <= gaps; ++entry) {
    std::string line;
    add_number(line, 1, id_of(entry));
    inner.clear();
    add_number(inner, 1, id_of(entry));
    add_bytes(inner, 4, line);
    give(kLocation, inner);
    inner.clear();
    add_number(inner, 1, id_of(entry));
    add_number(inner, 2, text_of(entry));
    give(kFunction, inner);
  }
  for (const std::string_view text :
       {std::string_view(), std::string_view("inuse_space"), std::string_view("bytes")})
    give(kString, text);
  for (int32_t entry = 0; entry <= gaps; ++entry)
    give(kString, entry == gaps ? std::string(kGaps) : utf8::sanitized(stacks.text(StringId{entry})));
  if (time) {
    message.clear();
    add_number(message, kTimeNanos, static_cast<uint64_t>(*time));
    out.add(message);
  }
}

}  // namespace gpustrata::answers
