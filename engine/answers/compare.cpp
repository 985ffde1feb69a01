#include "engine/answers/compare.h"

#include <fmt/core.h>

#include "engine/answers/charged_json.h"
#include "engine/answers/top.h"

namespace memstrata::answers {

using analysis::BeforeAfter;

namespace {

void both_to_json(JsonWriter& json, std::string_view name, const BeforeAfter& both) {
  json.key(name);
  json.begin_object();
  json.member("before", both.before);
  json.member("after", both.after);
  json.member("growth", both.growth());
  json.end_object();
}

}  // namespace

Status to_json(JsonWriter& json, const analysis::Side& before, const analysis::Side& after,
               const analysis::Comparison& comparison) {
  ChargedJson charged(json, after.recording.budget);
  both_to_json(json, "requested_bytes", comparison.bytes);
  both_to_json(json, "blocks", comparison.blocks);
  json.member("groups_changed", comparison.changed);
  json.member("groups_unchanged", comparison.unchanged);
  json.key("rows");
  json.begin_array();
  for (const analysis::ComparedGroup& row : comparison.rows) {
    json.begin_object();
    both_to_json(json, "bytes", row.bytes);
    both_to_json(json, "blocks", row.blocks);
    group_to_json(json, (row.only_after ? after : before).recording, row.group, comparison.by);
    json.end_object();
    if (Status room = charged.check(); !room) return room;
  }
  json.end_array();
  json.key("other");
  json.begin_object();
  both_to_json(json, "bytes", comparison.other_bytes);
  both_to_json(json, "blocks", comparison.other_blocks);
  json.end_object();
  return {};
}

Status to_json(JsonWriter& json, const analysis::ComparedSegments& segments, Budget& budget) {
  ChargedJson charged(json, budget);
  const auto list = [&](std::string_view name, const Column<replay::SegmentAt>& all) -> Status {
    json.key(name);
    json.begin_array();
    for (const replay::SegmentAt& one : all) {
      json.begin_object();
      json.member("address", fmt::format("{:#x}", one.address));
      json.member("total_size", one.size);
      json.end_object();
      if (Status room = charged.check(); !room) return room;
    }
    json.end_array();
    return {};
  };
  json.begin_object();
  json.member("in_both", segments.in_both);
  json.member("in_both_bytes", segments.in_both_bytes);
  json.member("only_before_bytes", segments.only_before_bytes);
  json.member("only_after_bytes", segments.only_after_bytes);
  if (Status done = list("only_before", segments.only_before); !done) return done;
  if (Status done = list("only_after", segments.only_after); !done) return done;
  json.end_object();
  return {};
}

}  // namespace memstrata::answers
