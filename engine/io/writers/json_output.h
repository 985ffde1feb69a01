// A stream of values as JSON text, with the calls of PickleOutput. JSON has no references: every stack is
// written out. Integers are exact; what is no finite number becomes null, what is no UTF-8 U+FFFD.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "engine/base/json_writer.h"
#include "engine/io/byte_sink.h"
#include "engine/io/readers/snapshot/snapshot_words.h"
#include "engine/io/writers/written_lists.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

class JsonOutput {
 public:
  static constexpr bool kShares = false;

  JsonOutput(const model::Recording& recording, ByteSink& sink, bool hex_addresses)
      : recording_(recording), sink_(sink), hex_addresses_(hex_addresses) {}
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;
  [[nodiscard]] Status begin() { return {}; }
  [[nodiscard]] Status end() {
    if (json_.finish()) status_ = sink_.write(bytes_of("\n"));
    return status_;
  }
  [[nodiscard]] bool failed() const { return !status_; }

  void begin_dict() { json_.begin_object(); }
  void key(Word word) { json_.key(kWordTexts[static_cast<size_t>(word)]); }
  void key(StringId text) { json_.key(recording_.strings.view(text)); }
  void key(std::string_view text) { json_.key(text); }
  void end_dict() { json_.end_object(); }
  void begin_list() { json_.begin_array(); }
  void item() {}
  void end_list() { json_.end_array(); }

  void value(int64_t number) { json_.value(number); }
  void address(uint64_t address) {
    if (hex_addresses_) {
      json_.value(fmt::format("{:#x}", address));
    } else {
      json_.value(address);
    }
  }
  void unsigned_value(uint64_t number) { json_.value(number); }
  void value(double number) { json_.value(number); }
  void value(bool flag) { json_.value(flag); }
  void none() { json_.null(); }
  void value(Word word) { json_.value(kWordTexts[static_cast<size_t>(word)]); }
  void value(StringId text) { json_.value(recording_.strings.view(text)); }
  void value(std::string_view text) { json_.value(text); }
  void value(trace::Action action) { json_.value(recording_.action_name(action)); }
  void value(PoolId pool) {
    const model::Pool& ids = recording_.pools[pool.index()];
    json_.begin_array();
    json_.value(static_cast<uint64_t>(ids.graph_id));
    json_.value(static_cast<uint64_t>(ids.user_id));
    json_.end_array();
  }

  template <typename... Shared>
  [[nodiscard]] bool refer(Shared...) const {
    return false;
  }
  [[nodiscard]] bool refer_json(StringId) const { return false; }
  template <typename... Shared>
  void remember(Shared...) {}
  void remember_json(StringId) {}
  [[nodiscard]] int32_t refer_frames(int32_t node) const { return node; }
  void row_done() {}

 private:
  const model::Recording& recording_;
  ByteSink& sink_;
  Status status_;
  JsonWriter json_{[this](std::string_view piece) {
    status_ = sink_.write(bytes_of(piece));
    return status_.has_value();
  }};
  bool hex_addresses_;
};

}  // namespace gpustrata::io
