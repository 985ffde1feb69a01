#include "engine/analysis/device/device.h"

#include <utility>

namespace gpustrata::analysis {

Result<std::unique_ptr<Device>> Device::open(const model::Recording& recording, const model::Part& part,
                                             int32_t ordinal, std::string_view rules) {
  auto replayed = replay::Device::open(recording, part, ordinal);
  if (!replayed) return tl::unexpected(replayed.error());
  return std::unique_ptr<Device>(new Device(std::move(*replayed), rules));
}

Result<const DeviceIndex*> Device::index() {
  return kept<DeviceIndex>([&] { return index_device(recording(), part(), lives()); });
}

Result<EventContext> Device::context() {
  const auto states = history();
  if (!states) return tl::unexpected(states.error());
  const auto indexed = index();
  if (!indexed) return tl::unexpected(indexed.error());
  return EventContext{recording(), part(), **states, lives(), **indexed};
}

Result<const BlockAttributes*> Device::attributes() {
  return kept<BlockAttributes>([&] { return block_attributes(recording(), part(), lives()); });
}

Result<const WhoOfStacks*> Device::who() {
  return kept<WhoOfStacks>([&]() -> Result<WhoOfStacks> {
    WhoOfStacks who(recording());
    if (who.prepare()) return who;
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to tell who asked for every block.");
  });
}

Result<const Keys*> Device::keys(By by) {
  return kept<Keys>(
      [&]() -> Result<Keys> {
        const auto asked = who();
        if (!asked) return tl::unexpected(asked.error());
        return find_keys(recording(), **asked, by);
      },
      memo_key(by));
}

Result<const Steps*> Device::steps() {
  return kept<Steps>([&] { return find_steps(recording(), part(), rows()); });
}

Result<const KnownCategories*> Device::categories(std::string_view rules) {
  if (rules.find_first_not_of(" \t\r\n") == std::string_view::npos) rules = rules_;
  return kept<KnownCategories>(
      [&]() -> Result<KnownCategories> {
        const auto blocks = attributes();
        if (!blocks) return tl::unexpected(blocks.error());
        const auto found = steps();
        if (!found) return tl::unexpected(found.error());
        return find_known_categories(recording(), part(), lives(), (*blocks)->stack, **found, rules);
      },
      rules);
}

}  // namespace gpustrata::analysis
