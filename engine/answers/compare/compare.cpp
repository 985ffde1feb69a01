#include "engine/answers/compare/compare.h"

#include <fmt/core.h>

#include "engine/answers/common/moment.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/compare/carried_stacks.h"
#include "engine/answers/live/top.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/text/printable.h"
#include "engine/base/saturating.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::DeviceComparison;
using analysis::Obstacle;

namespace {

// A stack of a thousand frames is written out at each of its parts: a small file can have gigabytes of them.
constexpr size_t kMostPartsText = size_t{64} << 20;

// A stack that either device has.
struct ComparedStack {
  int32_t device;
  StackId stack;
  const analysis::ComparedPart& part;
};
void describe(Members& m, const model::Recording& recording, const ComparedStack& one) {
  m.count("device", one.device);
  describe_stack(m, recording, one.stack);
  describe_both_sides(m, m.of(one.part));
  m.text("who", [&] { return who_or_none(recording, analysis::who_of(recording, one.stack)); });
}

// "Device 3 is only in the file before."
void only_devices_to_text(TextOut& out, std::span<const int32_t> devices, std::string_view where) {
  for (const int32_t device : devices) {
    std::string name = device_text(device);
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    out.print("\n  {} is only in the file {}.\n", name, where);
  }
}

}  // namespace

NamedBy named_by(const DeviceComparison& comparison, const analysis::ComparedPart& row) {
  const analysis::ComparedDevice& side = row.before < 0 ? comparison.after : comparison.before;
  return {side.recording, side.top.groups[row.before < 0 ? row.after : row.before]};
}

std::string to_text(const Obstacle& obstacle) {
  const std::string_view with = obstacle.before_has_it ? "before" : "after";
  const std::string_view without = obstacle.before_has_it ? "after" : "before";
  switch (obstacle.kind) {
    case Obstacle::Kind::history:
      return fmt::format(
          "Only the recording {} has a history; of the other one only the state when it was saved is known.",
          with);
    case Obstacle::Kind::stacks:
      return fmt::format("Only the recording {} has stacks: what belongs together cannot be told.", with);
    case Obstacle::Kind::stacks_of_live:
      return fmt::format(
          "What is alive {} has no stacks, though that recording has some: what belongs together cannot be told.",
          without);
    case Obstacle::Kind::untold_settings:
      return "Only one of the recordings tells the allocator's settings.";
    case Obstacle::Kind::other_settings:
      return "The allocator's settings differ: sizes and number of segments may, too.";
    case Obstacle::Kind::no_common_segment:
      break;
  }
  return "No segment is in both: these are recordings of two runs, or of two processes.";
}

void describe(Members& m, const DeviceComparison& comparison) {
  const analysis::ComparedDevice &before = comparison.before, &after = comparison.after;
  const analysis::Comparison& groups = comparison.groups;
  const analysis::ComparedSegments& segments = comparison.segments;
  const auto pair = [&](Name name, const auto& of) {
    m.object(name, [&] {
      m.number("before", [&] { return of(before); });
      m.number("after", [&] { return of(after); });
    });
  };
  const auto list = [&](Name name, const Column<replay::SegmentAt>& all) {
    m.list(name, all, [&](const replay::SegmentAt& one) {
      m.address("address", one.address);
      m.bytes("total_size", one.size);
    });
  };
  pair("device", [](const analysis::ComparedDevice& side) { return side.top.device; });
  pair({"event", "The state after it."}, [](const analysis::ComparedDevice& side) { return side.top.event; });
  pair("reserved_bytes", [](const analysis::ComparedDevice& side) { return side.memory.totals().reserved; });
  m.values(As::text, {"notes", "What may be wrong with the comparison."}, comparison.obstacles,
           [](const Obstacle& obstacle) { return to_text(obstacle); });
  describe_both(m, "requested_bytes", groups.bytes);
  describe_both(m, "blocks", groups.blocks);
  m.count("groups_changed", groups.changed);
  m.count("groups_unchanged", groups.unchanged);
  m.list("rows", groups.rows, [&](const analysis::ComparedPart& row) {
    describe_both(m, "bytes", row.bytes);
    describe_both(m, "blocks", row.blocks);
    if (m.is_schema())
      return describe_group(m, before.recording, Members::sample<analysis::TopGroup>(), groups.by);
    const NamedBy by = named_by(comparison, row);
    describe_group(m, by.recording, by.group, groups.by);
  });
  m.object("other", [&] {
    describe_both(m, "bytes", groups.other_bytes);
    describe_both(m, "blocks", groups.other_blocks);
  });
  m.object("segments", [&] {
    m.count("in_both", segments.in_both);
    m.bytes("in_both_bytes", segments.in_both_bytes);
    m.bytes("only_before_bytes", segments.only_before_bytes);
    m.bytes("only_after_bytes", segments.only_after_bytes);
    list("only_before", segments.only_before);
    list("only_after", segments.only_after);
  });
}

