#include "engine/simulate/simulation.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

namespace memstrata::simulate {

Simulation::Simulation(int64_t device_bytes, const alloc::Config& config, Budget& budget,
                       trace::EventSink* sink)
    : device_(device_bytes, budget) {
  collector_.next = sink;
  allocator_ = std::make_unique<alloc::DeviceAllocator>(device_, 0, config, &collector_, budget);
}

Result<std::unique_ptr<Simulation>> Simulation::make(int64_t device_bytes, std::string_view conf,
                                                     Budget& budget, trace::EventSink* sink) {
  if (device_bytes <= 0 || device_bytes > kLargestDevice)
    return fail(ErrorCode::wrong_usage, -1, "the device must have from 1 to {} bytes, not {}", kLargestDevice,
                device_bytes);
  alloc::Config config;
  if (auto status = alloc::apply_settings(config, conf); !status) return tl::unexpected(status.error());
  return std::unique_ptr<Simulation>(new Simulation(device_bytes, config, budget, sink));
}

std::string Simulation::place_of(uint64_t address) const {
  const std::span<const uint64_t> ranges = device_.ranges();
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address);
  if (after == ranges.begin()) return fmt::format("{:#x}", address);
  return fmt::format("S{}+{}", after - ranges.begin() - 1, address - *(after - 1));
}

Status Simulation::run(std::string_view script) {
  auto steps = parse_script(script);
  if (!steps) return tl::unexpected(std::move(steps.error()));
  steps_ = std::move(*steps);
  results_.reserve(steps_.size());
  for (const Step& step : steps_) {
    StepResult result;
    result.step = &step;
    if (auto status = run_step(step, result); !status) {
      Error error = std::move(status.error());
      error.message = fmt::format("line {}: {}", step.line, error.message);
      error.offset = step.text.data() - script.data();
      return tl::unexpected(std::move(error));
    }
    results_.push_back(std::move(result));
  }
  return {};
}

Result<uint64_t*> Simulation::live(const Step& step) {
  const auto found = live_.find(step.id);
  if (found == live_.end())
    return fail(ErrorCode::wrong_usage, -1, "'{}' is not allocated", step.id.substr(0, 80));
  return &found->second;
}

Status Simulation::allocate(const Step& step, StepResult& result) {
  if (live_.contains(step.id))
    return fail(ErrorCode::wrong_usage, -1, "'{}' is still allocated: free it or take another name",
                step.id.substr(0, 80));
  uint64_t address = 0;
  if (step.size > 0) {  // a request for nothing never reaches the allocator
    const auto allocated = allocator_->malloc(step.size, step.stream, origin_of(step));
    if (allocated) {
      address = *allocated;
      const alloc::MemoryState& state = allocator_->state();
      result.block_bytes = state.block(state.live_block_at(address)).size;
    } else if (allocated.error().code == ErrorCode::out_of_memory) {
      result.oom = allocated.error().message;
      ooms_.push_back(allocator_->last_oom());
    } else {
      return tl::unexpected(allocated.error());
    }
  }
  result.address = address;
  live_.emplace(step.id, address);
  return {};
}

Status Simulation::run_step(const Step& step, StepResult& result) {
  alloc::DeviceAllocator& allocator = *allocator_;
  switch (step.command) {
    case Command::allocate:
      return allocate(step, result);
    case Command::free: {
      const auto address = live(step);
      if (!address) return tl::unexpected(address.error());
      const uint64_t freed = **address;
      live_.erase(step.id);
      result.ignored = freed == 0;
      return freed == 0 ? Status() : allocator.free(freed, origin_of(step));
    }
    case Command::record_stream: {
      const auto address = live(step);
      if (!address) return tl::unexpected(address.error());
      result.ignored = **address == 0;
      return **address == 0 ? Status() : allocator.record_stream(**address, step.stream);
    }
    case Command::done:
      device_.finish(step.stream);
      return {};
    case Command::empty:
      allocator.empty_cache(step.pool, origin_of(step));
      return {};
    case Command::conf:
      return allocator.set_config(step.id);
    case Command::fraction:
      return allocator.set_memory_fraction(step.fraction);
    case Command::snapshot:
      (void)allocator.note_snapshot();
      return {};
    case Command::begin:
      return allocator.begin_allocate_to_pool(step.pool);
    case Command::begin_stream:
      return allocator.begin_allocate_to_pool(
          step.pool, [only = step.stream](int64_t stream) { return stream == only; });
    case Command::end:
      return allocator.end_allocate_to_pool(step.pool);
    case Command::release:
      return allocator.release_pool(step.pool);
    case Command::no_split:
      return allocator.set_no_split(step.pool);
    case Command::use_on_oom:
      return allocator.set_use_on_oom(step.pool);
    case Command::reset_peak:
      allocator.reset_peak_stats();
      return {};
    case Command::reset_accumulated:
      allocator.reset_accumulated_stats();
      return {};
  }
  return {};
}

}  // namespace memstrata::simulate
