// Values of the fields of a snapshot's dicts: integers brought to one form, texts, stacks, streams, pools.
#include <algorithm>
#include <cmath>

#include "engine/base/hash.h"
#include "engine/io/limits.h"
#include "engine/io/readers/snapshot/snapshot_schema.h"
#include "engine/io/values/numbers.h"

namespace gpustrata::io {

using model::Diag;
using model::Owner;
using values::Value;

namespace {

constexpr size_t kFirstPairTable = 64;
// Action names follow the words in the string pool.
constexpr uint32_t kFirstAction = static_cast<uint32_t>(Word::kWords);
constexpr uint32_t kKnownActions = static_cast<uint32_t>(trace::Action::first_unknown);
constexpr size_t kMaxUnknownActions = 256 - kKnownActions;

[[nodiscard]] std::string_view text_of(Word key) { return kWordTexts[static_cast<size_t>(key)]; }

}  // namespace

Word SnapshotSchema::word_of(const Value& key) {
  return is_text(key.tag) && key.id < static_cast<uint32_t>(Word::kKnownKeys) ? static_cast<Word>(key.id)
                                                                              : Word::kWords;
}

const Value* SnapshotSchema::find(Pairs pairs, Word key) const {
  for (size_t i = pairs.size(); i >= 2; i -= 2) {
    if (word_of(pairs[i - 2]) == key) return &pairs[i - 1];
  }
  return nullptr;
}

void SnapshotSchema::wrong_type(Word key) {
  recording_.diagnostics.add(Diag::wrong_type, offset_, text_of(key));
}

// `integer` or `big_integer`. A float that is a whole number counts too: some imitators compute sizes so.
std::optional<Value> SnapshotSchema::whole_number(const Value& value, Word key) {
  switch (value.tag) {
    case Tag::integer:
    case Tag::big_integer:
      return value;
    case Tag::none:
      return std::nullopt;
    case Tag::huge_integer:
      recording_.diagnostics.add(Diag::integer_out_of_range, offset_, text_of(key));
      return std::nullopt;
    case Tag::real: {
      const double number = values::double_of(value);
      constexpr double kTooLarge = 9223372036854775808.0;  // 2^63
      if (std::nearbyint(number) == number && std::fabs(number) < kTooLarge) {
        return values::Value{Tag::integer, 0, static_cast<uint64_t>(static_cast<int64_t>(number))};
      }
      break;
    }
    default:
      break;
  }
  wrong_type(key);
  return std::nullopt;
}

// Modulo 2^64: the C++ writer stores the same bits as a negative number.
std::optional<uint64_t> SnapshotSchema::address(const Value& value, Word key) {
  const auto whole = whole_number(value, key);
  return whole ? std::optional(whole->num) : std::nullopt;
}

std::optional<int64_t> SnapshotSchema::number(const Value& value, Word key) {
  const auto whole = whole_number(value, key);
  return whole ? std::optional(static_cast<int64_t>(whole->num)) : std::nullopt;
}

std::optional<int64_t> SnapshotSchema::size(const Value& value, Word key) {
  const auto whole = whole_number(value, key);
  if (!whole) return std::nullopt;
  const auto bytes = static_cast<int64_t>(whole->num);
  if (whole->tag == Tag::big_integer) {
    recording_.diagnostics.add(Diag::integer_out_of_range, offset_, text_of(key));
    return std::nullopt;
  }
  if (bytes < 0) {
    recording_.diagnostics.add(Diag::negative_size, offset_, text_of(key));
    return 0;
  }
  return bytes;
}

int32_t SnapshotSchema::small_number(const Value& value, Word key, int32_t otherwise) {
  const auto wide = number(value, key);
  if (!wide) return otherwise;
  if (*wide < INT32_MIN || *wide > INT32_MAX) {
    recording_.diagnostics.add(Diag::integer_out_of_range, offset_, text_of(key));
    return otherwise;
  }
  return static_cast<int32_t>(*wide);
}

StringId SnapshotSchema::text(const Value& value, Word key) {
  if (is_text(value.tag)) return StringId{static_cast<size_t>(value.id)};
  if (value.tag != Tag::none) wrong_type(key);
  return {};
}

StringId SnapshotSchema::text_or_json(const Value& value) {
  if (is_text(value.tag) || value.tag == Tag::text) return StringId{static_cast<size_t>(value.id)};
  if (value.tag == Tag::none) return {};
  JsonWriter json;
  uint64_t depth = 0;
  write(json, value, depth);
  return intern(json.text());
}

StackId SnapshotSchema::stack(const Value& value, Word key) {
  switch (value.tag) {
    case Of::stack:
      return StackId{static_cast<size_t>(value.id)};
    case Tag::empty_list:
      return empty_stack();
    case Tag::none:
    case Tag::dropped:
      return {};
    default:
      wrong_type(key);
      return {};
  }
}

StackId SnapshotSchema::empty_stack() {
  if (empty_stack_.is_none()) {
    empty_stack_ = recording_.stacks.intern({});
    refused_ = refused_ || empty_stack_.is_none();
  }
  return empty_stack_;
}

StreamId SnapshotSchema::stream(const Value& value, Word key) {
  const auto handle = number(value, key);
  return handle ? stream_of(*handle) : StreamId{int16_t{0}};
}

StreamId SnapshotSchema::stream_of(int64_t handle) {
  if (handle != last_handle_) {
    last_handle_ = handle;
    last_stream_ = recording_.stream_of(handle);
  }
  return last_stream_;
}

PoolId SnapshotSchema::pool(const Value& value, Word key) {
  if (value.tag == Tag::none) return {};
  if (value.tag != Of::pair) {
    wrong_type(key);
    return {};
  }
  return pool_of(value);
}

PoolId SnapshotSchema::pool_of(const Value& pair) {
  int16_t& pool = pool_of_pair_[pair.id];
  if (pool < 0) {
    const auto id = [&](size_t i) { return static_cast<int64_t>(pairs_[2 * size_t{pair.id} + i].num); };
    pool = recording_.pool_of({id(0), id(1)}).value;
  }
  return PoolId{pool};
}

Value SnapshotSchema::pair_of(int64_t first, int64_t second) {
  return intern_pair(values::integer(first), values::integer(second));
}

trace::Action SnapshotSchema::known_action(const Value& value) {
  return is_text(value.tag) && value.id - kFirstAction < kKnownActions
             ? static_cast<trace::Action>(value.id - kFirstAction)
             : trace::Action::first_unknown;
}

trace::Action SnapshotSchema::action(const Value& value) {
  if (const trace::Action known = known_action(value); known != trace::Action::first_unknown) return known;
  recording_.diagnostics.add(Diag::unknown_action, offset_, view(value));
  std::vector<StringId>& known = recording_.unknown_actions;
  const StringId name{static_cast<size_t>(value.id)};
  auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end()) {
    if (known.size() == kMaxUnknownActions) {
      --found;  // beyond what fits the column: shown as the last one
    } else {
      known.push_back(name);
      found = known.end() - 1;
    }
  }
  return static_cast<trace::Action>(kKnownActions + static_cast<uint32_t>(found - known.begin()));
}