ComparisonAnswer::ComparisonAnswer(TextOut& out, Form form, size_t columns, size_t rows)
    : out_(out), columns_(columns), rows_(rows) {
  if (form == Form::json) json_.emplace(out.json());
}

void ComparisonAnswer::begin(std::string_view before, std::string_view after, std::string_view at) {
  if (!json_) return out_.print("{}\n{}\n", printable(before), printable(after));
  json_->begin_object();
  json_->member("before", before);
  json_->member("after", after);
  json_->member("at", at);
  json_->key("devices");
  json_->begin_array();
}

void ComparisonAnswer::add(const DeviceComparison& comparison) {
  if (json_) {
    to_json(*json_, comparison);
  } else {
    to_text(out_, comparison, columns_, rows_);
  }
}

void ComparisonAnswer::add_parts(const CarriedSide& before, const CarriedSide& after,
                                 const analysis::ComparedParts& parts, std::string_view at, bool is_beside) {
  if (!json_) {
    if (!is_beside) return;
    const int64_t growth = parts.bytes.growth();
    out_.print("\n  Peak of {}: {} before, {} after, {}{}; --at peak compares them.\n",
               device_text(before.device), size_text(parts.bytes.before), size_text(parts.bytes.after),
               growth < 0 ? "-" : "+", size_text(growth < 0 ? saturated_difference(0, growth) : growth));
    return;
  }
  parts_at_ = at;
  parts_bytes_ += parts.bytes;
  for (const analysis::ComparedPart& part : parts.parts) {
    if (parts_.size() >= kMostPartsText) {
      ++parts_left_out_;
      continue;
    }
    const CarriedSide& of = part.after < 0 ? before : after;
    const StackId stack =
        of.stacks.stacks[static_cast<size_t>(part.after < 0 ? part.before : part.after)].stack;
    to_json(parts_, of.recording, ComparedStack{after.device, stack, part});
  }
}

void ComparisonAnswer::end(std::span<const int32_t> only_before, std::span<const int32_t> only_after) {
  if (!json_) {
    only_devices_to_text(out_, only_before, "before");
    only_devices_to_text(out_, only_after, "after");
    return;
  }
  json_->end_array();
  json_->member("parts_at", parts_at_);
  json_->member("before_bytes", parts_bytes_.before);
  json_->member("after_bytes", parts_bytes_.after);
  json_->key("parts");
  json_->raw("[" + parts_.text() + "]");
  json_->member("parts_left_out", parts_left_out_);
  const auto devices = [&](std::string_view name, std::span<const int32_t> all) {
    json_->key(name);
    json_->begin_array();
    for (const int32_t device : all) json_->value(device);
    json_->end_array();
  };
  devices("devices_only_before", only_before);
  devices("devices_only_after", only_after);
  json_->end_object();
  out_.end_line(*json_);
}

}  // namespace gpustrata::answers
