// Whole snapshots, users' containers around them, and what the pickle holds in the end.
#include <algorithm>

#include <fmt/core.h>

#include "engine/base/utf8.h"
#include "engine/io/limits.h"
#include "engine/io/readers/snapshot/snapshot_schema.h"

namespace gpustrata::io {

using model::DeviceTrace;
using model::Diag;
using model::Owner;
using model::Part;
using values::Value;

Value SnapshotSchema::snapshot(Pairs pairs) {
  Part made;
  unknown_.clear();
  const auto rows = [&](const Value& value, Tag list, Word key) {
    if (value.tag == list) return rows_of(value);
    if (value.tag != Tag::empty_list && value.tag != Tag::none) wrong_type(key);
    return RowRange{};
  };
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Value& value = pairs[i + 1];
    switch (const Word key = word_of(pairs[i])) {
      case Word::segments:
        made.segments = rows(value, Of::segment_list, key);
        break;
      case Word::device_traces:
        set_traces(made, value);
        break;
      case Word::allocator_settings: {
        // None, and what is written as None: something damaged, or a number that is none.
        const StringId text = extra_text(pairs[i], value);
        made.settings_json = recording_.strings.view(text) == "null" ? StringId{} : text;
        break;
      }
      case Word::external_annotations:
        made.annotations = rows(value, Of::annotation_list, key);
        break;
      case Word::host_segments:
        made.has_host = true;
        made.host_segments = rows(value, Of::segment_list, key);
        break;
      case Word::host_traces:
        made.has_host = true;
        made.host_events = rows(value, Of::event_list, key);
        break;
      default:
        keep(pairs[i], value);
    }
  }
  if (refused_ || !name_keys()) return {};
  const int32_t index = add_snapshot(std::move(made));
  if (index < 0) return {Tag::dropped, 0, 0};
  for (const auto& [key, value] : unknown_) {
    const StringId name{static_cast<size_t>(key.id)};
    const StringId text = extra_text(key, value);
    if (refused_ || !snapshot_extras_.push_back({index, name, text})) {
      refused_ = true;
      return {};
    }
    if (word_of(key) < Word::category || word_of(key) == Word::kWords) {
      recording_.diagnostics.add(Diag::unknown_key, offset_, recording_.strings.view(name));
    }
  }
  return {Of::snapshot, static_cast<uint32_t>(index), 0};
}

// -1 if there are too many.
int32_t SnapshotSchema::add_snapshot(Part made) {
  if (snapshots_.size() >= kMaxSnapshots) {
    note_cut();
    return -1;
  }
  snapshots_.push_back(std::move(made));
  next_snapshot_.push_back(-1);
  snapshot_taken_.push_back(0);
  return static_cast<int32_t>(snapshots_.size() - 1);
}

void SnapshotSchema::set_traces(Part& made, const Value& value) {
  made.traces.clear();
  switch (value.tag) {
    case Of::trace_list:
      for (size_t i = 0; i < value.num; ++i) {
        const Value list = trace_lists_[value.id + i];
        made.traces.push_back(
            {static_cast<int32_t>(i), list.tag == Of::event_list ? rows_of(list) : RowRange{}});
      }
      break;
    case Tag::empty_lists:
      for (size_t i = 0; i < std::min<uint64_t>(value.num, kMaxTraces); ++i) {
        made.traces.push_back({static_cast<int32_t>(i), {}});
      }
      break;
    case Of::event_list:  // flat: some imitators know one device only
      made.traces.push_back({0, rows_of(value)});
      break;
    case Tag::empty_list:
    case Tag::none:
      break;
    default:
      wrong_type(Word::device_traces);
  }
}

// Snapshots, or the bare list of segments of torch.cuda.memory_snapshot().
bool SnapshotSchema::holds_snapshots(const Value& value) const {
  return value.tag == Of::snapshot || value.tag == Of::wrapper || value.tag == Of::segment_list;
}

