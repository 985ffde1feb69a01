#include "engine/analysis/device/known.h"

#include <utility>

namespace gpustrata::analysis {

namespace {

// What is kept, or else what `find` finds.
template <typename T, typename Find>
[[nodiscard]] Result<const T*> kept(std::optional<T>& known, const Find& find) {
  if (!known) {
    auto found = find();
    if (!found) return tl::unexpected(found.error());
    known.emplace(std::move(*found));
  }
  return &*known;
}

}  // namespace

Result<const BlockAttributes*> Known::attributes() {
  return kept(attributes_, [&] { return block_attributes(recording_, part_, lives_); });
}

Result<const WhoOfStacks*> Known::who() {
  if (who_) return &*who_;
  if (who_.emplace(recording_).prepare()) return &*who_;
  who_.reset();
  return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to tell who asked for every block.");
}

Result<const Keys*> Known::keys(By by) {
  return kept(keys_[static_cast<size_t>(by)], [&]() -> Result<Keys> {
    const auto asked = who();
    if (!asked) return tl::unexpected(asked.error());
    return find_keys(recording_, **asked, by);
  });
}

Result<const Steps*> Known::steps() {
  return kept(steps_, [&] { return find_steps(recording_, part_, rows_); });
}

Result<const KnownCategories*> Known::categories() {
  return kept(categories_, [&]() -> Result<KnownCategories> {
    const auto blocks = attributes();
    if (!blocks) return tl::unexpected(blocks.error());
    const auto found = steps();
    if (!found) return tl::unexpected(found.error());
    return find_known_categories(recording_, part_, lives_, (*blocks)->stack, **found, rules_);
  });
}

}  // namespace gpustrata::analysis
