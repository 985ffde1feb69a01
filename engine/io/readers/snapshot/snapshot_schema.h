// What the containers of a snapshot's pickle mean: dicts become rows of tables, lists become stacks or
// ranges of rows, as soon as they are complete.
//
// A dict is known by its keys and the types of their values, wherever it stands: event (`action` with a
// number), frame (`filename`, `line`), segment (`blocks`), block (`state`), history entry (`real_size`),
// annotation
// (`stage`, `name`), snapshot (`segments` or `device_traces` that are lists of the right kind). Every other
// container becomes JSON text, or is a user's wrapper if snapshots are inside.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/json_writer.h"
#include "engine/io/limits.h"
#include "engine/io/readers/snapshot/snapshot_values.h"
#include "engine/io/readers/snapshot/snapshot_words.h"
#include "engine/io/values/schema.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

class SnapshotSchema final : public values::Schema {
 public:
  using Value = values::Value;
  using Tag = values::Tag;
  using Ending = values::Ending;
  using Pairs = std::span<const Value>;  // key value key value ...

  explicit SnapshotSchema(model::Recording& recording);
  SnapshotSchema(const SnapshotSchema&) = delete;
  SnapshotSchema& operator=(const SnapshotSchema&) = delete;
  ~SnapshotSchema() override;

  // False if memory was refused already; then nothing can be read.
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  void expect_bytes(int64_t total) { expected_ = total; }

  [[nodiscard]] Value finish_dict(Pairs pairs, const Ending& ending) override;
  [[nodiscard]] Value finish_list(std::span<const Value> items, const Ending& ending) override;
  [[nodiscard]] bool has_hex_numbers(std::string_view key) const override {
    return key == "addr" || key == "address" || key == "device_free";
  }

  using EventRow = model::EventTable::Row;
  // What EventEntries shares with finish_dict, so that both give the same rows and ids. `offset` is that of
  // the opcode that completes the event. False or none: memory was refused.
  [[nodiscard]] bool add_event(const EventRow& event, int64_t offset);
  [[nodiscard]] StreamId stream_of(int64_t handle);
  [[nodiscard]] PoolId pool_of(const Value& pair);
  [[nodiscard]] Value pair_of(int64_t first, int64_t second);
  [[nodiscard]] StackId empty_stack();
  // first_unknown if the value is no text, or not the name of an action this program knows.
  [[nodiscard]] static trace::Action known_action(const Value& value);
  [[nodiscard]] static Word word_of(const Value& key);

  // Makes the snapshots inside `result` those of the recording. False if there are none; of a salvaged pickle
  // also if they are empty.
  [[nodiscard]] bool publish(const Value& result, bool salvaged);
  // What the pickle holds, for a person: "a dict with the keys a, b and c".
  [[nodiscard]] std::string description(const Value& result) const;

 private:
  using RowRange = model::RowRange;
  // A list of rows that are not neighbours; `rows` once they were copied to be.
  struct ScatteredList {
    uint32_t first = 0;  // in ranges_
    uint32_t count = 0;  // 0 = copied
    RowRange rows;
  };
  // Snapshots inside a user's container: a chain through next_snapshot_, so that containers in containers
  // cost nothing.
  struct Wrapping {
    int32_t head = -1;
    int32_t tail = -1;
    uint32_t levels = 0;
    bool taken = false;
  };
  struct SnapshotExtra {
    int32_t snapshot;
    StringId key;
    StringId value;
  };

  // snapshot_file.cpp: made of a journal that its program did not end.
  [[nodiscard]] bool is_open_journal(const SnapshotExtra& extra) const;
  void note_lost_oldest(model::Part& part, std::string_view json);

  // snapshot_schema.cpp: kinds of lists and dicts.
  [[nodiscard]] Value kind_of_dict(Pairs pairs, const Ending& ending);
  [[nodiscard]] Value kind_of_list(std::span<const Value> items, const Ending& ending);
  [[nodiscard]] Value stack_of(std::span<const Value> items);
  [[nodiscard]] Value row_list(std::span<const Value> items, Tag rows);
  [[nodiscard]] Value trace_list(std::span<const Value> items);
  [[nodiscard]] RowRange rows_of(const Value& list);
  template <typename Table>
  [[nodiscard]] RowRange gather(Table& table, std::optional<model::Owner> owner,
                                std::span<const RowRange> ranges);

  // snapshot_rows.cpp: one dict, one row.
  [[nodiscard]] Value event(Pairs pairs);
  [[nodiscard]] Value frame(Pairs pairs);
  [[nodiscard]] Value block(Pairs pairs);
  [[nodiscard]] Value history_entry(Pairs pairs);
  [[nodiscard]] Value segment(Pairs pairs, bool partial);
  [[nodiscard]] Value annotation(Pairs pairs);
  void place_blocks(RowRange blocks, uint64_t address, std::optional<int64_t>& total, bool partial);
  void sort_blocks(RowRange blocks);
  [[nodiscard]] bool append_event(const EventRow& event);
  void reserve_events();
  [[nodiscard]] bool set_aside_for_replay();