void SnapshotSchema::wrap(Wrapping& wrapping, std::string_view name, const Value& value) {
  Wrapping inner;
  if (value.tag == Of::wrapper) {
    if (std::exchange(wrappings_[value.id].taken, true)) return;  // referred to twice: the first name counts
    inner = wrappings_[value.id];
  } else {
    int32_t index = static_cast<int32_t>(value.id);
    if (value.tag == Of::segment_list) {
      Part bare;
      bare.segments = rows_of(value);
      index = refused_ ? -1 : add_snapshot(std::move(bare));
    }
    if (index < 0 || std::exchange(snapshot_taken_[static_cast<size_t>(index)], char{1}) != 0) return;
    inner.head = inner.tail = index;
  }
  if (inner.head < 0) return;
  if (inner.levels < kNamedLevels) {
    for (int32_t i = inner.head; i >= 0; i = next_snapshot_[static_cast<size_t>(i)]) {
      std::string& known = snapshots_[static_cast<size_t>(i)].name;
      // All of it is bounded, or it would be cut again when it is read again: of each name some is left.
      constexpr size_t kLeft = 40, kBeside = 4;  // the slash, and an ellipsis where it is cut
      if (known.empty()) {
        known = utf8::cut(name, kMaxNameBytes);
      } else {
        known = utf8::cut(known, kMaxNameBytes - kLeft - 2 * kBeside);
        known = fmt::format("{}/{}", utf8::cut(name, kMaxNameBytes - known.size() - kBeside), known);
      }
    }
  }
  if (wrapping.tail < 0) {
    wrapping.head = inner.head;
  } else {
    next_snapshot_[static_cast<size_t>(wrapping.tail)] = inner.head;
  }
  wrapping.tail = inner.tail;
  wrapping.levels = std::max(wrapping.levels, inner.levels + 1);
}

Value SnapshotSchema::wrapper_of_dict(Pairs pairs) {
  Wrapping wrapping;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (holds_snapshots(pairs[i + 1])) wrap(wrapping, key_text(pairs[i]), pairs[i + 1]);
  }
  return wrapped(wrapping);
}

Value SnapshotSchema::wrapper_of_list(std::span<const Value> items) {
  Wrapping wrapping;
  for (size_t i = 0; i < items.size(); ++i) {
    if (holds_snapshots(items[i])) wrap(wrapping, fmt::format("{}", i), items[i]);
  }
  return wrapped(wrapping);
}

Value SnapshotSchema::wrapped(const Wrapping& wrapping) {
  if (!wrappings_.push_back(wrapping)) {
    refused_ = true;
    return {};
  }
  return {Of::wrapper, static_cast<uint32_t>(wrappings_.size() - 1), 0};
}

// Of the facts that were written with it (journal_rows.cpp).
bool SnapshotSchema::is_open_journal(const SnapshotExtra& extra) const {
  return recording_.strings.view(extra.key) == "gpustrata" &&
         recording_.strings.view(extra.value).find("\"closed\":false") != std::string_view::npos;
}

// `json`: a boolean for all devices, or a list of booleans by device.
void SnapshotSchema::note_lost_oldest(Part& part, std::string_view json) {
  const bool is_list = json.starts_with('[');
  auto trace = part.traces.begin();
  for (int32_t device = 0; trace != part.traces.end(); ++device) {
    if (is_list) json.remove_prefix(std::min(json.find_first_not_of("[, "), json.size()));
    const bool lost = json.starts_with("true");
    if (!lost && !json.starts_with("false")) return;
    if (is_list) json.remove_prefix(lost ? 4 : 5);
    if (!is_list || trace->device == device) (trace++)->lost_oldest = lost;
  }
}