StringId SnapshotSchema::intern(std::string_view text) {
  const StringId id = recording_.strings.intern(text);
  refused_ = refused_ || id.is_none();
  return id;
}

Value SnapshotSchema::intern_pair(const Value& first, const Value& second) {
  const auto is = [&](int32_t row) {
    const Value& a = pairs_[2 * static_cast<size_t>(row)];
    const Value& b = pairs_[2 * static_cast<size_t>(row) + 1];
    return a.tag == first.tag && a.num == first.num && b.tag == second.tag && b.num == second.num;
  };
  const auto hash_of = [](const Value& a, const Value& b) {
    return mix_hash(mix_hash(a.num ^ static_cast<uint64_t>(a.tag)) + b.num + static_cast<uint64_t>(b.tag));
  };
  const auto slot_for = [&](Column<int32_t>& table, uint64_t hash, auto stop) {
    size_t slot = hash & (table.size() - 1);
    while (table[slot] >= 0 && !stop(table[slot])) slot = (slot + 1) & (table.size() - 1);
    return slot;
  };
  const size_t count = pool_of_pair_.size();
  if (count * 2 >= pair_table_.size()) {
    Column<int32_t> grown(recording_.budget);
    if (refuses(!grown.resize(pair_table_.empty() ? kFirstPairTable : pair_table_.size() * 2, -1))) return {};
    for (size_t i = 0; i < count; ++i) {
      const size_t slot =
          slot_for(grown, hash_of(pairs_[2 * i], pairs_[2 * i + 1]), [](int32_t) { return false; });
      grown[slot] = static_cast<int32_t>(i);
    }
    pair_table_ = std::move(grown);
  }
  const size_t slot = slot_for(pair_table_, hash_of(first, second), is);
  if (pair_table_[slot] < 0) {
    const Value both[2] = {first, second};
    if (!pool_of_pair_.push_back(-1) || !pairs_.append(both)) {
      pool_of_pair_.truncate(count);
      refused_ = true;
      return {};
    }
    pair_table_[slot] = static_cast<int32_t>(count);
  }
  return {Of::pair, static_cast<uint32_t>(pair_table_[slot]), 0};
}

