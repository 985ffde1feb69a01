#include "engine/io/values/builder.h"

#include <charconv>
#include <optional>

#include "engine/base/utf8.h"
#include "engine/io/limits.h"

namespace gpustrata::io::values {

namespace {

// "0x7f0012345678", as many tools write addresses, because JavaScript loses integers above 2^53.
[[nodiscard]] std::optional<uint64_t> hex_number(std::string_view text) {
  if (text.size() < 3 || text.size() > 18 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
    return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool Builder::open(bool is_dict, int64_t offset) {
  opens_.push_back({offset, items_.size(), {}, is_dict, false});
  return true;
}

bool Builder::key(std::string_view text) {
  const StringId id = strings_.intern(text);
  if (id.is_none()) return false;
  opens_.back().key = {Tag::string, static_cast<uint32_t>(id.value), 0};
  return true;
}

bool Builder::add_text(std::string_view text, int64_t offset) {
  if (text.starts_with("0x") && in_dict() &&
      schema_.has_hex_numbers(strings_.view(StringId{static_cast<size_t>(opens_.back().key.id)}))) {
    if (const auto number = hex_number(text)) {
      return add({*number >> 63 != 0 ? Tag::big_integer : Tag::integer, 0, *number});
    }
  }
  if (text.size() > kKeptString) {
    diagnostics_.add(model::Diag::long_string_cut, offset);
    text = text.substr(0, kKeptString);
  }
  const StringId id = strings_.intern(text);
  return !id.is_none() && add({Tag::string, static_cast<uint32_t>(id.value), 0});
}

bool Builder::add(Value value) {
  if (opens_.empty()) {
    result_ = value;
    return true;
  }
  Open& open = opens_.back();
  const size_t members = items_.size() - open.first;
  if (open.is_dict) {
    if (members >= 2 * kMaxMembers && !is_always_kept(value.tag)) {
      open.cut = true;
      return true;
    }
    const Value pair[2] = {open.key, value};
    return items_.append(pair);
  }
  if (members > 0 && merge(items_.back(), value)) return true;
  if (members >= kMaxMembers && !is_always_kept(value.tag)) {
    open.cut = true;
    return true;
  }
  return items_.push_back(value);
}

bool Builder::close(bool partial) {
  const Open open = opens_.back();
  opens_.pop_back();
  const std::span<const Value> members = std::span<const Value>(items_.span()).subspan(open.first);
  const Ending ending{open.offset, partial, open.cut};
  Value value = open.is_dict ? schema_.finish_dict(members, ending) : schema_.finish_list(members, ending);
  items_.truncate(open.first);
  if (value.tag == Tag::undefined) {
    (void)add({Tag::dropped, 0, 0});
    return false;
  }
  // Of what is cut in two, what the schema made is worth keeping.
  if (partial && value.tag == Tag::text) value = {Tag::dropped, 0, 0};
  return add(value);
}

}  // namespace gpustrata::io::values
