// Two steps of a run on one device, small enough to work out every answer by hand.
//
//   event  time  what                                            blocks alive                level  reserved
//   0      100   a segment of 4096 bytes at 0x10000              -                               0      4096
//   1      110   A, 1000 bytes in 1024, by attend:10             A                            1000      4096
//   2      120   B, 512 bytes, by mlp:20                         A B                          1512      4096
//   3      130   a segment of 8192 bytes at 0x40000, stream 7    A B                          1512     12288
//   4      140   C, 2048 bytes of it, by mlp:20                  A B C                        3560     12288
//   5      150   A is asked to be freed                          A B C                        3560     12288
//   6      160   and is                                          B C                          2560     12288
//   7      170   D, 600 bytes where A was, by attend:11          B C D                        3160     12288
//
// Ranks: A 0, B 1, C 2, D 3. Step 0 begins with event 1, step 1 with event 3. Every stack ends in train.py:5.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/session/asking.h"

namespace gpustrata::session {

inline constexpr std::string_view kTrainingRun = R"({"segments":[
{"device":0,"address":65536,"total_size":4096,"stream":0,"blocks":[
{"address":65536,"size":1024,"requested_size":600,"state":"active_allocated"},
{"address":66560,"size":512,"requested_size":512,"state":"active_allocated"},
{"address":67072,"size":2560,"requested_size":0,"state":"inactive"}]},
{"device":0,"address":262144,"total_size":8192,"stream":7,"blocks":[
{"address":262144,"size":2048,"requested_size":2048,"state":"active_allocated"},
{"address":264192,"size":6144,"requested_size":0,"state":"inactive"}]}],
"device_traces":[[
{"action":"segment_alloc","addr":65536,"size":4096,"stream":0,"time_us":100,"frames":[]},
{"action":"alloc","addr":65536,"size":1000,"stream":0,"time_us":110,"frames":[
{"name":"attend","filename":"model.py","line":10},{"name":"step","filename":"train.py","line":5}]},
{"action":"alloc","addr":66560,"size":512,"stream":0,"time_us":120,"frames":[
{"name":"mlp","filename":"model.py","line":20},{"name":"step","filename":"train.py","line":5}]},
{"action":"segment_alloc","addr":262144,"size":8192,"stream":7,"time_us":130,"frames":[]},
{"action":"alloc","addr":262144,"size":2048,"stream":7,"time_us":140,"frames":[
{"name":"mlp","filename":"model.py","line":20},{"name":"step","filename":"train.py","line":5}]},
{"action":"free_requested","addr":65536,"size":1000,"stream":0,"time_us":150,"frames":[]},
{"action":"free_completed","addr":65536,"size":1000,"stream":0,"time_us":160,"frames":[]},
{"action":"alloc","addr":65536,"size":600,"stream":0,"time_us":170,"frames":[
{"name":"attend","filename":"model.py","line":11},{"name":"step","filename":"train.py","line":5}]}]],
"external_annotations":[
{"device":0,"name":"ProfilerStep#0","stage":"START","time_us":105},
{"device":0,"name":"ProfilerStep#0","stage":"END","time_us":125},
{"device":0,"name":"ProfilerStep#1","stage":"START","time_us":126},
{"device":0,"name":"ProfilerStep#1","stage":"END","time_us":180}]})";

// Asks of a view of its blocks.
class TrainingRun : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(read_bytes(session, kTrainingRun).has_value());
    view = session.open_view(0, 0, Bands::blocks).value_or(0);
    ASSERT_GT(view, 0);
  }
  [[nodiscard]] std::string ask(std::string_view name, std::string_view args) {
    return asked(session, name, view, args);
  }
  [[nodiscard]] AnswerOf frame_of(std::string_view name, std::string_view args) {
    return asked_frame(
        session, question_frame(R"({"ask":")" + std::string(name) + R"(","view":)" + std::to_string(view) +
                                R"(,"args":)" + std::string(args) + "}"));
  }

  Session session{int64_t{1} << 28};
  ViewId view = 0;
};

// Reads the columns of an answer one after another; each begins at a multiple of eight bytes.
class ColumnsInOrder {
 public:
  explicit ColumnsInOrder(const AnswerOf& answer) : answer_(answer) {}

  template <typename T>
  [[nodiscard]] std::vector<T> next(size_t count) {
    const size_t from = at_;
    at_ += (count * sizeof(T) + 7) / 8 * 8;
    return at_ <= answer_.columns.size() ? answer_.column<T>(from, count) : std::vector<T>();
  }
  [[nodiscard]] bool are_all_read() const { return at_ == answer_.columns.size(); }

 private:
  const AnswerOf& answer_;
  size_t at_ = 0;
};

}  // namespace gpustrata::session
