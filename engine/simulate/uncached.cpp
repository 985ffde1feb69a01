#include "engine/simulate/uncached.h"

#include <algorithm>

#include "engine/base/memory_refused.h"

namespace gpustrata::simulate {

namespace {

class Uncached {
 public:
  Uncached(const TrialInput& input, std::vector<uint8_t>& refused, Budget& budget)
      : input_(input), log_(input.requests.log), refused_(refused), is_held_(budget) {
    refused_.assign(input.inserted.size(), 0);
  }

  [[nodiscard]] Result<UncachedRun> run(Budget& budget) {
    constexpr size_t kBetweenQuestions = 4096;
    if (!is_held_.resize(log_.size_rows(), 0)) return memory_refused(budget, "for the run");
    for (size_t row = 0; row < log_.size_rows(); ++row) {
      if (row % kBetweenQuestions == 0 && input_.goes_on && !input_.goes_on(static_cast<int64_t>(row)))
        return fail(ErrorCode::limit_exceeded, -1, "the run was stopped after {} of {} requests", row,
                    log_.size_rows());
      run_inserted(row);
      run_row(row);
      note(input_.requests.event[row]);
    }
    run_inserted(log_.size_rows());
    if (input_.levels != nullptr) input_.levels->finish();
    run_.end = level_;
    return run_;
  }

 private:
  [[nodiscard]] int64_t size_of(size_t row) const {
    return input_.sizes.empty() ? log_.size[row] : input_.sizes[row];
  }
  [[nodiscard]] static int64_t rounded(int64_t size) {
    constexpr int64_t kUnit = alloc::kMinBlockSize;
    return (std::min(size, alloc::kLargestRequest) + kUnit - 1) / kUnit * kUnit;
  }

  [[nodiscard]] bool take(int64_t size, size_t row) {
    const int64_t bytes = rounded(size);
    if (bytes > input_.capacity - level_) {
      if (++run_.ooms == 1) {
        run_.first_oom = static_cast<int32_t>(row);
        run_.first_oom_bytes = size;
      }
      return false;
    }
    ++run_.device_allocs;
    level_ += bytes;
    run_.peak = std::max(run_.peak, level_);
    return true;
  }
  void give_back(int64_t size) {
    ++run_.device_frees;
    level_ -= rounded(size);
  }

  void run_row(size_t row) {
    const int64_t size = size_of(row);
    switch (log_.request[row]) {
      case Request::present:  // it was taken before the run: no request of it
        if (size == 0) return;
        is_held_[row] = 1;
        level_ = std::min(level_ + rounded(size), alloc::kUnlimited / 2);
        run_.peak = std::max(run_.peak, level_);
        return;
      case Request::allocate:
        is_held_[row] = size > 0 && take(size, row) ? 1 : 0;
        return;
      case Request::free: {
        const auto subject = static_cast<size_t>(log_.subject[row]);
        if (is_held_[subject] == 0) return;
        is_held_[subject] = 0;
        give_back(size_of(subject));
        return;
      }
      default:
        return;
    }
  }

  void run_inserted(size_t row) {
    const auto inserted = input_.inserted;
    for (; next_ < inserted.size() && static_cast<size_t>(inserted[next_].before) <= row; ++next_) {
      const Inserted& one = inserted[next_];
      if (one.request == Request::allocate)
        refused_[next_] = take(one.size, row == 0 ? 0 : row - 1) ? 0 : 1;
      else if (one.request == Request::free && refused_[static_cast<size_t>(one.subject)] == 0)
        give_back(inserted[static_cast<size_t>(one.subject)].size);
      note(row == 0 ? -1 : input_.requests.event[row - 1]);
    }
  }

  void note(int32_t event) {
    if (input_.levels != nullptr) input_.levels->at(std::max(event - input_.events.first, 0), level_, level_);
  }

  const TrialInput& input_;
  const RequestLog& log_;
  std::vector<uint8_t>& refused_;
  Column<uint8_t> is_held_;  // by request
  size_t next_ = 0;          // inserted request
  int64_t level_ = 0;
  UncachedRun run_;
};

}  // namespace

Result<UncachedRun> try_uncached(const TrialInput& input, std::vector<uint8_t>& refused, Budget& budget) {
  if (auto status = check_capacity(input.capacity); !status) return tl::unexpected(status.error());
  return Uncached(input, refused, budget).run(budget);
}

}  // namespace gpustrata::simulate
