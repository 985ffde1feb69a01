#include "engine/io/readers/trace/trace_event.h"

namespace gpustrata::io::traces {

namespace {

[[nodiscard]] Value* member_of(Event& event, std::string_view key) {
  switch (key.size()) {
    case 2:
      return key == "ph" ? &event.phase : key == "ts" ? &event.start : nullptr;
    case 3:
      return key == "cat"   ? &event.category
             : key == "pid" ? &event.pid
             : key == "tid" ? &event.tid
             : key == "dur" ? &event.duration
                            : nullptr;
    case 4:
      return key == "name" ? &event.name : nullptr;
    default:
      return nullptr;
  }
}

[[nodiscard]] Value* member_of(Args& args, std::string_view key) {
  switch (key.size()) {
    case 4:
      return key == "Addr" ? &args.address : key == "name" ? &args.name : nullptr;
    case 5:
      return key == "Bytes" ? &args.bytes : nullptr;
    case 6:
      return key == "Ev Idx" ? &args.index : nullptr;
    case 9:
      return key == "Device Id" ? &args.device_id : nullptr;
    case 10:
      return key == "Input Dims" || key == "Input dims" ? &args.shapes
             : key == "Call stack"                      ? &args.calls
                                                        : nullptr;
    case 11:
      return key == "Device Type" ? &args.device_type : nullptr;
    case 14:
      return key == "Total Reserved" ? &args.total_reserved : nullptr;
    case 15:
      return key == "Total Allocated" ? &args.total_allocated : nullptr;
    case 16:
      return key == "Module Hierarchy" ? &args.module : nullptr;
    case 20:
      return key == "Profiler Event Index" ? &args.index : nullptr;
    default:
      return nullptr;
  }
}

// The object of `args`. What is not quite an object counts up to where it goes wrong, if its brackets end.
[[nodiscard]] bool read_args(Text& text, Args& args) {
  args = {};
  if (text.next() == '{') {
    const Text begin = text;
    bool odd = false;
    if (each_member(text, odd, [&](std::string_view key, const Value& value) {
          if (Value* member = member_of(args, key)) *member = value;
        }))
      return true;
    text = begin;
  }
  Value skipped;
  return text.value(skipped);
}

}  // namespace

Parsed parse_event(std::string_view text, size_t& at, Text::How how, Event& event) {
  event = {};
  Text rest(text, at, how);
  const auto take = [&](std::string_view key, Text& value) {
    if (key == "args") {
      event.repeats_keys = event.repeats_keys || event.has_args;
      event.has_args = true;
      return read_args(value, event.args);
    }
    Value found;
    if (!value.value(found)) return false;
    if (Value* member = member_of(event, key)) {
      event.repeats_keys = event.repeats_keys || member->kind != Value::Kind::absent;
      *member = found;
    }
    return true;
  };
  const bool whole = each_key(rest, event.odd_comma, take);
  at = rest.place();
  return whole ? Parsed::whole : rest.ended() ? Parsed::ended : Parsed::wrong;
}

}  // namespace gpustrata::io::traces