  // snapshot_fields.cpp: values of fields. Empty or none: absent, or of the wrong type and counted.
  [[nodiscard]] const Value* find(Pairs pairs, Word key) const;
  [[nodiscard]] std::optional<Value> whole_number(const Value& value, Word key);
  [[nodiscard]] std::optional<uint64_t> address(const Value& value, Word key);
  [[nodiscard]] std::optional<int64_t> size(const Value& value, Word key);
  [[nodiscard]] std::optional<int64_t> number(const Value& value, Word key);
  [[nodiscard]] int32_t small_number(const Value& value, Word key, int32_t otherwise);
  [[nodiscard]] StringId text(const Value& value, Word key);
  [[nodiscard]] StringId text_or_json(const Value& value);
  [[nodiscard]] StackId stack(const Value& value, Word key);
  [[nodiscard]] StreamId stream(const Value& value, Word key);
  [[nodiscard]] PoolId pool(const Value& value, Word key);
  [[nodiscard]] trace::Action action(const Value& value);
  void wrong_type(Word key);
  void keep(const Value& key, const Value& value) { unknown_.emplace_back(key, value); }
  void add_extras(model::Owner owner, size_t row);
  // Remembers whether memory was refused, and tells it.
  [[nodiscard]] bool refuses(bool was_refused) {
    refused_ = refused_ || was_refused;
    return was_refused;
  }
  void drop_shadowed();
  [[nodiscard]] bool name_keys();
  [[nodiscard]] std::pair<size_t, size_t> extras_between(model::Owner owner, RowRange rows) const;
  [[nodiscard]] StringId intern(std::string_view text);

  // snapshot_text.cpp: unknown data as JSON text.
  // `only_texts`: what is no text is not told by one, since the dict would be a row when it is read again.
  [[nodiscard]] Value dict_text(Pairs pairs, bool cut, bool only_texts);
  [[nodiscard]] Value list_text(std::span<const Value> items, bool cut);
  [[nodiscard]] Value finished_text(const JsonWriter& json, uint64_t depth);
  [[nodiscard]] bool text_allowed();
  void write(JsonWriter& json, const Value& value, uint64_t& depth);
  void write_frame(JsonWriter& json, FrameId id);
  [[nodiscard]] std::string key_text(const Value& key) const;
  [[nodiscard]] StringId extra_text(const Value& key, const Value& value);
  void note_cut();

  // snapshot_file.cpp: snapshots, wrappers, the result.
  [[nodiscard]] Value snapshot(Pairs pairs);
  [[nodiscard]] int32_t add_snapshot(model::Part made);
  void set_traces(model::Part& made, const Value& value);
  [[nodiscard]] bool holds_snapshots(const Value& value) const;
  void wrap(Wrapping& wrapping, std::string_view name, const Value& value);
  [[nodiscard]] Value wrapper_of_dict(Pairs pairs);
  [[nodiscard]] Value wrapper_of_list(std::span<const Value> items);
  [[nodiscard]] Value wrapped(const Wrapping& wrapping);

  [[nodiscard]] std::string_view view(const Value& value) const {
    return recording_.strings.view(StringId{static_cast<size_t>(value.id)});
  }

  model::Recording& recording_;
  int64_t expected_ = 0;
  int64_t offset_ = 0;  // of the opcode at work
  bool is_ready_ = true;
  bool refused_ = false;  // memory, since the container at work was begun

  std::vector<FrameId> frame_ids_;                // scratch
  std::vector<RowRange> range_scratch_;           // scratch
  std::vector<std::pair<Value, Value>> unknown_;  // scratch: pairs of the dict at work without a column

  Column<Value> pairs_{recording_.budget};         // two values per pair
  Column<int32_t> pair_table_{recording_.budget};  // their hash table
  Column<int16_t> pool_of_pair_{recording_.budget};
  [[nodiscard]] Value intern_pair(const Value& first, const Value& second);
  Column<RowRange> ranges_{recording_.budget};
  Column<ScatteredList> scattered_{recording_.budget};
  Column<Value> trace_lists_{recording_.budget};
  Column<Wrapping> wrappings_{recording_.budget};
  // Rows of `extras` by owner, ascending in the owner's row.
  std::array<Column<uint32_t>, 5> extras_by_owner_;

  std::vector<model::Part> snapshots_;
  std::vector<int32_t> next_snapshot_;
  std::vector<char> snapshot_taken_;
  Column<SnapshotExtra> snapshot_extras_{recording_.budget};

  int64_t copied_rows_ = 0;  // asked for so far
  size_t owned_blocks_ = 0;  // blocks below belong to a segment
  size_t next_reserve_ = 0;
  size_t next_set_aside_ = kReplayStep;
  int64_t set_aside_ = 0;  // bytes of the budget, for the timeline of the events so far
  int64_t first_event_offset_ = -1;
  size_t first_event_row_ = 0;
  int64_t last_handle_ = 0;
  StreamId last_stream_{int16_t{0}};
  StackId empty_stack_;
  int64_t text_bytes_ = 0;               // JSON text produced so far
  std::array<StringId, 8> last_keys_{};  // of the generic dict finished last
  size_t last_key_count_ = 0;
  size_t last_list_count_ = 0;
};

}  // namespace gpustrata::io
