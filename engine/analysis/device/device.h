// One device of a recording with what questions about it have in common, each found when it is first asked for: commands,
// reports, the page and Python ask here, so that nothing is found twice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/analysis/categories/known_categories.h"
#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/device/event_context.h"
#include "engine/analysis/stacks/keys.h"
#include "engine/analysis/steps/steps.h"
#include "engine/base/memo.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/device.h"

namespace gpustrata::analysis {

class Device {
 public:
  // Refers to the recording, and never moves. `rules`: of categories; blank = the engine's own. Error: limit_exceeded.
  [[nodiscard]] static Result<std::unique_ptr<Device>> open(const model::Recording& recording,
                                                            const model::Part& part, int32_t ordinal,
                                                            std::string_view rules = {});
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() = default;

  [[nodiscard]] int32_t ordinal() const { return replayed_->ordinal(); }
  [[nodiscard]] const model::Recording& recording() const { return replayed_->recording; }
  [[nodiscard]] const model::Part& part() const { return replayed_->part; }
  [[nodiscard]] const replay::DeviceRows& rows() const { return replayed_->rows; }
  [[nodiscard]] const replay::BlockLives& lives() const { return replayed_->lives; }
  [[nodiscard]] replay::Device& replayed() const { return *replayed_; }

  // What follows is good until the next question (Memo). Error of all: limit_exceeded; a later call tries again.
  [[nodiscard]] Result<const replay::StateHistory*> history() { return replayed_->history(); }
  [[nodiscard]] Result<const DeviceIndex*> index();
  [[nodiscard]] Result<EventContext> context();
  [[nodiscard]] Result<const BlockAttributes*> attributes();
  [[nodiscard]] Result<const WhoOfStacks*> who();
  // By line, function, file or module.
  [[nodiscard]] Result<const Keys*> keys(By by);
  [[nodiscard]] Result<const Steps*> steps();
  // By other rules than the device's, unless they are blank. Error also: invalid_format for rules that are none.
  [[nodiscard]] Result<const KnownCategories*> categories(std::string_view rules = {});

  // For those who find more of it.
  [[nodiscard]] Memo& memo() { return memo_; }

 protected:
  explicit Device(std::unique_ptr<replay::Device> replayed, std::string_view rules = {})
      : replayed_(std::move(replayed)), rules_(rules) {}

  template <typename T, typename Make>
  [[nodiscard]] Result<const T*> kept(const Make& make, std::string_view key = {}) {
    auto found = memo_.get<T>(this, key, make);
    if (!found) return tl::unexpected(found.error());
    return *found;
  }

 private:
  std::unique_ptr<replay::Device> replayed_;
  std::string rules_;
  Memo memo_;  // refers to those above
};

}  // namespace gpustrata::analysis
