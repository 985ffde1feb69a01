// One event of a trace as it stands in the text: the members that mean something, nothing read yet.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/io/readers/trace_text.h"

namespace memstrata::io::traces {

struct Event {
  Value phase;     // ph
  Value category;  // cat
  Value name, pid, tid;
  Value start;     // ts, microseconds
  Value duration;  // dur, microseconds
  Value args;
  bool repeats_keys = false;  // the last one counts
  bool odd_comma = false;     // a comma with nothing behind it
};

enum class Parsed : uint8_t { whole, ended, wrong };

// The event that begins at text[at]; `at` is behind it, or where it went wrong. `ended`: the text ends inside of it.
[[nodiscard]] Parsed parse_event(std::string_view text, size_t& at, Text::How how, Event& event);

// `args` of a memory record. Numbers as they stand there.
struct RecordArgs {
  Value bytes, address, device_type, device_id, total_allocated, total_reserved, index;
};
void read_args(const Value& args, Text::How how, RecordArgs& found);

// `args` of an op.
struct OpArgs {
  Value shapes, calls, module;
};
void read_args(const Value& args, Text::How how, OpArgs& found);

// `args.name` of a "thread_name".
void read_args(const Value& args, Text::How how, Value& name);

}  // namespace memstrata::io::traces
