#include "engine/io/writers/memory_tracker.h"

#include <charconv>
#include <cstring>
#include <string>

#include "engine/base/utf8.h"
#include "engine/io/readers/series/memory_tracker.h"

namespace gpustrata::io {

namespace {

using model::RowRange;

constexpr int32_t kBatch = 1000;  // of items under one MARK, as Python's pickler has it

class TrackerPickle {
 public:
  TrackerPickle(const model::Recording& recording, ByteSink& sink)
      : rec_(recording), sink_(sink), slots_(recording.budget) {}

  // False: the budget refuses.
  [[nodiscard]] bool begin() {
    bytes_ = "\x80\x04}(";
    return slots_.resize(rec_.strings.size(), 0);
  }
  void text(std::string_view raw) {
    const std::string text = utf8::sanitized(raw);
    if (text.size() < 256) {
      bytes_ += '\x8c';
      bytes_ += static_cast<char>(text.size());
    } else {
      bytes_ += 'X';
      little(text.size(), 4);
    }
    bytes_ += text;
  }
  // Once, then by its place in the memo.
  void text(StringId id) {
    if (id.is_none()) return text(std::string_view{});
    uint32_t& slot = slots_[id];
    if (slot == 0) {
      text(rec_.strings.view(id));
      bytes_ += '\x94';  // MEMOIZE
      slot = ++memo_;
      return;
    }
    bytes_ += slot <= 256 ? 'h' : 'j';  // BINGET, LONG_BINGET
    little(slot - 1, slot <= 256 ? 1 : 4);
  }
  void integer(int64_t number) {
    if (number >= 0 && number < 256) {
      bytes_ += 'K';
      little(static_cast<uint64_t>(number), 1);
    } else if (number >= INT32_MIN && number <= INT32_MAX) {
      bytes_ += 'J';
      little(static_cast<uint64_t>(number), 4);
    } else {
      bytes_ += "\x8a\x08";  // LONG1
      little(static_cast<uint64_t>(number), 8);
    }
  }
  void real(double number) {
    uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    bytes_ += 'G';
    for (int shift = 56; shift >= 0; shift -= 8) bytes_ += static_cast<char>(bits >> shift & 0xFF);
  }
  void opcodes(std::string_view plain) {
    bytes_ += plain;
    flush(kSinkPiece);
  }
  // collections.defaultdict(), or of int.
  void begin_table(bool of_int) {
    text("collections");
    text("defaultdict");
    bytes_ += '\x93';  // STACK_GLOBAL
    if (of_int) {
      text("builtins");
      text("int");
      bytes_ += "\x93\x85R";  // TUPLE1, REDUCE
    } else {
      bytes_ += ")R";
    }
    in_batch_ = 0;
  }
  void item() {
    if (in_batch_ == kBatch) opcodes("u");
    if (in_batch_ == kBatch) in_batch_ = 0;
    if (in_batch_++ == 0) bytes_ += '(';
  }
  void end_table() {
    if (in_batch_ > 0) opcodes("u");
  }
  [[nodiscard]] Status end() {
    bytes_ += "u.";
    flush(0);
    return status_;
  }
  [[nodiscard]] bool failed() const { return !status_; }

 private:
  void little(uint64_t number, int count) {
    for (int i = 0; i < count; ++i) bytes_ += static_cast<char>(number >> (8 * i) & 0xFF);
  }
  void flush(size_t beyond) {
    if (bytes_.size() <= beyond || !status_) return;
    status_ = sink_.write(bytes_of(bytes_));
    bytes_.clear();
  }

  const model::Recording& rec_;
  ByteSink& sink_;
  std::string bytes_;
  Column<uint32_t> slots_;  // of the memo + 1, by text; 0 = not written yet
  uint32_t memo_ = 0;
  int32_t in_batch_ = 0;
  Status status_;
};

[[nodiscard]] RowRange points_of(const model::Recording& recording, const model::Part& part,
                                 std::string_view name) {
  for (int32_t row = part.series.first; row < part.series.end(); ++row) {
    if (recording.strings.view(recording.series.name[row]) == name) return recording.series.points[row];
  }
  return {};
}

[[nodiscard]] int64_t retries_of(const model::Recording& recording, const model::Part& part) {
  const RowRange extras =
      recording.extras_of(model::Owner::part, static_cast<int32_t>(&part - recording.parts.data()));
  int64_t number = 0;
  for (int32_t row = extras.first; row < extras.end(); ++row) {
    if (recording.strings.view(recording.extras.key[row]) != kTrackerRetries) continue;
    const std::string_view text = recording.strings.view(recording.extras.value[row]);
    (void)std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

}  // namespace

Status write_memory_tracker(const model::Recording& recording, const model::Part& part, ByteSink& sink) {
  TrackerPickle pickle(recording, sink);
  if (!pickle.begin()) return fail(ErrorCode::limit_exceeded, -1, "no memory for the texts of the pickle");
  const model::PointTable& points = recording.points;
  const RowRange names = points_of(recording, part, kTrackerSeries[0]);  // which have the labels
  for (size_t i = 0; i < std::size(kTrackerTables); ++i) {
    pickle.text(kTrackerTables[i]);
    pickle.begin_table(false);
    const RowRange rows = points_of(recording, part, kTrackerSeries[i]);
    int32_t name = names.first;
    for (int32_t row = rows.first; row < rows.end() && !pickle.failed(); ++row) {
      while (name < names.end() && points.time[name] < points.time[row]) ++name;
      const bool is_named = name < names.end() && points.time[name] == points.time[row];
      pickle.item();
      pickle.integer(points.time[row]);
      pickle.text(is_named ? points.label[name] : StringId{});
      pickle.real(static_cast<double>(points.value[row]) / 1048576.0);
      pickle.opcodes("\x86");  // TUPLE2
    }
    pickle.end_table();
  }
  pickle.text(kTrackerMarkers);
  pickle.begin_table(true);
  const RowRange marks = points_of(recording, part, kTrackerMarkers);
  for (int32_t row = marks.first; row < marks.end(); ++row) {
    pickle.item();
    pickle.text(points.label[row]);
    pickle.integer(points.time[row]);
  }
  pickle.end_table();
  pickle.text(kTrackerRetries);
  pickle.integer(retries_of(recording, part));
  return pickle.end();
}

}  // namespace gpustrata::io
