#include "tests/fuzz/mutator/kind_mixer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace gpustrata::tests {

namespace {

constexpr size_t kLongestValue = 4096, kLongestFile = size_t{64} << 10;
constexpr size_t kMostValues = 16;  // of a key

[[nodiscard]] size_t below(KindMixer::Random& random, size_t count) {
  return count == 0 ? 0 : random() % count;
}

template <typename Many>
[[nodiscard]] const auto& one_of(const Many& many, KindMixer::Random& random) {
  return many[below(random, std::size(many))];
}

[[nodiscard]] std::string written_text(Encoding encoding, std::string_view text) {
  if (encoding == Encoding::json) return '"' + std::string(text) + '"';
  std::string bytes = "X";  // BINUNICODE
  for (size_t i = 0; i < 4; ++i) bytes += static_cast<char>(text.size() >> (8 * i));
  return bytes.append(text);
}

// Without the memo: what it takes from there stands in its place, what it puts there stays outside.
[[nodiscard]] std::string self_contained(std::string_view input, const FoundValues& found, Span of) {
  std::string copy;
  size_t at = of.begin;
  for (const MemoUse& use : found.memo) {
    if (use.bytes.begin < of.begin || use.bytes.end > of.end) continue;
    copy += input.substr(at, use.bytes.begin - at);
    if (!use.puts) copy += use.is_text ? written_text(Encoding::pickle, use.text) : "N";
    at = use.bytes.end;
  }
  return copy.append(input.substr(at, of.end - at));
}

// What was put into the memo between these bytes still is, whatever it is now: later places keep their numbers.
[[nodiscard]] std::string puts_of(std::string_view input, const FoundValues& found, Span of) {
  std::string puts;
  for (const MemoUse& use : found.memo) {
    if (!use.puts || use.bytes.begin < of.begin || use.bytes.end > of.end) continue;
    puts += 'N';
    puts += input.substr(use.bytes.begin, use.bytes.end - use.bytes.begin);
    puts += '0';
  }
  return puts;
}

[[nodiscard]] std::string replaced(std::string_view input, const FoundValues& found, Span of,
                                   std::string_view by) {
  std::string changed(input.substr(0, of.begin));
  if (found.encoding == Encoding::pickle) changed += puts_of(input, found, of);
  changed += by;
  return changed.append(input.substr(of.end));
}

// A plain one of each kind.
[[nodiscard]] std::string plain_value(Encoding encoding, KindMixer::Random& random) {
  using std::string_view_literals::operator""sv;
  static constexpr std::array kJson = {"0"sv,    "-1"sv,   "1e300"sv, "9223372036854775807"sv,
                                       "\"\""sv, "null"sv, "true"sv,  "[]"sv,
                                       "{}"sv,   "[[]]"sv};
  static constexpr std::array kPickle = {"K\0"sv,
                                         "J\xFF\xFF\xFF\xFF"sv,
                                         "G\x7E\x37\xE4\x3C\x88\x00\x75\x9C"sv,
                                         "\x8A\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"sv,
                                         "X\0\0\0\0"sv,
                                         "N"sv,
                                         "\x88"sv,
                                         "]"sv,
                                         "}"sv,
                                         "])a"sv};
  return std::string(encoding == Encoding::json ? one_of(kJson, random) : one_of(kPickle, random));
}

[[nodiscard]] std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void KindMixer::learn(std::string_view input) {
  if (input.size() > kLongestFile) return;
  const FoundValues found = find_values(input);
  if (found.values.empty()) return;
  Known& into = found.encoding == Encoding::json ? json_ : pickle_;
  documents_.emplace_back(input.substr(found.document.begin));
  for (const FoundValue& value : found.values) {
    if (value.bytes.end - value.bytes.begin > kLongestValue) continue;
    const auto [place, is_new] = into.by_key.try_emplace(value.key);
    if (is_new) into.keys.push_back(value.key);
    Values& values = place->second;
    std::string copy = self_contained(input, found, value.bytes);
    if (values.size() < kMostValues && std::find(values.begin(), values.end(), copy) == values.end())
      values.push_back(std::move(copy));
  }
}

std::string_view KindMixer::document(Random& random) const {
  return documents_.empty() ? std::string_view() : one_of(documents_, random);
}

std::string KindMixer::some_value(const FoundValues& found, std::string_view input,
                                  const FoundValue& instead_of, Random& random) const {
  const Known& others = known(found.encoding);
  const size_t from = below(random, 8);
  if (from == 0 || others.keys.empty()) return plain_value(found.encoding, random);
  if (from < 4) return one_of(others.by_key.at(one_of(others.keys, random)), random);
  constexpr int kTries = 8;
  const FoundValue* other = &instead_of;
  for (int i = 0; i < kTries && other->kind == instead_of.kind && other->key == instead_of.key; ++i)
    other = &one_of(found.values, random);
  return self_contained(input, found, other->bytes);
}

std::string KindMixer::change(std::string_view input, const FoundValues& found, Random& random) const {
  const FoundValue& value = one_of(found.values, random);
  const Known& others = known(found.encoding);
  const auto some_key = [&] {
    return written_text(found.encoding, others.keys.empty() ? value.key : one_of(others.keys, random));
  };
  switch (value.has_key() ? below(random, 6) : 0) {
    case 4:  // the same value under another key
      return replaced(input, found, value.key_bytes, some_key());
    case 5: {  // one member more
      const std::string_view before = found.encoding == Encoding::json ? "," : "";
      const std::string_view between = found.encoding == Encoding::json ? ":" : "";
      std::string member(before);
      member.append(some_key()).append(between).append(some_value(found, input, value, random));
      return replaced(input, found, {value.bytes.end, value.bytes.end}, member);
    }
    default:
      return replaced(input, found, value.bytes, some_value(found, input, value, random));
  }
}

std::string KindMixer::mix(std::string_view input, Random& random, size_t most) const {
  std::string changed(input);
  for (size_t left = 1 + below(random, 3); left > 0; --left) {
    const FoundValues found = find_values(changed);
    if (found.values.empty()) break;
    std::string next = change(changed, found, random);
    if (next.size() > most) break;
    changed = std::move(next);
  }
  return changed == input ? std::string() : changed;
}

const KindMixer& kind_mixer() {
  static const KindMixer mixer = [] {
    namespace fs = std::filesystem;
    KindMixer made;
    std::vector<fs::path> paths;
    for (const char* const folder : {"fuzz/corpus", "data/profilers", "data/fleet"}) {
      std::error_code failed;
      for (const auto& entry :
           fs::recursive_directory_iterator(fs::path(GPUSTRATA_TESTS_FOLDER) / folder, failed)) {
        if (entry.is_regular_file() && entry.path().extension() != ".py") paths.push_back(entry.path());
      }
    }
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) made.learn(bytes_of(path));
    return made;
  }();
  return mixer;
}

}  // namespace gpustrata::tests