// Of equal keys without a column the last one counts.
void SnapshotSchema::drop_shadowed() {
  if (unknown_.size() < 2) return;
  const auto less = [](const std::pair<Value, Value>& a, const std::pair<Value, Value>& b) {
    return std::tie(a.first.tag, a.first.id, a.first.num) < std::tie(b.first.tag, b.first.id, b.first.num);
  };
  const auto equal = [](const Value& a, const Value& b) {
    return a.tag == b.tag && a.id == b.id && a.num == b.num;
  };
  bool any = false;
  if (unknown_.size() <= 8) {
    for (size_t i = 1; i < unknown_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) any = any || equal(unknown_[i].first, unknown_[j].first);
    }
    if (!any) return;
  }
  // Keeps the order of the file: sort places, not pairs.
  std::vector<uint32_t> order(unknown_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return less(unknown_[a], unknown_[b]) || (!less(unknown_[b], unknown_[a]) && a < b);
  });
  std::vector<uint32_t> shadowed;
  for (size_t i = 1; i < order.size(); ++i) {
    if (equal(unknown_[order[i]].first, unknown_[order[i - 1]].first)) shadowed.push_back(order[i - 1]);
  }
  if (shadowed.empty()) return;
  recording_.diagnostics.add_many(Diag::duplicate_key, static_cast<int64_t>(shadowed.size()), offset_);
  std::sort(shadowed.begin(), shadowed.end());
  size_t kept = 0;
  size_t next = 0;
  for (size_t i = 0; i < unknown_.size(); ++i) {
    if (next < shadowed.size() && shadowed[next] == i) {
      ++next;
    } else {
      unknown_[kept++] = unknown_[i];
    }
  }
  unknown_.resize(kept);
}

// Keys that are no text are kept as what is written of them, and two of those may be one. False: out of memory.
bool SnapshotSchema::name_keys() {
  for (auto& [key, value] : unknown_) {
    StringId name{static_cast<size_t>(key.id)};
    if (!is_text(key.tag)) name = intern(key_text(key));
    if (name.is_none()) return false;
    key = {Tag::string, static_cast<uint32_t>(name.index()), 0};
  }
  drop_shadowed();
  return true;
}

void SnapshotSchema::add_extras(Owner owner, size_t row) {
  if (unknown_.empty() || !name_keys()) return;
  for (const auto& [key, value] : unknown_) {
    const StringId name{static_cast<size_t>(key.id)};
    const StringId text = extra_text(key, value);
    if (text.is_none()) return;
    if (word_of(key) < Word::category || word_of(key) == Word::kWords) {
      if (word_of(key) != Word::forward_frames) {
        recording_.diagnostics.add(Diag::unknown_key, offset_, recording_.strings.view(name));
      }
    }
    Column<uint32_t>& index = extras_by_owner_[static_cast<size_t>(owner)];
    const size_t extra = recording_.extras.size_rows();
    if (refuses(!recording_.extras.append({owner, static_cast<int32_t>(row), name, text}) ||
                !index.push_back(static_cast<uint32_t>(extra))))
      return;
  }
}

// Places in extras_by_owner_ of what belongs to `rows`.
std::pair<size_t, size_t> SnapshotSchema::extras_between(Owner owner, RowRange rows) const {
  const Column<uint32_t>& index = extras_by_owner_[static_cast<size_t>(owner)];
  const auto before = [&](uint32_t extra, int32_t row) { return recording_.extras.row[extra] < row; };
  const auto* first = std::lower_bound(index.begin(), index.end(), rows.first, before);
  const auto* end = std::lower_bound(first, index.end(), rows.end(), before);
  return {static_cast<size_t>(first - index.begin()), static_cast<size_t>(end - index.begin())};
}

}  // namespace gpustrata::io
