// One event of a trace as it stands in the text: the members that mean something, nothing read yet.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/io/readers/trace/trace_text.h"

namespace gpustrata::io::traces {

// Members of `args` that are read: numbers of a memory record, texts of an op, the name of a thread.
struct Args {
  Value bytes, address, device_type, device_id, total_allocated, total_reserved, index;
  Value shapes, calls, module;
  Value name;
};

struct Event {
  Value phase;     // ph
  Value category;  // cat
  Value name, pid, tid;
  Value start;     // ts, microseconds
  Value duration;  // dur, microseconds
  bool has_args = false;
  Args args;
  bool repeats_keys = false;  // the last one counts
  bool odd_comma = false;     // a comma with nothing behind it
};

enum class Parsed : uint8_t { whole, ended, wrong };

// The event that begins at text[at]; `at` is behind it, or where it went wrong. `ended`: the text ends inside of it.
[[nodiscard]] Parsed parse_event(std::string_view text, size_t& at, Text::How how, Event& event);

}  // namespace gpustrata::io::traces