bool SnapshotSchema::publish(const Value& result, bool salvaged) {
  refused_ = false;
  std::vector<int32_t> found;
  if (result.tag == Of::snapshot) {
    found.push_back(static_cast<int32_t>(result.id));
  } else if (result.tag == Of::segment_list) {
    Part bare;
    bare.segments = rows_of(result);
    if (const int32_t index = refused_ ? -1 : add_snapshot(std::move(bare)); index >= 0)
      found.push_back(index);
  } else if (result.tag == Of::wrapper) {
    for (int32_t i = wrappings_[result.id].head; i >= 0; i = next_snapshot_[static_cast<size_t>(i)]) {
      found.push_back(i);
    }
  }
  int64_t rows = 0;
  for (const int32_t index : found) {
    const Part& made = snapshots_[static_cast<size_t>(index)];
    rows += made.segments.count + made.host_segments.count + made.host_events.count + made.annotations.count;
    for (const DeviceTrace& trace : made.traces) rows += trace.events.count;
  }
  if (salvaged ? rows == 0 : found.empty()) return false;  // nothing of it stays in the recording
  std::vector<int32_t> place(snapshots_.size(), -1);
  for (const int32_t index : found) {
    Part& made = snapshots_[static_cast<size_t>(index)];
    place[static_cast<size_t>(index)] = static_cast<int32_t>(recording_.parts.size());
    recording_.parts.push_back(std::move(made));
  }
  constexpr auto overflowed = static_cast<size_t>(Word::trace_alloc_overflowed);
  for (const int32_t index : found) {  // some builds write it among the settings
    Part& part = recording_.parts[static_cast<size_t>(place[static_cast<size_t>(index)])];
    const std::string_view settings = recording_.strings.view(part.settings_json);
    const size_t at = settings.find(kWordTexts[overflowed]);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = settings.substr(at + kWordTexts[overflowed].size());
    note_lost_oldest(part, rest.substr(std::min(rest.find_first_not_of("\": "), rest.size())));
  }
  for (const SnapshotExtra& extra : snapshot_extras_) {
    const int32_t row = place[static_cast<size_t>(extra.snapshot)];
    if (row >= 0 &&
        recording_.strings.view(extra.key) == kWordTexts[static_cast<size_t>(Word::gpustrata_damaged)] &&
        recording_.strings.view(extra.value) == "true")
      recording_.diagnostics.add(Diag::of_damaged, -1, "");
    if (row >= 0 && is_open_journal(extra)) recording_.parts[static_cast<size_t>(row)].is_open = true;
    if (row >= 0 && recording_.strings.view(extra.key) == kWordTexts[overflowed])
      note_lost_oldest(recording_.parts[static_cast<size_t>(row)], recording_.strings.view(extra.value));
    if (row >= 0 && !recording_.extras.append({Owner::part, row, extra.key, extra.value})) {
      recording_.diagnostics.add(Diag::budget_exhausted, -1,
                                 "no memory for an unknown field of the snapshot");
    }
  }
  return true;
}

std::string SnapshotSchema::description(const Value& result) const {
  switch (result.tag) {
    case Tag::none:
      return "nothing (None)";
    case Tag::boolean:
      return "a boolean";
    case Tag::integer:
    case Tag::big_integer:
    case Tag::huge_integer:
    case Tag::real:
      return "a number";
    case Tag::string:
    case Tag::bytes:
      return "a text";
    case Of::pair:
      return "two numbers";
    case Tag::empty_list:
      return "an empty list: nothing was recorded. A memory timeline of a run without memory events looks so";
    case Tag::empty_lists:
      return "a list of empty lists";
    case Tag::global:
    case Tag::object:
      return fmt::format("an object of {}",
                         recording_.strings.view(StringId{static_cast<size_t>(result.id)}));
    case Of::event_list:
    case Of::event_rows:
    case Of::trace_list:
      return "only events, without the dict of a snapshot";
    case Of::block_list:
    case Of::block_rows:
    case Of::segment_rows:
    case Of::history_list:
    case Of::history_rows:
    case Of::annotation_list:
    case Of::annotation_rows:
    case Of::frame:
    case Of::stack:
      return "only a piece of a snapshot";
    case Tag::text:
      break;
    default:
      return "something else";
  }
  const std::string_view text = recording_.strings.view(StringId{static_cast<size_t>(result.id)});
  if (!text.starts_with('{'))
    return fmt::format("a list of {} item{}", last_list_count_, last_list_count_ == 1 ? "" : "s");
  if (last_key_count_ == 0) return "an empty dict";
  std::string keys;
  for (size_t i = 0; i < last_keys_.size() && i < last_key_count_; ++i) {
    const std::string_view key = recording_.strings.view(last_keys_[i]);
    if (!keys.empty()) keys += ", ";
    keys += last_keys_[i].is_none() ? "(no text)"
            : key.size() <= 40      ? std::string(key)
                                    : std::string(key.substr(0, 40));
  }
  return fmt::format("a dict with the {} {}{}", last_key_count_ == 1 ? "key" : "keys", keys,
                     last_key_count_ > last_keys_.size()
                         ? fmt::format(" and {} more", last_key_count_ - last_keys_.size())
                         : std::string());
}

}  // namespace gpustrata::io
