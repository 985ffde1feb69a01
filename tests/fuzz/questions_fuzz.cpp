// Questions to an open file: every answer is a frame with an answer or an error in words.
//
// The input: questions one after another, separated by a zero byte; each is the JSON head of one, or, if it begins with
// "MSTQ", a whole frame. View 1 shows blocks, 2 pools, 3 segments.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "engine/session/frame.h"
#include "engine/session/session.h"

namespace {

using gpustrata::session::Bands;
using gpustrata::session::Session;

// A pool, an expandable segment, a stack, a request and its completion, and an oom: all in one device.
constexpr std::string_view kFile = R"({"segments":[
{"device":0,"address":4096,"total_size":8192,"stream":0,"segment_type":"small","segment_pool_id":[0,1],"blocks":[
{"address":4096,"size":1024,"requested_size":1000,"state":"active_allocated"},
{"address":5120,"size":7168,"requested_size":0,"state":"inactive"}]},
{"device":0,"address":1048576,"total_size":2097152,"stream":7,"segment_type":"large","is_expandable":true,"blocks":[
{"address":1048576,"size":2097152,"requested_size":2000000,"state":"active_pending_free"}]}],
"device_traces":[[
{"action":"segment_alloc","addr":4096,"size":8192,"stream":0,"time_us":1,"frames":[]},
{"action":"alloc","addr":4096,"size":1000,"stream":0,"time_us":2,"frames":[{"name":"forward","filename":"train.py","line":3}]},
{"action":"alloc","addr":5120,"size":512,"stream":0,"time_us":3,"frames":[]},
{"action":"free_requested","addr":5120,"size":512,"stream":0,"time_us":4,"frames":[]},
{"action":"snapshot","addr":0,"size":0,"stream":0,"time_us":5,"frames":[]},
{"action":"free_completed","addr":5120,"size":512,"stream":0,"time_us":6,"frames":[]},
{"action":"oom","addr":0,"size":999999,"stream":0,"time_us":7,"frames":[]},
{"action":"segment_map","addr":1048576,"size":2097152,"stream":7,"time_us":8,"frames":[]},
{"action":"alloc","addr":1048576,"size":2000000,"stream":7,"time_us":9,"frames":[]},
{"action":"free_requested","addr":1048576,"size":2000000,"stream":7,"time_us":10,"frames":[]}]],
"allocator_settings":{},"external_annotations":[]})";

[[noreturn]] void fail(const char* why) {
  std::fprintf(stderr, "questions_fuzz: %s\n", why);
  std::abort();
}

void open(Session& session) {
  for (size_t at = 0; at < kFile.size();) {
    const auto room = session.writable();
    const size_t count = std::min(room.size(), kFile.size() - at);
    std::memcpy(room.data(), kFile.data() + at, count);
    if (!session.commit(count)) fail("the file is refused");
    at += count;
  }
  if (!session.finish()) fail("the file is refused");
  for (const Bands bands : {Bands::blocks, Bands::pools, Bands::segments}) {
    if (!session.open_view(0, 0, bands)) fail("no view");
  }
}

std::string frame_of(std::string_view text) {
  if (text.starts_with("MSTQ")) return std::string(text);
  std::string frame;
  const auto length = static_cast<uint32_t>(text.size());
  for (const uint32_t number :
       {gpustrata::session::kQuestionMagic, gpustrata::session::kProtocolVersion, 1U, length, 0U, 0U})
    frame.append(reinterpret_cast<const char*>(&number), sizeof number);
  return frame.append(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Session session(int64_t{1} << 26);
  open(session);
  std::string_view input(reinterpret_cast<const char*>(data), size);
  for (int asked = 0; asked < 20 && !input.empty(); ++asked) {
    const size_t end = std::min(input.find('\0'), input.size());
    const std::string frame = frame_of(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
    const auto answer = session.ask(std::as_bytes(std::span(frame)));
    uint32_t numbers[6] = {};
    if (answer.size() < sizeof numbers) fail("an answer without a header");
    std::memcpy(numbers, answer.data(), sizeof numbers);
    if (answer.size() != sizeof numbers + numbers[3] + numbers[4]) fail("an answer of another length");
    const std::string_view head(reinterpret_cast<const char*>(answer.data()) + sizeof numbers, numbers[3]);
    if (!head.starts_with("{\"answer\":") && !head.starts_with("{\"error\":{\"code\":"))
      fail("neither answer nor error");
    if (head.starts_with("{\"error\":{\"code\":\"internal\"")) fail("an error of the engine's own");
  }
  return 0;
}
