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
  const model::Recording& recording;
  int32_t device;
  StackId stack;
  const analysis::ComparedPart& part;
};
void describe(Members& m, const ComparedStack& one) {
  const model::Recording& recording = one.recording;
  m.count("device", one.device);
  describe_stack(m, recording, one.stack);
  describe_both_sides(m, m.of(one.part));
  m.text("who", [&] { return who_or_none(recording, analysis::who_of(recording, one.stack)); });
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
      return fmt::format("Only the recording {} has stacks: the two cannot be matched.", with);
    case Obstacle::Kind::stacks_of_live:
      return fmt::format(
          "What is alive {} has no stacks, though that recording has some: the two cannot be matched.",
          without);
    case Obstacle::Kind::untold_settings:
      return "Only one of the recordings tells the allocator's settings.";
    case Obstacle::Kind::other_settings:
      return "The allocator's settings differ: sizes and number of segments may, too.";
    case Obstacle::Kind::two_runs:
      break;
  }
  return "Nothing shows that these come from one run: addresses of two processes are unrelated, and "
         "are not compared.";
}

void describe(Members& m, const DeviceComparison& comparison) {
  const analysis::ComparedDevice &before = comparison.before, &after = comparison.after;
  const analysis::Comparison& groups = comparison.groups;
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
  m.object({"segments", "Null of two runs, whose addresses have nothing in common."}, comparison.segments,
           [&](const analysis::ComparedSegments& segments) {
             m.count("in_both", segments.in_both);
             m.bytes("in_both_bytes", segments.in_both_bytes);
             m.bytes("only_before_bytes", segments.only_before_bytes);
             m.bytes("only_after_bytes", segments.only_after_bytes);
             list("only_before", segments.only_before);
             list("only_after", segments.only_after);
           });
}

void AllParts::add(const Side& before, const Side& after, const analysis::ComparedParts& parts) {
  bytes_ += parts.bytes;
  for (const analysis::ComparedPart& part : parts.parts) {
    if (entries_.size() >= kMostPartsText) {
      ++left_out_;
      continue;
    }
    const Side& of = part.after < 0 ? before : after;
    const StackId stack =
        of.stacks.stacks[static_cast<size_t>(part.after < 0 ? part.before : part.after)].stack;
    to_json(entries_, ComparedStack{of.recording, after.device, stack, part});
  }
}

void describe_parts(Members& m, const AllParts& parts) {
  m.bytes("before_bytes", parts.bytes_.before);
  m.bytes("after_bytes", parts.bytes_.after);
  const auto write = [&](JsonWriter& json) { json.raw("[" + parts.entries_.text() + "]"); };
  m.written({"parts", "Stack by stack, what grew most first: they add up to the two sums."},
            std::span<const ComparedStack>(), write);
  m.count("parts_left_out", parts.left_out_);
}

void peaks_to_text(TextOut& out, int32_t device, const analysis::BeforeAfter& peaks) {
  const int64_t growth = peaks.growth();
  out.print("\n  Peak of {}: {} before, {} after, {}{}; --at peak compares them.\n", device_text(device),
            size_text(peaks.before), size_text(peaks.after), growth < 0 ? "-" : "+",
            size_text(growth < 0 ? saturated_difference(0, growth) : growth));
}

void describe(Members& m, const ComparisonLine& line) {
  m.line({"compare --json", "What grew between two recordings."});
  m.text("before", line.before);
  m.text("after", line.after);
  describe_damage(m, line.damaged);
  m.text({"at", "The moment, as it was asked for."}, line.at);
  m.each<DeviceComparison>("devices", line.devices, [&](const DeviceComparison& one) { describe(m, one); });
  m.text({"parts_at", "The moment of what follows."}, line.parts_at);
  describe_parts(m, m.of(line.parts));
  const auto devices = [&](Name name, std::span<const int32_t> all) {
    m.values(As::count, name, all, [](int32_t device) { return device; });
  };
  devices("devices_only_before", line.only_before);
  devices("devices_only_after", line.only_after);
}

void only_devices_to_text(TextOut& out, std::span<const int32_t> only_before,
                          std::span<const int32_t> only_after) {
  const auto lines = [&](std::span<const int32_t> devices, std::string_view where) {
    for (const int32_t device : devices) {
      std::string name = device_text(device);
      name[0] = static_cast<char>(name[0] - 'a' + 'A');
      out.print("\n  {} is only in the file {}.\n", name, where);
    }
  };
  lines(only_before, "before");
  lines(only_after, "after");
}

}  // namespace gpustrata::answers
