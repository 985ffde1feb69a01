#include "engine/simulate/rerun.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/model/recorded_snapshot.h"

namespace memstrata::simulate {

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

Status check_capacity(int64_t bytes) {
  if (bytes > 0 && bytes <= kLargestDevice) return {};
  return fail(ErrorCode::wrong_usage, -1, "the device must have from 1 to {} bytes, not {}", kLargestDevice,
              bytes);
}

void Rerun::Rows::on_event(const trace::TraceEvent& event) {
  ++count;
  trace::TraceEvent timed = event;
  timed.time_us = time == model::kNoTime ? count : time;
  if (!rows.append_event(timed)) full = true;
}

Rerun::Rerun(const RequestLog& log, const alloc::Config& config, int64_t capacity,
             model::Recording& recording)
    : log_(log),
      recording_(recording),
      rows_(recording),
      device_(capacity, recording.budget),
      allocator_(device_, 0, config, &rows_, recording.budget),
      outcome_(recording.budget),
      first_event_(static_cast<int32_t>(recording.events.size_rows())) {}

Result<std::unique_ptr<Rerun>> Rerun::start(const RequestLog& log, const alloc::Config& config,
                                            int64_t capacity, model::Recording& recording) {
  if (auto status = check_capacity(capacity); !status) return tl::unexpected(status.error());
  auto run = std::unique_ptr<Rerun>(new Rerun(log, config, capacity, recording));
  if (!run->outcome_.address.reserve(log.size_rows()) || !run->outcome_.block_bytes.reserve(log.size_rows()))
    return tl::unexpected(run->no_memory().error());
  return run;
}

Status Rerun::no_memory() const {
  return fail(ErrorCode::limit_exceeded, -1, "no memory for the simulation: {} bytes are allowed, {} needed",
              recording_.budget.limit(), recording_.budget.needed());
}

alloc::Origin Rerun::origin_of(size_t row) const {
  return {log_.stack[row], log_.request[row] == Request::allocate ? log_.text[row] : StringId()};
}

Status Rerun::step() {
  rows_.time = log_.time[at_];
  if (outcome_.address.size() == at_ &&
      (!outcome_.address.push_back(0) || !outcome_.block_bytes.push_back(0)))
    return no_memory();
  Status status = apply(at_);
  // A simulated device has no other errors of its own, and a free waits at once only if its mark found no room.
  const bool is_full = rows_.full || allocator_.forced_waits() > 0 ||
                       (!status && status.error().code == ErrorCode::device_error);
  if (is_full) return no_memory();
  if (status) ++at_;
  return status;
}

Status Rerun::run_to_end() {
  while (!at_end()) {
    if (Status status = step(); !status) return status;
  }
  return {};
}

Status Rerun::allocate(size_t row) {
  if (log_.size[row] == 0) return {};
  const auto allocated = allocator_.malloc(log_.size[row], log_.stream[row], origin_of(row));
  if (allocated) {
    const alloc::MemoryState& state = allocator_.state();
    outcome_.address[row] = *allocated;
    outcome_.block_bytes[row] = state.block(state.live_block_at(*allocated)).size;
    return {};
  }
  if (allocated.error().code != ErrorCode::out_of_memory) return tl::unexpected(allocated.error());
  const alloc::OutOfMemory& oom = allocator_.last_oom();
  const StringId text = recording_.strings.intern(oom.text);
  if (text.is_none() || !outcome_.ooms.push_back({static_cast<int32_t>(row), text, oom})) return no_memory();
  return {};
}

Status Rerun::apply(size_t row) {
  const auto pool = [&] { return log_.pools[static_cast<size_t>(log_.subject[row])]; };
  const auto block = [&] { return outcome_.address[static_cast<size_t>(log_.subject[row])]; };
  const int64_t stream = log_.stream[row];
  switch (log_.request[row]) {
    case Request::allocate:
      return allocate(row);
    case Request::free:
      return block() == 0 ? Status() : allocator_.free(block(), origin_of(row));
    case Request::record_stream:
      return block() == 0 ? Status() : allocator_.record_stream(block(), stream);
    case Request::finish_stream:
      device_.finish(stream);
      return {};
    case Request::empty_cache:
      allocator_.empty_cache(log_.subject[row] < 0 ? trace::PoolKey() : pool(), origin_of(row));
      return {};
    case Request::settings:
      return allocator_.set_config(recording_.strings.view(log_.text[row]));
    case Request::memory_fraction:
      return allocator_.set_memory_fraction(log_.fractions[static_cast<size_t>(log_.subject[row])]);
    case Request::snapshot:
      (void)allocator_.note_snapshot();
      return {};
    case Request::begin_pool:
      return allocator_.begin_allocate_to_pool(pool());
    case Request::begin_pool_of_stream:
      return allocator_.begin_allocate_to_pool(pool(), [stream](int64_t asking) { return asking == stream; });
    case Request::end_pool:
      return allocator_.end_allocate_to_pool(pool());
    case Request::release_pool:
      return allocator_.release_pool(pool());
    case Request::no_split:
      return allocator_.set_no_split(pool());
    case Request::use_on_oom:
      return allocator_.set_use_on_oom(pool());
    case Request::reset_peak:
      allocator_.reset_peak_stats();
      return {};
    case Request::reset_accumulated:
      allocator_.reset_accumulated_stats();
      return {};
  }
  return {};
}

Result<Outcome> Rerun::finish(std::string name) {
  model::Part part;
  part.name = std::move(name);
  part.segments.first = static_cast<int32_t>(recording_.segments.size_rows());
  part.settings_json = recording_.strings.intern(model::settings_json(allocator_.config()));
  if (part.settings_json.is_none() || !rows_.rows.append_segments(allocator_, {}) ||
      !outcome_.ranges.append(device_.ranges()))
    return tl::unexpected(no_memory().error());
  part.segments.count = static_cast<int32_t>(recording_.segments.size_rows()) - part.segments.first;
  part.traces.push_back(
      {0, {first_event_, static_cast<int32_t>(recording_.events.size_rows()) - first_event_}});
  recording_.parts.push_back(std::move(part));
  outcome_.stats = allocator_.stats();
  return std::move(outcome_);
}

Result<Outcome> rerun(const RequestLog& log, const alloc::Config& config, int64_t capacity,
                      model::Recording& recording, std::string name) {
  const auto run = Rerun::start(log, config, capacity, recording);
  if (!run) return tl::unexpected(run.error());
  if (auto status = (*run)->run_to_end(); !status) return tl::unexpected(status.error());
  return (*run)->finish(std::move(name));
}

}  // namespace memstrata::simulate
