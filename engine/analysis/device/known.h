// What questions about the blocks of one device have in common, each found when it is first asked for and kept: commands,
// reports and views ask here, so that nothing is found twice.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "engine/analysis/categories/known_categories.h"
#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/stacks/keys.h"
#include "engine/analysis/steps/steps.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

class Known {
 public:
  // Refers to all but the rules (of categories; blank = the engine's own), and never moves.
  Known(const model::Recording& recording, const model::Part& part, const replay::DeviceRows& rows,
        const replay::BlockLives& lives, std::string_view rules = {})
      : recording_(recording), part_(part), rows_(rows), lives_(lives), rules_(rules) {}
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;
  ~Known() = default;

  // Error of all: limit_exceeded; a later call tries again.
  [[nodiscard]] Result<const BlockAttributes*> attributes();
  [[nodiscard]] Result<const WhoOfStacks*> who();
  // By line, function, file or module.
  [[nodiscard]] Result<const Keys*> keys(By by);
  [[nodiscard]] Result<const Steps*> steps();
  // Error also: invalid_format for rules that are none.
  [[nodiscard]] Result<const KnownCategories*> categories();

 private:
  const model::Recording& recording_;
  const model::Part& part_;
  const replay::DeviceRows& rows_;
  const replay::BlockLives& lives_;
  std::string rules_;
  std::optional<BlockAttributes> attributes_;
  std::optional<WhoOfStacks> who_;
  std::array<std::optional<Keys>, 4> keys_;  // by By
  std::optional<Steps> steps_;
  std::optional<KnownCategories> categories_;
};

}  // namespace gpustrata::analysis
