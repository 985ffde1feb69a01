#include "engine/io/readers/trace_event.h"

namespace memstrata::io::traces {

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
      return key == "name" ? &event.name : key == "args" ? &event.args : nullptr;
    default:
      return nullptr;
  }
}

[[nodiscard]] Value* member_of(RecordArgs& args, std::string_view key) {
  return key == "Bytes"                                     ? &args.bytes
         : key == "Addr"                                    ? &args.address
         : key == "Device Type"                             ? &args.device_type
         : key == "Device Id"                               ? &args.device_id
         : key == "Total Allocated"                         ? &args.total_allocated
         : key == "Total Reserved"                          ? &args.total_reserved
         : key == "Ev Idx" || key == "Profiler Event Index" ? &args.index
                                                            : nullptr;
}

[[nodiscard]] Value* member_of(OpArgs& args, std::string_view key) {
  return key == "Input Dims" || key == "Input dims" ? &args.shapes
         : key == "Call stack"                      ? &args.calls
         : key == "Module Hierarchy"                ? &args.module
                                                    : nullptr;
}

[[nodiscard]] Value* member_of(Value& name, std::string_view key) { return key == "name" ? &name : nullptr; }

// What was walked over whole before is read again, so it cannot fail.
template <typename Args>
void read_members(const Value& args, Text::How how, Args& found) {
  if (args.kind != Value::Kind::container) return;
  Text text(args.text, 0, how);
  bool odd = false;
  (void)each_member(text, odd, [&](std::string_view key, const Value& value) {
    if (Value* member = member_of(found, key)) *member = value;
  });
}

}  // namespace

Parsed parse_event(std::string_view text, size_t& at, Text::How how, Event& event) {
  event = {};
  Text rest(text, at, how);
  const bool whole = each_member(rest, event.odd_comma, [&](std::string_view key, const Value& value) {
    Value* member = member_of(event, key);
    if (member == nullptr) return;
    event.repeats_keys = event.repeats_keys || member->kind != Value::Kind::absent;
    *member = value;
  });
  at = rest.place();
  return whole ? Parsed::whole : rest.ended() ? Parsed::ended : Parsed::wrong;
}

void read_args(const Value& args, Text::How how, RecordArgs& found) { read_members(args, how, found); }
void read_args(const Value& args, Text::How how, OpArgs& found) { read_members(args, how, found); }
void read_args(const Value& args, Text::How how, Value& name) { read_members(args, how, name); }

}  // namespace memstrata::io::traces
