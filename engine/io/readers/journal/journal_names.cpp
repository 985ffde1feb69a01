#include "engine/io/readers/journal/journal_names.h"

namespace gpustrata::io::journal {

bool Names::odd(int64_t offset) {
  recording_.diagnostics.add(model::Diag::wrong_type, offset, "a record of a journal");
  return true;
}

template <typename Id>
bool Names::set(Column<Id>& ids, int32_t id, Id meaning, int64_t offset) {
  if (meaning.is_none()) return false;
  if (id < 0 || static_cast<size_t>(id) > ids.size()) return odd(offset);
  if (static_cast<size_t>(id) == ids.size()) return ids.push_back(meaning);
  ids[id] = meaning;
  return true;
}

bool Names::add(const Records::Record& record, int64_t offset) {
  switch (record.head.kind) {
    case RecordKind::text: {
      const auto text = text_of(record);
      return text ? set(texts_, record.as<TextRecord>()->id, recording_.strings.intern(*text), offset)
                  : odd(offset);
    }
    case RecordKind::frame: {
      const auto frame = record.as<FrameRecord>();
      return frame ? add_frame(*frame, offset) : odd(offset);
    }
    case RecordKind::stack:
      return add_stack(record, offset);
    case RecordKind::fact: {
      const auto fact = record.as<FactRecord>();
      if (!fact) return odd(offset);
      const StringId key = text(fact->key, offset), value = text(fact->value, offset);
      if (key.is_none() || value.is_none()) return odd(offset);
      // A region begins with all of them again.
      for (Fact& known : facts_.span()) {
        if (known.key != key) continue;
        known.value = value;
        return true;
      }
      constexpr size_t kMostFacts = 256;
      return facts_.size() >= kMostFacts ? odd(offset) : facts_.push_back({key, value});
    }
    default:
      return true;
  }
}

bool Names::add_frame(const FrameRecord& frame, int64_t offset) {
  const StringId nothing = recording_.strings.intern("");
  if (nothing.is_none()) return false;
  const StringId name = text(frame.name, offset), filename = text(frame.filename, offset);
  const trace::Frame row{name.is_none() ? nothing : name, filename.is_none() ? nothing : filename, frame.line,
                         -1};
  return set(frames_, frame.id, recording_.frames.intern(row), offset);
}

bool Names::add_stack(const Records::Record& record, int64_t offset) {
  const auto frames = frames_of(record);
  if (!frames) return odd(offset);
  list_.clear();
  for (size_t at = 0; at < frames->size(); at += sizeof(int32_t)) {
    const FrameId frame = known(frames_, load<int32_t>(*frames, at), offset);
    if (!frame.is_none() && !list_.push_back(frame)) return false;
  }
  return set(stacks_, record.as<StackRecord>()->id, recording_.stacks.intern(list_.span()), offset);
}

StringId Names::fact(std::string_view key) const {
  for (const Fact& fact : facts_) {
    if (recording_.strings.view(fact.key) == key) return fact.value;
  }
  return {};
}

}  // namespace gpustrata::io::journal
