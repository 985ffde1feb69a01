#include "engine/simulate/rerun.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/model/recorded_snapshot.h"

namespace gpustrata::simulate {

std::string Outcome::place_of(uint64_t address_in) const {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address_in);
  if (after == ranges.begin()) return fmt::format("{:#x}", address_in);
  return fmt::format("S{}+{}", after - ranges.begin() - 1, address_in - *(after - 1));
}

const Outcome::Oom* Outcome::oom_of(size_t request) const {
  const auto row = static_cast<int32_t>(request);
  const auto found = std::lower_bound(ooms.begin(), ooms.end(), row,
                                      [](const Oom& oom, int32_t wanted) { return oom.request < wanted; });
  return found == ooms.end() || found->request != row ? nullptr : found;
}

void Rerun::Rows::on_event(const trace::TraceEvent& event) {
  ++count;
  trace::TraceEvent timed = event;
  timed.time_us = time == model::kNoTime ? count : time;
  if (!rows.append_event(timed)) full = true;
}

Rerun::Rerun(const RunInput& input, model::Recording& recording)
    : log_(input.log),
      ordinal_(input.ordinal),
      recording_(recording),
      rows_(recording),
      runner_(input, recording.strings, &rows_, recording.budget),
      first_event_(static_cast<int32_t>(recording.events.size_rows())) {}

Result<std::unique_ptr<Rerun>> Rerun::start(const RunInput& input, model::Recording& recording) {
  auto run = std::unique_ptr<Rerun>(new Rerun(input, recording));
  if (auto status = run->runner_.begin(); !status) return tl::unexpected(status.error());
  if (!run->outcome_.block_bytes.reserve(input.log.size_rows()))
    return tl::unexpected(run->runner_.no_memory().error());
  return run;
}

Status Rerun::step() {
  const size_t row = runner_.at();
  if (runner_.at_inserted()) {
    rows_.time = log_.size_rows() == 0 ? model::kNoTime : log_.time[std::min(row, log_.size_rows() - 1)];
    Status status = runner_.step();
    return rows_.full ? runner_.no_memory() : status;
  }
  rows_.time = log_.time[row];
  Status status = runner_.step();
  if (rows_.full) return runner_.no_memory();
  if (!status) return status;
  const alloc::MemoryState& state = allocator().state();
  const uint64_t address = log_.request[row] == Request::allocate ? runner_.address()[row] : 0;
  if (!outcome_.block_bytes.push_back(address == 0 ? 0 : state.block(state.live_block_at(address)).size))
    return runner_.no_memory();
  if (!runner_.is_out_of_memory()) return {};
  const alloc::OutOfMemory& oom = allocator().last_oom();
  const StringId text = recording_.strings.intern(oom.text);
  if (text.is_none() || !outcome_.ooms.push_back({static_cast<int32_t>(row), text, oom}))
    return runner_.no_memory();
  return {};
}

Status Rerun::run_to_end() {
  while (!at_end()) {
    if (Status status = step(); !status) return status;
  }
  return {};
}

Result<Outcome> Rerun::finish(std::string name) {
  model::Part part;
  part.name = std::move(name);
  part.segments.first = static_cast<int32_t>(recording_.segments.size_rows());
  part.settings_json = recording_.strings.intern(model::settings_json(allocator().config()));
  if (part.settings_json.is_none() || !rows_.rows.append_segments(allocator(), {}) ||
      !outcome_.ranges.append(runner_.device().ranges()))
    return tl::unexpected(runner_.no_memory().error());
  part.segments.count = static_cast<int32_t>(recording_.segments.size_rows()) - part.segments.first;
  part.traces.push_back(
      {ordinal_, {first_event_, static_cast<int32_t>(recording_.events.size_rows()) - first_event_}});
  recording_.parts.push_back(std::move(part));
  outcome_.address = std::move(runner_.address());
  outcome_.stats = allocator().stats();
  return std::move(outcome_);
}

Result<Outcome> rerun(const RunInput& input, model::Recording& recording, std::string name) {
  const auto run = Rerun::start(input, recording);
  if (!run) return tl::unexpected(run.error());
  if (auto status = (*run)->run_to_end(); !status) return tl::unexpected(status.error());
  return (*run)->finish(std::move(name));
}

}  // namespace gpustrata::simulate
