// Unknown data as JSON text: bounded in length, depth and sum.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "engine/io/encodings/json/text_values.h"
#include "engine/io/limits.h"
#include "engine/io/readers/snapshot/snapshot_schema.h"
#include "engine/io/values/numbers.h"

namespace gpustrata::io {

using model::Diag;
using values::Value;

namespace {

constexpr std::string_view kCut = "\"\xE2\x80\xA6\"";  // an ellipsis as JSON text

[[nodiscard]] bool is_full(const JsonWriter& json) { return json.text().size() > kMaxTextBytes; }

// The beginning of a text, whole code points.
[[nodiscard]] std::string_view beginning(std::string_view text, size_t length) {
  if (text.size() <= length) return text;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return text.substr(0, length);
}

// The texts in JSON that `write` wrote, one after the other.
struct Joined : NoOutput {
  using NoOutput::value;
  void value(std::string_view more) { text += more; }

  std::string text;
};
[[nodiscard]] std::string joined(std::string_view json) {
  Joined output;
  (void)JsonValues<Joined>(json, output).run();
  return std::move(output.text);
}

}  // namespace

void SnapshotSchema::note_cut() { recording_.diagnostics.add(Diag::text_cut, offset_); }

bool SnapshotSchema::text_allowed() {
  if (text_bytes_ <= kFreeTextBytes + offset_ * kTextBytesPerInputByte) return true;
  note_cut();
  return false;
}

void SnapshotSchema::write_frame(JsonWriter& json, FrameId id) {
  const trace::Frame& frame = recording_.frames[id];
  const auto view_of = [&](StringId text) { return beginning(recording_.strings.view(text), kMaxTextBytes); };
  json.begin_object();
  json.member("name", view_of(frame.name));
  json.member("filename", view_of(frame.filename));
  json.member("line", frame.line);
  json.end_object();
}

// `depth` becomes the largest depth of what was written.
void SnapshotSchema::write(JsonWriter& json, const Value& value, uint64_t& depth) {
  const size_t used = json.text().size();
  const size_t left = used < kMaxTextBytes ? kMaxTextBytes - used : 0;
  const auto rows = [&](std::string_view what) {  // of a table that is elsewhere than it belongs
    note_cut();
    json.value(what);
  };
  switch (value.tag) {
    case Tag::boolean:
      return json.value(value.num != 0);
    case Tag::integer:
      return json.value(static_cast<int64_t>(value.num));
    case Tag::big_integer:
      return json.value(value.num);
    case Tag::huge_integer:
      return json.value(fmt::format("<a number of {} bytes>", value.num));
    case Tag::real:
      return json.value(values::double_of(value));
    case Tag::string:
    case Tag::bytes: {
      const std::string_view text = view(value);
      const std::string_view kept = beginning(text, left);
      if (kept.size() == text.size()) return json.value(text);
      note_cut();
      std::string cut(kept);
      cut += "\xE2\x80\xA6";
      return json.value(cut);
    }
    case Tag::text: {
      const std::string_view text = view(value);
      if (value.num >= kMaxTextDepth || text.size() > left) {
        note_cut();
        return json.raw(kCut);
      }
      depth = std::max(depth, value.num);
      return json.raw(text);
    }
    case Of::frame:
      depth = std::max<uint64_t>(depth, 1);
      return write_frame(json, FrameId{static_cast<size_t>(value.id)});
    case Of::stack: {
      depth = std::max<uint64_t>(depth, 2);
      json.begin_array();
      int32_t node = recording_.stacks.leaf(StackId{static_cast<size_t>(value.id)});
      for (; node >= 0; node = recording_.stacks.node(node).caller) {
        if (is_full(json)) {
          note_cut();
          json.raw(kCut);
          break;
        }
        write_frame(json, recording_.stacks.node(node).frame);
      }
      return json.end_array();
    }
    case Of::pair:
      depth = std::max<uint64_t>(depth, 1);
      json.begin_array();
      write(json, pairs_[2 * size_t{value.id}], depth);
      write(json, pairs_[2 * size_t{value.id} + 1], depth);
      return json.end_array();
    case Tag::empty_list:
      depth = std::max<uint64_t>(depth, 1);
      return json.raw("[]");
    case Tag::empty_lists:
      depth = std::max<uint64_t>(depth, 2);
      json.begin_array();
      for (uint64_t i = 0; i < value.num; ++i) {
        if (is_full(json)) {
          note_cut();
          json.raw(kCut);
          break;
        }
        json.raw("[]");
      }
      return json.end_array();
    case Tag::global:
    case Tag::object:
      return json.value(fmt::format("<{}>", beginning(view(value), kMaxTextBytes)));
    case Tag::none:
    case Tag::dropped:
    case Tag::undefined:
      return json.null();
    case Of::event_rows:
    case Of::event_list:
    case Of::trace_list:
      return rows("<events>");
    case Of::block_rows:
    case Of::block_list:
      return rows("<blocks>");
    case Of::segment_rows:
    case Of::segment_list:
      return rows("<segments>");
    case Of::history_rows:
    case Of::history_list:
      return rows("<history>");
    case Of::annotation_rows:
    case Of::annotation_list:
      return rows("<annotations>");
    default:
      return rows("<snapshot>");
  }
}

// A key that is no text is told by its JSON text, as Python's json module does for numbers.
std::string SnapshotSchema::key_text(const Value& key) const {
  if (is_text(key.tag) || key.tag == Tag::text) return std::string(beginning(view(key), kMaxTextBytes));
  switch (key.tag) {
    case Tag::integer:
      return fmt::format("{}", static_cast<int64_t>(key.num));
    case Tag::big_integer:
      return fmt::format("{}", key.num);
    case Tag::boolean:
      return key.num != 0 ? "true" : "false";
    case Tag::real:
      return fmt::format("{}", values::double_of(key));
    case Tag::none:
      return "null";
    case Of::pair: {
      const auto part = [&](size_t i) { return key_text(pairs_[2 * size_t{key.id} + i]); };
      return fmt::format("[{},{}]", part(0), part(1));
    }
    default:
      return "?";
  }
}

Value SnapshotSchema::finished_text(const JsonWriter& json, uint64_t depth) {
  text_bytes_ += static_cast<int64_t>(json.text().size());
  const StringId id = intern(json.text());
  return {Tag::text, static_cast<uint32_t>(id.value), depth};
}

Value SnapshotSchema::dict_text(Pairs pairs, bool cut, bool only_texts) {
  unknown_.clear();
  for (size_t i = 0; i < pairs.size(); i += 2) keep(pairs[i], pairs[i + 1]);
  drop_shadowed();
  last_key_count_ = unknown_.size();
  for (size_t i = 0; i < last_keys_.size() && i < unknown_.size(); ++i) {
    const Value& key = unknown_[i].first;
    last_keys_[i] = is_text(key.tag) ? StringId{static_cast<size_t>(key.id)} : StringId{};
  }
  JsonWriter json;
  uint64_t depth = 0;
  json.begin_object();
  const bool allowed = text_allowed();
  const bool may_repeat = std::any_of(unknown_.begin(), unknown_.end(),
                                      [](const auto& pair) { return !is_text(pair.first.tag); });
  std::set<std::string, std::less<>> told;  // keys that are no texts may be told alike
  for (const auto& [key, value] : unknown_) {
    if (!allowed || is_full(json)) {
      cut = true;
      break;
    }
    const std::string name = key_text(key);
    if (may_repeat && !told.insert(name).second) {
      recording_.diagnostics.add(Diag::duplicate_key, offset_, name);
      continue;
    }
    json.key(name);
    if (only_texts && is_told_by_text(value.tag)) {
      note_cut();
      json.null();
    } else {
      write(json, value, depth);
    }
  }
  if (cut) {
    note_cut();
    json.key("\xE2\x80\xA6");
    json.raw(kCut);
  }
  json.end_object();
  return finished_text(json, depth + 1);
}

Value SnapshotSchema::list_text(std::span<const Value> items, bool cut) {
  last_list_count_ = items.size();
  JsonWriter json;
  uint64_t depth = 0;
  json.begin_array();
  const bool allowed = text_allowed();
  for (const Value& item : items) {
    if (!allowed || is_full(json)) {
      cut = true;
      break;
    }
    write(json, item, depth);
  }
  if (cut) {
    note_cut();
    json.raw(kCut);
  }
  json.end_array();
  return finished_text(json, depth + 1);
}

// The text under which a pair without a column is kept.
StringId SnapshotSchema::extra_text(const Value& key, const Value& value) {
  if (word_of(key) == Word::forward_frames) {  // pieces of a formatted stack: joined, not JSON
    if (is_text(value.tag)) return StringId{static_cast<size_t>(value.id)};
    if (value.tag == Tag::text) return intern(joined(view(value)));
  }
  if (value.tag == Tag::text) return StringId{static_cast<size_t>(value.id)};
  // A text under one of these would make another kind of row of it when it is read again.
  const Word word = word_of(key);
  const bool tells_kind = word == Word::action || word == Word::name || word == Word::filename ||
                          word == Word::state || word == Word::stage;
  if (tells_kind && is_told_by_text(value.tag)) {
    note_cut();
    return intern("null");
  }
  if (!text_allowed()) return intern(kCut);
  JsonWriter json;
  uint64_t depth = 0;
  write(json, value, depth);
  text_bytes_ += static_cast<int64_t>(json.text().size());
  return intern(json.text());
}

}  // namespace gpustrata::io
