#include "engine/session/device.h"

#include <algorithm>
#include <utility>

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

Result<const analysis::DeviceIndex*> Device::index() {
  if (!index_) {
    auto found = analysis::index_device(recording(), part(), lives());
    if (!found) return tl::unexpected(found.error());
    index_.emplace(std::move(*found));
  }
  return &*index_;
}

Result<analysis::EventContext> Device::context() {
  const auto found = history();
  if (!found) return tl::unexpected(found.error());
  const auto indexed = index();
  if (!indexed) return tl::unexpected(indexed.error());
  return analysis::EventContext{recording(), part(), **found, lives(), **indexed};
}

Result<const analysis::ReportFinder*> Device::report(int32_t part) {
  if (!report_) {
    const auto about = context();
    if (!about) return tl::unexpected(about.error());
    report_.emplace(*about, known_);
  }
  if (const Status done = report_->find(part); !done) {
    Error error = done.error();
    report_.reset();
    return tl::unexpected(std::move(error));
  }
  return &*report_;
}

Result<analysis::OpList*> Device::ops(analysis::OpBy by, analysis::OpScope scope) {
  if (!ops_ || ops_->by != by || ops_->scope != scope) {
    ops_.reset();
    auto made = analysis::OpList::make(recording(), part(), replayed_->ordinal(), by, scope);
    if (!made) return tl::unexpected(made.error());
    ops_.emplace(Ops{by, scope, std::move(*made)});
  }
  return ops_->list.get();
}

Result<const analysis::ProfilerTable*> Device::profiler_table(bool by_shapes) {
  if (!profiled_ || profiled_->by_shapes != by_shapes) {
    profiled_.reset();
    auto found = analysis::find_profiler_table(recording(), by_shapes);
    if (!found) return tl::unexpected(found.error());
    profiled_.emplace(Profiled{by_shapes, std::move(*found)});
  }
  return &profiled_->table;
}

const model::DeviceTrace* Device::trace() const {
  if (part().kind != model::PartKind::trace) return nullptr;
  for (const model::DeviceTrace& trace : part().traces) {
    if (trace.device == replayed_->ordinal()) return &trace;
  }
  return nullptr;
}

Result<const replay::SpanLanes*> Device::lanes() {
  if (!lanes_) {
    auto made = replay::SpanLanes::make(recording(), part(), trace());
    if (!made) return tl::unexpected(made.error());
    lanes_.emplace(std::move(*made));
  }
  return &*lanes_;
}

Result<const replay::OpFinder*> Device::op_finder() {
  if (!op_finder_) {
    auto made = replay::OpFinder::make(recording());
    if (!made) return tl::unexpected(made.error());
    op_finder_.emplace(std::move(*made));
  }
  return &*op_finder_;
}

Result<const analysis::OpPaths*> Device::op_paths() {
  if (!op_paths_) {
    auto made = analysis::OpPaths::make(recording());
    if (!made) return tl::unexpected(made.error());
    op_paths_.emplace(std::move(*made));
  }
  return &*op_paths_;
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
    made.node[static_cast<size_t>(event)] = part.nodes[i];
  }
  return {};
}

Result<StateView*> Device::states() {
  if (!states_) {
    const auto found = history();
    if (!found) return tl::unexpected(found.error());
    const auto indexed = index();
    if (!indexed) return tl::unexpected(indexed.error());
    states_ = StateView::open(*replayed_, **found, **indexed);
  }
  return states_.get();
}

Result<const analysis::Rehearsal*> Device::rehearsal(const analysis::GoesOn& goes_on) {
  if (!rehearsal_) {
    auto found = analysis::rehearse(*replayed_, recording().budget, goes_on);
    if (!found) return tl::unexpected(found.error());
    rehearsal_.emplace(std::move(*found));
  }
  return &*rehearsal_;
}

Status Device::prepare_states(int32_t part) {
  const int32_t parts = state_parts();
  if (part < parts) {
    const auto built = replayed_->build_history(static_cast<double>(part) / parts);
    return built ? Status() : Status(tl::unexpected(built.error()));
  }
  const auto ready = states();
  return ready ? Status() : Status(tl::unexpected(ready.error()));
}

}  // namespace gpustrata::session
