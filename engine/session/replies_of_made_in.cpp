// A snapshot and a trace of one run are two sessions: the snapshot's tells its allocations, the trace's the ops in which they
// were made, and the snapshot's is told these.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "engine/answers/details/timeline_view.h"
#include "engine/answers/ops/span_lanes.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

namespace {

constexpr size_t kMostAllocations = 16'384;    // of an answer; arguments may have 20,000
constexpr double kExact = 9007199254740992.0;  // 2^53
constexpr double kFarthest = 9e15;             // microseconds whose nanoseconds are within 64 bits
constexpr int32_t kNone = -1, kSeveral = -2, kOutside = -3;

[[nodiscard]] std::optional<uint64_t> address_of(double number) {
  if (!(number >= 0 && number < kExact)) return std::nullopt;
  return static_cast<uint64_t>(number);
}

[[nodiscard]] int32_t node_of(const analysis::OpPaths& paths, const replay::OpFinder::Found& found) {
  using How = replay::OpFinder::How;
  if (found.how == How::several_threads) return kSeveral;
  if (found.how == How::outside) return kOutside;
  return found.op < 0 ? kNone : paths.of(found.op);
}

Status allocations(Asked& asked) {
  const Device& device = asked.view->device();
  const model::Recording& recording = device.recording();
  const model::RowRange rows = device.lives().events;
  std::vector<answers::ShownAllocation> found;
  int32_t event = std::max(asked.arguments.integer("from"), 0);
  for (; event < rows.count && found.size() < kMostAllocations; ++event) {
    const auto row = static_cast<size_t>(rows.first + event);
    if (recording.events.action[row] != trace::Action::alloc) continue;
    const auto time = device.lives().clock.microseconds(recording.events.time[row]);
    const uint64_t address = recording.events.address[row];
    found.push_back({event, time ? static_cast<double>(*time) : std::numeric_limits<double>::quiet_NaN(),
                     address < static_cast<uint64_t>(kExact) ? static_cast<double>(address) : -1});
  }
  answers::to_columns(asked.json(), asked.answer, answers::Allocations{event, found});
  return {};
}

Status ops_of(Asked& asked) {
  const Arguments& given = asked.arguments;
  const std::vector<double> times = given.reals("times"), addresses = given.reals("addresses");
  if (times.size() != addresses.size())
    return fail(ErrorCode::wrong_usage, -1, "`times` and `addresses` must have the same length");
  const auto finder = asked.view->device().op_finder();
  if (!finder) return tl::unexpected(finder.error());
  const auto paths = asked.view->device().op_paths();
  if (!paths) return tl::unexpected(paths.error());
  std::vector<int32_t> nodes(times.size(), kOutside);
  for (size_t i = 0; i < times.size(); ++i) {
    if (!(times[i] > -kFarthest && times[i] < kFarthest)) continue;
    const auto ns = static_cast<int64_t>(times[i]) * 1000;
    nodes[i] = node_of(**paths, (*finder)->find(given.integer("device"), address_of(addresses[i]), ns));
  }
  answers::to_columns(asked.json(), asked.answer, answers::AllocationOps{nodes});
  return {};
}

Status op_paths(Asked& asked) {
  const auto found = asked.view->device().op_paths();
  if (!found) return tl::unexpected(found.error());
  const analysis::OpPaths& paths = **found;
  std::vector<answers::ShownOpPath> shown;
  for (const int32_t node : asked.arguments.integers("nodes")) {
    if (node >= paths.count()) return fail(ErrorCode::wrong_usage, -1, "there is no node {}", node);
    shown.push_back({paths.name(node), paths.parent(node), paths.is_op(node)});
  }
  answers::to_columns(asked.json(), asked.answer, answers::ShownOpPaths{asked.session.recording(), shown});
  return {};
}

Status tell_made_in(Asked& asked) {
  const Arguments& given = asked.arguments;
  const Device::MadeInPart part{given.integers("parents"), given.texts("names"), given.integers("ops"),
                                given.integers("events"), given.integers("nodes")};
  const auto count = asked.session.tell_made_in(asked.view_id, part, given.flag("anew"));
  if (!count) return tl::unexpected(count.error());
  asked.json().value(*count);
  return {};
}

// clang-format off
constexpr Question kOfMadeIn[] = {
    // A snapshot and a trace of one run, each in a session of its own. Of a snapshot: allocations from an event on, at most
    // 16,384, and the event to go on from.
    {"allocations", Of::view, "from: Event", "Allocations", allocations},
    // Of a trace: the nodes of its paths of ops that allocations of a device were made in (engine/replay/op_finder.h): -1 = in
    // no op, -2 = in one of several threads, -3 = outside of the trace. `times`: microseconds since 1970; `addresses`: -1 = not
    // known.
    {"opsOf", Of::view, "device: Device, times: Real[], addresses: Real[]", "AllocationOps", ops_of},
    // Such nodes: their parents (-1 = none), names, whether they are ops or Python functions.
    {"opPaths", Of::view, "nodes: Count[]", "OpPaths", op_paths},
    // To a snapshot: more nodes, behind those it was told, and those of allocations. Filters of all views of the device that this client
    // has mean them from then on, as the one thing that a question changes. `anew`: what was told before is forgotten. How many allocations
    // have an op now; the device forgets them when its last view is released.
    {"tellMadeIn", Of::view, "anew: Flag, parents: NodeOrNone[], names: Text[], ops: Count[], events: Event[], nodes: NodeOrNone[]", "Count", tell_made_in},
};
// clang-format on

}  // namespace

std::span<const Question> of_made_in() { return kOfMadeIn; }

}  // namespace gpustrata::session::reply
