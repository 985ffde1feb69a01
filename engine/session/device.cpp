#include "engine/session/device.h"

#include <algorithm>

#include "engine/analysis/filters/event_filter.h"

namespace gpustrata::session {

namespace {

[[nodiscard]] bool has_device(const model::Recording& recording, const model::Part& snapshot,
                              int32_t device) {
  if (device == replay::kHostDevice)
    return snapshot.host_segments.count > 0 || snapshot.host_events.count > 0;
  const auto devices = snapshot.devices(recording.segments);
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

}  // namespace

Result<std::shared_ptr<Device>> Device::open(const model::Recording& recording, int32_t snapshot,
                                             int32_t device) {
  if (snapshot < 0 || static_cast<size_t>(snapshot) >= recording.parts.size())
    return fail(ErrorCode::wrong_usage, -1, "there is no snapshot {}", snapshot);
  const model::Part& in_file = recording.parts[static_cast<size_t>(snapshot)];
  if (!has_device(recording, in_file, device))
    return fail(ErrorCode::wrong_usage, -1, "there is no device {} in snapshot {}", device, snapshot);
  auto replayed = replay::Device::open(recording, in_file, device);
  if (!replayed) return tl::unexpected(replayed.error());
  return std::shared_ptr<Device>(new Device(snapshot, std::move(*replayed)));
}

Result<const analysis::ReportFinder*> Device::report(int32_t part) {
  using Finder = std::unique_ptr<analysis::ReportFinder>;
  const auto finder = memo().get<Finder>(this, {}, [&]() -> Result<Finder> {
    const auto about = context();
    if (!about) return tl::unexpected(about.error());
    return std::make_unique<analysis::ReportFinder>(*about, *this);
  });
  if (!finder) return tl::unexpected(finder.error());
  const Status done = memo().work_on<Finder>(this, {}, [&] { return (**finder)->find(part); });
  if (!done) return tl::unexpected(done.error());
  return (*finder)->get();
}

Result<const analysis::EventList*> Device::events(std::string_view filter) {
  return kept<analysis::EventList>([&] { return analysis::filter_events(*this, filter, made_in()); },
                                   memo_key(made_in_version_, filter));
}

Result<analysis::OpList*> Device::ops(analysis::OpBy by, analysis::OpScope scope) {
  using List = std::unique_ptr<analysis::OpList>;
  const auto list = memo().get<List>(
      this, memo_key(by, scope),
      [&] { return analysis::OpList::make(recording(), part(), ordinal(), by, scope); }, 1);
  if (!list) return tl::unexpected(list.error());
  return (*list)->get();
}

Result<const analysis::ProfilerTable*> Device::profiler_table(bool by_shapes) {
  return kept<analysis::ProfilerTable>([&] { return analysis::find_profiler_table(recording(), by_shapes); },
                                       by_shapes ? "shapes" : "");
}

const model::DeviceTrace* Device::trace() const {
  if (part().kind != model::PartKind::trace) return nullptr;
  for (const model::DeviceTrace& trace : part().traces) {
    if (trace.device == ordinal()) return &trace;
  }
  return nullptr;
}

Result<const replay::SpanLanes*> Device::lanes() {
  return kept<replay::SpanLanes>([&] { return replay::SpanLanes::make(recording(), part(), trace()); });
}

Result<const replay::OpFinder*> Device::op_finder() {
  return kept<replay::OpFinder>([&] { return replay::OpFinder::make(recording()); });
}

Result<const analysis::OpPaths*> Device::op_paths() {
  return kept<analysis::OpPaths>([&] { return analysis::OpPaths::make(recording()); });
}

int64_t Device::made_in_count() const {
  if (!made_in_) return 0;
  const std::span<const int32_t> nodes = made_in_->node.span();
  return std::count_if(nodes.begin(), nodes.end(), [](int32_t node) { return node >= 0; });
}

void Device::forget_made_in() {
  if (made_in_) ++made_in_version_;
  made_in_.reset();
}

Status Device::tell_made_in(const MadeInPart& part) {
  const auto refuse = [this](std::string_view why) -> Status {
    forget_made_in();
    return fail(ErrorCode::wrong_usage, -1, "{}", why);
  };
  if (part.parents.size() != part.names.size() || part.parents.size() != part.ops.size() ||
      part.events.size() != part.nodes.size())
    return refuse("lists that belong together must have the same length");
  if (part.parents.empty() && part.events.empty()) return {};
  Budget& budget = recording().budget;
  if (!made_in_) made_in_ = std::make_unique<analysis::MadeIn>(budget);
  analysis::MadeIn& made = *made_in_;
  ++made_in_version_;
  const auto count = static_cast<size_t>(lives().events.count);
  bool room = made.node.size() == count || made.node.resize(count, -1);
  for (size_t i = 0; room && i < part.parents.size(); ++i) {
    if (part.parents[i] >= static_cast<int32_t>(made.parent.size()))
      return refuse("a node must come behind its parent");
    const StringId name = made.names.intern(part.names[i]);
    room = !name.is_none() && made.parent.push_back(part.parents[i]) && made.name.push_back(name) &&
           made.is_op.push_back(part.ops[i] != 0 ? 1 : 0);
  }
  if (!room) {
    forget_made_in();
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to keep the op of every allocation");
  }
  for (size_t i = 0; i < part.events.size(); ++i) {
    const int32_t event = part.events[i];
    if (event < 0 || static_cast<size_t>(event) >= count)
      return refuse("an allocation must be an event of the device");
    if (part.nodes[i] >= static_cast<int32_t>(made.parent.size())) return refuse("there is no such node");
    made.node[event] = part.nodes[i];
  }
  return {};
}

Result<StateView*> Device::states() {
  using States = std::unique_ptr<StateView>;
  const auto states = memo().get<States>(this, {}, [&]() -> Result<States> {
    const auto found = history();
    if (!found) return tl::unexpected(found.error());
    const auto indexed = index();
    if (!indexed) return tl::unexpected(indexed.error());
    return StateView::open(replayed(), **found, **indexed);
  });
  if (!states) return tl::unexpected(states.error());
  return (*states)->get();
}

Result<const analysis::Rehearsal*> Device::rehearsal(const analysis::GoesOn& goes_on) {
  return kept<analysis::Rehearsal>(
      [&] { return analysis::rehearse(replayed(), recording().budget, goes_on); });
}

Status Device::prepare_states(int32_t part) {
  const int32_t parts = state_parts();
  if (part < parts) {
    const auto built = replayed().build_history(static_cast<double>(part) / parts);
    return built ? Status() : Status(tl::unexpected(built.error()));
  }
  const auto ready = states();
  return ready ? Status() : Status(tl::unexpected(ready.error()));
}

}  // namespace gpustrata::session
